//! Which Features are installed, and in which order: the reference's algorithm of rounds, exactly (spec §6.9).
//!
//! This decides and fetches nothing. It is given what is known of Features and either makes the plan or says what else it
//! has to know; then the caller finds out, all at once, and asks again. So the network stays outside, and what can be
//! fetched in parallel is.

use std::cmp::Ordering;
use std::collections::HashMap;

use indexmap::IndexMap;

use super::compare::Identity;
use super::reference::{ReadReference, Reference};
use super::spec::Spec;
use crate::diagnostic::{Code, Diagnostic};
use crate::json::{Object, Value};

/// The most Features of one plan: more is a mistake or an attack.
const MOST: usize = 500;

/// What is wanted.
#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    /// `features` of the configuration, in its order, with short names written in full.
    pub features: &'a Object,
    /// Features that are wanted besides; those whose keys are in `features` do not count.
    pub additional: Option<&'a Object>,
    /// `overrideFeatureInstallOrder` of the configuration.
    pub override_order: &'a [String],
    /// The folder of the configuration, relative to the top of the repository.
    pub config_folder: &'a str,
}

/// What is known of one Feature.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// What it says of itself.
    pub spec: Spec,
    /// The digest of its manifest, if it is in a registry.
    pub digest: Option<String>,
}

/// What is known of Features by [`Reference::key`]; an `Err` says why nothing can be known.
pub type Knowledge = HashMap<String, Result<Known, String>>;

/// Features in the order of installing.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// One after the other.
    pub steps: Vec<Step>,
    /// What is to be said.
    pub warnings: Vec<Diagnostic>,
}

/// A Feature that is installed.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its reference as written, in the configuration or by the Feature that needs it.
    pub user_id: String,
    /// The same, read.
    pub reference: Reference,
    /// The options that it is given.
    pub options: Value,
    /// What it says of itself.
    pub known: Known,
    /// Whether only [`Wanted::additional`] asked for it.
    pub additional: bool,
    /// The name of its folder in the build: its id and its place.
    pub folder: String,
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MakePlan {
    /// More has to be known first.
    #[error("{} Features have to be looked up first", .0.len())]
    Missing(Vec<Reference>),
    /// A reference to nothing.
    #[error("{}the reference {error}", needed_by(.by.as_deref()))]
    Reference {
        /// What is wrong with it.
        error: ReadReference,
        /// The Feature that needs it, if it is not the configuration.
        by: Option<String>,
    },
    /// A Feature about which nothing can be known.
    #[error("{}the Feature {id} cannot be had: {reason}", needed_by(.by.as_deref()))]
    Unknown {
        /// The Feature.
        id: String,
        /// The Feature that needs it, if it is not the configuration.
        by: Option<String>,
        /// Why.
        reason: String,
    },
    /// Options that are no options.
    #[error("the options of the Feature {id} are {found}; expected an object")]
    Options {
        /// The Feature.
        id: String,
        /// What they are.
        found: &'static str,
    },
    /// Features that wait for each other.
    #[error("these Features wait for each other: {}", .0.join(" → "))]
    Circular(Vec<String>),
    /// More than anybody means.
    #[error("more than {MOST} Features")]
    TooMany,
}

fn needed_by(by: Option<&str>) -> String {
    by.map(|by| format!("needed by the Feature {by}: "))
        .unwrap_or_default()
}

/// A Feature on its way into the plan.
struct Node {
    identity: Identity,
    additional: bool,
    /// Who needs it.
    by: Option<String>,
    /// Nodes that have to be there before.
    hard: Vec<usize>,
    /// What goes before if it is there.
    soft: Vec<Identity>,
    priority: usize,
}

/// Makes the plan, or says what has to be known first.
pub fn plan(wanted: &Wanted<'_>, knowledge: &Knowledge) -> Result<Plan, MakePlan> {
    let mut planner = Planner {
        wanted,
        knowledge,
        nodes: Vec::new(),
        accepted: Vec::new(),
        missing: IndexMap::new(),
        warnings: IndexMap::new(),
    };
    planner.collect()?;
    if planner.missing.is_empty() {
        planner.soften()?;
        planner.prioritise()?;
    }
    if !planner.missing.is_empty() {
        return Err(MakePlan::Missing(planner.missing.into_values().collect()));
    }
    planner.rounds()
}

struct Planner<'a> {
    wanted: &'a Wanted<'a>,
    knowledge: &'a Knowledge,
    /// All nodes that were made; what is equal to an accepted one stays here for those that need it.
    nodes: Vec<Node>,
    accepted: Vec<usize>,
    missing: IndexMap<String, Reference>,
    warnings: IndexMap<String, Diagnostic>,
}

impl Planner<'_> {
    fn read(&self, key: &str, by: Option<&str>) -> Result<Reference, MakePlan> {
        Reference::read(key, self.wanted.config_folder).map_err(|error| MakePlan::Reference {
            error,
            by: by.map(str::to_owned),
        })
    }

    fn add(&mut self, key: &str, options: &Value, by: Option<&str>) -> Result<usize, MakePlan> {
        if self.nodes.len() == MOST {
            return Err(MakePlan::TooMany);
        }
        if matches!(options, Value::Null | Value::Array(_)) {
            return Err(MakePlan::Options {
                id: key.to_owned(),
                found: options.kind(),
            });
        }
        let reference = self.read(key, by)?;
        self.nodes.push(Node {
            identity: Identity {
                user_id: key.to_owned(),
                reference,
                options: options.clone(),
                digest: None,
                aliases: Vec::new(),
            },
            additional: false,
            by: by.map(str::to_owned),
            hard: Vec::new(),
            soft: Vec::new(),
            priority: 0,
        });
        Ok(self.nodes.len() - 1)
    }

    /// What is known of a Feature that has to be there; notes it as missing if that is nothing.
    fn known(&mut self, index: usize) -> Result<Option<Known>, MakePlan> {
        let node = &self.nodes[index];
        let key = node.identity.reference.key();
        match self.knowledge.get(&key) {
            Some(Ok(known)) => Ok(Some(known.clone())),
            Some(Err(reason)) => Err(MakePlan::Unknown {
                id: node.identity.user_id.clone(),
                by: node.by.clone(),
                reason: reason.clone(),
            }),
            None => {
                let reference = node.identity.reference.clone();
                self.missing.insert(key, reference);
                Ok(None)
            }
        }
    }

    /// Step 1: the Features of the configuration, and all that they need.
    fn collect(&mut self) -> Result<(), MakePlan> {
        let wanted = self.wanted;
        for (key, options) in wanted.features {
            self.add(key, options, None)?;
        }
        for (key, options) in wanted.additional.into_iter().flatten() {
            if !wanted.features.contains_key(key) {
                let index = self.add(key, options, None)?;
                self.nodes[index].additional = true;
            }
        }
        // Nodes are their own queue: what a Feature needs is appended.
        let mut next = 0;
        while next < self.nodes.len() {
            let index = next;
            next += 1;
            let Some(known) = self.known(index)? else {
                continue;
            };
            self.nodes[index].identity.digest.clone_from(&known.digest);
            let identity = &self.nodes[index].identity;
            let mut accepted = self.accepted.iter();
            if let Some(&other) =
                accepted.find(|&&other| self.nodes[other].identity.equals(identity))
            {
                let additional = self.nodes[index].additional;
                self.nodes[other].additional &= additional;
                continue;
            }
            let user_id = identity.user_id.clone();
            let additional = self.nodes[index].additional;
            self.nodes[index].identity.aliases = known.spec.aliases();
            for (key, options) in &known.spec.depends_on {
                let needed = self.add(key, options, Some(&user_id))?;
                self.nodes[needed].additional = additional;
                self.nodes[index].hard.push(needed);
            }
            for key in &known.spec.installs_after {
                match self.read(key, Some(&user_id)) {
                    Ok(reference) => {
                        let soft = self.named(key, reference);
                        self.nodes[index].soft.push(soft);
                    }
                    Err(error) => {
                        self.warn(format!("{error}; it is ignored as a wish for the order"))
                    }
                }
            }
            self.accepted.push(index);
        }
        Ok(())
    }

    /// A Feature that is only named.
    fn named(&self, key: &str, reference: Reference) -> Identity {
        Identity {
            user_id: key.to_owned(),
            reference,
            options: Object::new().into(),
            digest: None,
            aliases: Vec::new(),
        }
    }

    fn warn(&mut self, text: String) {
        let diagnostic = Diagnostic::warning(Code::FeatureOrder, text.clone());
        self.warnings.insert(text, diagnostic);
    }

    /// Finds out the other names of a Feature that is only named, if one of them could matter.
    fn complete(&mut self, identity: &mut Identity) {
        let nodes = self
            .accepted
            .iter()
            .map(|&index| &self.nodes[index].identity);
        let mut others = nodes.filter(|node| !node.is_what(identity) && node.could_be(identity));
        if others.next().is_none() {
            return;
        }
        let key = identity.reference.key();
        match self.knowledge.get(&key) {
            Some(Ok(known)) => identity.aliases = known.spec.aliases(),
            Some(Err(reason)) => {
                let text = format!(
                    "other names of the Feature {} are not known: {reason}",
                    identity.user_id
                );
                self.warn(text);
            }
            None => _ = self.missing.insert(key, identity.reference.clone()),
        }
    }

    /// Step 3: keeps only wishes about Features that are there.
    fn soften(&mut self) -> Result<(), MakePlan> {
        for index in self.accepted.clone() {
            let mut soft = std::mem::take(&mut self.nodes[index].soft);
            for wish in &mut soft {
                self.complete(wish);
            }
            soft.retain(|wish| {
                let mut nodes = self
                    .accepted
                    .iter()
                    .map(|&index| &self.nodes[index].identity);
                nodes.any(|node| node.is_what(wish))
            });
            self.nodes[index].soft = soft;
        }
        Ok(())
    }

    /// Step 2: what the configuration wants first gets a priority.
    fn prioritise(&mut self) -> Result<(), MakePlan> {
        let order = self.wanted.override_order;
        for (index, key) in order.iter().enumerate() {
            let reference = self.read(key, None)?;
            let mut wish = self.named(key, reference);
            self.complete(&mut wish);
            let mut matched = false;
            for &node in &self.accepted {
                let node = &mut self.nodes[node];
                if node.identity.is_what(&wish) {
                    node.priority = node.priority.max(order.len() - index);
                    matched = true;
                }
            }
            if !matched {
                let text = format!(
                    "`{key}` in overrideFeatureInstallOrder is no Feature of this configuration"
                );
                let diagnostic = Diagnostic::warning(Code::FeatureOrder, text.clone());
                let diagnostic = diagnostic.at(format!("/overrideFeatureInstallOrder/{index}"));
                self.warnings.insert(text, diagnostic);
            }
        }
        Ok(())
    }

    /// Step 4: in each round, of all that wait for nothing, those with the highest priority.
    fn rounds(mut self) -> Result<Plan, MakePlan> {
        let mut rest = std::mem::take(&mut self.accepted);
        let mut placed: Vec<usize> = Vec::new();
        while !rest.is_empty() {
            let ready: Vec<usize> = rest
                .iter()
                .copied()
                .filter(|&index| self.waits_for(index, &placed, &rest).is_none())
                .collect();
            let highest = ready.iter().map(|&index| self.nodes[index].priority).max();
            let Some(highest) = highest else {
                return Err(MakePlan::Circular(self.circle(&placed, &rest)));
            };
            let mut round: Vec<usize> = ready
                .into_iter()
                .filter(|&index| self.nodes[index].priority == highest)
                .collect();
            rest.retain(|&index| {
                let identity = &self.nodes[index].identity;
                let mut taken = round.iter().map(|&index| &self.nodes[index].identity);
                !taken.any(|taken| taken.equals(identity))
            });
            round.sort_by(|&a, &b| self.compare(a, b));
            placed.extend(round);
        }
        let mut steps = Vec::with_capacity(placed.len());
        for (place, index) in placed.into_iter().enumerate() {
            let Some(known) = self.known(index)? else {
                continue;
            };
            let node = &self.nodes[index];
            steps.push(Step {
                user_id: node.identity.user_id.clone(),
                reference: node.identity.reference.clone(),
                options: node.identity.options.clone(),
                additional: node.additional,
                folder: format!("{}_{place}", known.spec.id),
                known,
            });
        }
        let warnings = self.warnings.into_values().collect();
        Ok(Plan { steps, warnings })
    }

    fn compare(&self, a: usize, b: usize) -> Ordering {
        self.nodes[a].identity.compare(&self.nodes[b].identity)
    }

    /// The first of `rest` that a node waits for, or itself if that is not among them.
    fn waits_for(&self, index: usize, placed: &[usize], rest: &[usize]) -> Option<usize> {
        let find = |nodes: &[usize], is_it: &dyn Fn(&Identity) -> bool| {
            let found = nodes
                .iter()
                .find(|&&node| is_it(&self.nodes[node].identity));
            found.copied()
        };
        let node = &self.nodes[index];
        for &hard in &node.hard {
            let wanted = &self.nodes[hard].identity;
            let is_it = |other: &Identity| other.equals(wanted);
            if find(placed, &is_it).is_none() {
                return Some(find(rest, &is_it).unwrap_or(index));
            }
        }
        for wish in &node.soft {
            let is_it = |other: &Identity| other.is_what(wish);
            if find(placed, &is_it).is_none() {
                return Some(find(rest, &is_it).unwrap_or(index));
            }
        }
        None
    }

    /// A chain of Features in which each waits for the next, and the last for the first.
    fn circle(&self, placed: &[usize], rest: &[usize]) -> Vec<String> {
        let mut path = vec![rest[0]];
        let circle = loop {
            let last = path[path.len() - 1];
            let next = self.waits_for(last, placed, rest).unwrap_or(last);
            if let Some(start) = path.iter().position(|&index| index == next) {
                path.push(next);
                break &path[start..];
            }
            path.push(next);
        };
        let names = circle
            .iter()
            .map(|&index| self.nodes[index].identity.user_id.clone());
        names.collect()
    }
}

#[cfg(test)]
#[path = "order_tests.rs"]
mod tests;
