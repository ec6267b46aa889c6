//! Merging the entries of image, Features and configuration into one configuration, as the reference does, with the
//! provenance of each value (spec §8.3).
//!
//! Everything here works on JSON as it was written: what the reference passes through untyped has to come out the same.
//! Where it gives nonsense this gives sense, and docs/devcontainer.md says so.

mod typed;

use std::collections::HashSet;

use indexmap::IndexMap;

use crate::config::command::Hook;
use crate::config::host;
use crate::config::mount::Mount;
use crate::diagnostic::pointer;
use crate::json::{Object, Value};
use crate::metadata::{Entry, Origin};

pub use typed::{Typed, Users};

/// A merged configuration.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Merged {
    /// The configuration, in the reference's form.
    pub value: Object,
    /// Who set what: JSON pointers into `value`, and the sources that decided it.
    ///
    /// Lists and maps that are put together have a pointer for each item; all other values have one for themselves.
    pub provenance: IndexMap<String, Vec<Origin>>,
}

/// Properties of the configuration that are not copied, as the merge makes them itself or gives them another name.
const NOT_COPIED: [&str; 8] = [
    "customizations",
    "entrypoint",
    "onCreateCommand",
    "updateContentCommand",
    "postCreateCommand",
    "postStartCommand",
    "postAttachCommand",
    "shutdownAction",
];

/// Merges `entries` over `config`, in both of which variables have been replaced.
pub fn merge(config: &Object, entries: &[Entry]) -> Merged {
    let mut merge = Merge {
        entries,
        merged: Merged::default(),
    };
    for (key, value) in config {
        if !NOT_COPIED.contains(&key.as_str()) {
            merge.merged.value.insert(key.clone(), value.clone());
            let at = pointer("", key);
            merge.merged.provenance.insert(at, vec![Origin::Config]);
        }
    }
    merge.any("init");
    merge.any("privileged");
    merge.union("capAdd");
    merge.union("securityOpt");
    merge.lists("entrypoint", "entrypoints");
    merge.mounts();
    merge.customizations();
    for hook in Hook::IN_CONTAINER {
        merge.lists(hook.property(), hook.merged_property());
    }
    merge.last("waitFor", Value::truthy);
    merge.last("remoteUser", Value::truthy);
    merge.last("containerUser", Value::truthy);
    merge.last("userEnvProbe", Value::truthy);
    let is_bool = |value: &Value| matches!(value, Value::Bool(_));
    merge.last("overrideCommand", is_bool);
    merge.map("remoteEnv");
    merge.map("containerEnv");
    merge.map("portsAttributes");
    merge.last("otherPortsAttributes", Value::truthy);
    merge.forward_ports();
    merge.last("shutdownAction", Value::truthy);
    merge.last("updateRemoteUserUID", is_bool);
    merge.host_requirements();
    merge.merged
}

struct Merge<'a> {
    entries: &'a [Entry],
    merged: Merged,
}

impl<'a> Merge<'a> {
    /// The values of a property with their sources, in the order of the entries.
    fn values(&self, key: &'a str) -> impl Iterator<Item = (&'a Origin, &'a Value)> + 'a {
        let entries = self.entries.iter();
        entries.filter_map(move |entry| Some((&entry.origin, entry.effective.get(key)?)))
    }

    /// Takes away what was copied under this key, with all that is said about where it is from.
    fn clear(&mut self, key: &str) {
        self.merged.value.shift_remove(key);
        let at = pointer("", key);
        self.merged.provenance.shift_remove(&at);
    }

    fn set(&mut self, key: &str, value: Value, origins: Vec<Origin>) {
        self.clear(key);
        self.merged.value.insert(key.to_owned(), value);
        let at = pointer("", key);
        self.merged.provenance.insert(at, origins);
    }

    /// A list, each item with its sources. Left out when empty, unless it is `always` there.
    fn set_list(&mut self, key: &str, items: Vec<(Value, Vec<Origin>)>, always: bool) {
        self.clear(key);
        if items.is_empty() && !always {
            return;
        }
        let mut list = Vec::with_capacity(items.len());
        for (index, (value, origins)) in items.into_iter().enumerate() {
            list.push(value);
            let at = format!("/{key}/{index}");
            self.merged.provenance.insert(at, origins);
        }
        self.merged.value.insert(key.to_owned(), list.into());
    }

    /// True if any value is.
    fn any(&mut self, key: &'a str) {
        let said = self.values(key).filter(|(_, value)| value.truthy());
        let origins: Vec<Origin> = said.map(|(origin, _)| origin.clone()).collect();
        let value = Value::Bool(!origins.is_empty());
        self.set(key, value, origins);
    }

    /// The last value that counts.
    fn last(&mut self, key: &'a str, counts: impl Fn(&Value) -> bool) {
        let last = self.values(key).filter(|(_, value)| counts(value)).last();
        match last {
            Some((origin, value)) => self.set(key, value.clone(), vec![origin.clone()]),
            None => self.clear(key),
        }
    }

    /// Every text once, where it stands first.
    fn union(&mut self, key: &'a str) {
        let mut all: IndexMap<&str, Vec<Origin>> = IndexMap::new();
        for (origin, value) in self.values(key) {
            let items = value.as_array().unwrap_or_default();
            for text in items.iter().filter_map(Value::as_str) {
                all.entry(text).or_default().push(origin.clone());
            }
        }
        let items = all.into_iter();
        let items = items.map(|(text, origins)| (Value::from(text), origins));
        self.set_list(key, items.collect(), false);
    }

    /// All values that are not empty; hooks are there even without any.
    fn lists(&mut self, key: &'a str, merged_key: &str) {
        let said = self.values(key).filter(|(_, value)| value.truthy());
        let items = said.map(|(origin, value)| (value.clone(), vec![origin.clone()]));
        let items = items.collect();
        self.set_list(merged_key, items, merged_key != "entrypoints");
    }

    /// Of several with one target, the last. The form of each stays.
    fn mounts(&mut self) {
        let mut kept: Vec<(Value, Vec<Origin>)> = Vec::new();
        let mut targets: HashSet<Option<String>> = HashSet::new();
        let all: Vec<_> = self.values("mounts").collect();
        for (origin, value) in all.into_iter().rev() {
            let items = value.as_array().unwrap_or_default();
            for mount in items.iter().rev() {
                if !matches!(mount, Value::String(_) | Value::Object(_)) {
                    continue;
                }
                let target = Mount::merge_target(mount);
                if targets.insert(target) {
                    kept.push((mount.clone(), vec![origin.clone()]));
                }
            }
        }
        kept.reverse();
        self.set_list("mounts", kept, false);
    }

    /// For each tool, the list of everything that is said to it.
    fn customizations(&mut self) {
        let mut tools: IndexMap<&str, Vec<(Value, Origin)>> = IndexMap::new();
        for (origin, value) in self.values("customizations") {
            for (tool, said) in value.as_object().into_iter().flatten() {
                let list = tools.entry(tool).or_default();
                list.push((said.clone(), origin.clone()));
            }
        }
        self.clear("customizations");
        if tools.is_empty() {
            return;
        }
        let mut object = Object::new();
        for (tool, said) in tools {
            let at = pointer("/customizations", tool);
            let mut list = Vec::with_capacity(said.len());
            for (index, (value, origin)) in said.into_iter().enumerate() {
                list.push(value);
                let at = format!("{at}/{index}");
                self.merged.provenance.insert(at, vec![origin]);
            }
            object.insert(tool.to_owned(), list.into());
        }
        let object = Value::Object(object);
        self.merged.value.insert("customizations".into(), object);
    }

    /// Key by key, the last value; always there.
    fn map(&mut self, key: &'a str) {
        let mut object = Object::new();
        let mut origins: IndexMap<String, Vec<Origin>> = IndexMap::new();
        for (origin, value) in self.values(key) {
            for (name, value) in value.as_object().into_iter().flatten() {
                object.insert(name.clone(), value.clone());
                let at = pointer(&format!("/{key}"), name);
                origins.insert(at, vec![origin.clone()]);
            }
        }
        self.clear(key);
        self.merged.value.insert(key.to_owned(), object.into());
        self.merged.provenance.extend(origins);
    }

    /// A number and `localhost` with it are one port.
    fn forward_ports(&mut self) {
        let mut all: IndexMap<String, Vec<Origin>> = IndexMap::new();
        for (origin, value) in self.values("forwardPorts") {
            for port in value.as_array().unwrap_or_default() {
                let text = match port {
                    Value::Number(number) => format!("localhost:{number}"),
                    Value::String(text) => text.clone(),
                    _ => continue,
                };
                all.entry(text).or_default().push(origin.clone());
            }
        }
        let items = all.into_iter();
        let items = items.map(|(text, origins)| (shown_port(text), origins));
        self.set_list("forwardPorts", items.collect(), false);
    }

    fn host_requirements(&mut self) {
        let asked: Vec<(&Origin, &Object)> = self
            .values("hostRequirements")
            .filter_map(|(origin, value)| Some((origin, value.as_object()?)))
            .collect();
        let numbers = asked
            .iter()
            .filter_map(|(_, asked)| number(asked.get("cpus")?));
        let cpus = numbers.fold(0.0, f64::max);
        let size = |key: &str| {
            let sizes = asked.iter().filter_map(|(_, asked)| asked.get(key));
            sizes.filter_map(size).max().filter(|bytes| *bytes > 0)
        };
        let (memory, storage) = (size("memory"), size("storage"));
        let gpus = asked.iter().filter_map(|(_, asked)| asked.get("gpu"));
        let gpu = gpus.fold(None, fold_gpu);
        let origins = asked.iter().map(|(origin, _)| (*origin).clone()).collect();
        self.clear("hostRequirements");
        if cpus == 0.0 && memory.is_none() && storage.is_none() && gpu.is_none() {
            return;
        }
        let mut object = Object::from_iter([("cpus".to_owned(), Value::number(cpus))]);
        for (key, bytes) in [("memory", memory), ("storage", storage)] {
            if let Some(bytes) = bytes {
                object.insert(key.to_owned(), bytes.to_string().into());
            }
        }
        if let Some(gpu) = gpu {
            object.insert("gpu".to_owned(), gpu);
        }
        self.set("hostRequirements", object.into(), origins);
    }
}

/// A port of the container itself is a number. What only ends in `localhost` is another host and stays as it is.
fn shown_port(text: String) -> Value {
    let digits = text.strip_prefix("localhost:").map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit());
        &rest[..end.unwrap_or(rest.len())]
    });
    match digits.and_then(|digits| digits.parse::<f64>().ok()) {
        Some(port) => Value::number(port),
        None => Value::String(text),
    }
}

/// A number, or digits in quotes.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text.trim().parse().ok().filter(|n: &f64| n.is_finite()),
        value => value.as_f64(),
    }
}

fn size(value: &Value) -> Option<u64> {
    value.as_str().and_then(host::bytes)
}

/// Two wishes for graphics processors are one. An empty object means that one is required.
fn fold_gpu(gpu: Option<Value>, next: &Value) -> Option<Value> {
    if !next.truthy() {
        return gpu;
    }
    let Some(gpu) = gpu else {
        return Some(next.clone());
    };
    let optional = |value: &Value| value.as_str() == Some("optional");
    if optional(&gpu) && optional(next) {
        return Some(gpu);
    }
    let part = |key: &str| {
        let both = [&gpu, next].into_iter();
        both.filter_map(|value| value.as_object()?.get(key))
            .collect::<Vec<_>>()
    };
    let mut object = Object::new();
    let cores = part("cores")
        .into_iter()
        .filter_map(number)
        .fold(0.0, f64::max);
    if cores > 0.0 {
        object.insert("cores".into(), Value::number(cores));
    }
    let memory = part("memory")
        .into_iter()
        .filter_map(size)
        .max()
        .unwrap_or(0);
    if memory > 0 {
        object.insert("memory".into(), memory.to_string().into());
    }
    Some(object.into())
}

#[cfg(test)]
mod tests;
