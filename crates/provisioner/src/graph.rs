//! The dependency graph that `terraform graph` prints, and walks over it.

use std::collections::{BTreeMap, BTreeSet};

/// Nodes by their full name as printed, each with its label.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// What a node depends on.
    down: BTreeMap<String, BTreeSet<String>>,
    /// What depends on a node.
    up: BTreeMap<String, BTreeSet<String>>,
    /// Nodes of a label.
    by_label: BTreeMap<String, BTreeSet<String>>,
}

/// An address without instance keys: `module.a[0].x.y["k"]` becomes `module.a.x.y`.
pub(crate) fn label_of(address: &str) -> String {
    let mut out = String::with_capacity(address.len());
    let mut depth = 0usize;
    let mut quoted = false;
    let mut escaped = false;
    for c in address.chars() {
        if quoted {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => quoted = false,
                _ => {}
            }
            continue;
        }
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            '"' if depth > 0 => quoted = true,
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}

/// The quoted strings of a line of DOT, up to two, and whether an arrow stands between them.
fn edge(line: &str) -> Option<(String, Option<String>)> {
    let mut rest = line.trim_start();
    let first = quoted(&mut rest)?;
    rest = rest.trim_start();
    match rest.strip_prefix("->") {
        Some(mut to) => {
            to = to.trim_start();
            Some((first, quoted(&mut to)))
        }
        None => Some((first, None)),
    }
}

fn quoted(rest: &mut &str) -> Option<String> {
    let text = rest.strip_prefix('"')?;
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((i, c)) = chars.next() {
        match c {
            '\\' => out.push(chars.next()?.1),
            '"' => {
                *rest = &text[i + 1..];
                return Some(out);
            }
            c => out.push(c),
        }
    }
    None
}

impl Graph {
    /// Reads DOT. Lines that are no node or edge are skipped.
    pub(crate) fn parse(dot: &str) -> Graph {
        let mut graph = Graph::default();
        for line in dot.lines() {
            let Some((from, to)) = edge(line) else {
                continue;
            };
            let from = graph.node(&from);
            if let Some(to) = to {
                let to = graph.node(&to);
                graph
                    .down
                    .entry(from.clone())
                    .or_default()
                    .insert(to.clone());
                graph.up.entry(to).or_default().insert(from);
            }
        }
        graph
    }

    fn node(&mut self, raw: &str) -> String {
        let name = raw.strip_prefix("[root] ").unwrap_or(raw).to_owned();
        // Only where a thing is expanded or stands bare does the node mean the thing itself.
        let label = name.strip_suffix(" (expand)").unwrap_or(&name);
        if !label.ends_with(')') {
            self.by_label
                .entry(label_of(label))
                .or_default()
                .insert(name.clone());
        }
        name
    }

    fn nearest(
        &self,
        edges: &BTreeMap<String, BTreeSet<String>>,
        label: &str,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Option<String> {
        let mut level: BTreeSet<String> = self.by_label.get(label)?.clone();
        let mut seen = level.clone();
        while !level.is_empty() {
            let mut next = BTreeSet::new();
            for node in level.iter().filter_map(|n| edges.get(n)).flatten() {
                if seen.insert(node.clone()) {
                    next.insert(node.clone());
                }
            }
            let found = next
                .iter()
                .map(|n| label_of(n.strip_suffix(" (expand)").unwrap_or(n)))
                .filter(|l| wanted(l))
                .min();
            if found.is_some() {
                return found;
            }
            level = next;
        }
        None
    }

    /// The nearest wanted label that depends on `label`; at equal distance the first by name.
    pub(crate) fn nearest_above(
        &self,
        label: &str,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Option<String> {
        self.nearest(&self.up, label, wanted)
    }

    /// The nearest wanted label that `label` depends on; at equal distance the first by name.
    pub(crate) fn nearest_below(
        &self,
        label: &str,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Option<String> {
        self.nearest(&self.down, label, wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOT: &str = r#"
digraph {
	compound = "true"
	subgraph "root" {
		"[root] coder_agent.main (expand)" [label = "coder_agent.main", shape = "box"]
		"[root] coder_app.web (expand)" -> "[root] coder_agent.main (expand)"
		"[root] local.script (expand)" -> "[root] coder_agent.main (expand)"
		"[root] null_resource.b (expand)" -> "[root] local.script (expand)"
		"[root] null_resource.a (expand)" -> "[root] local.script (expand)"
		"[root] module.m.null_resource.far (expand)" -> "[root] null_resource.a (expand)"
		"[root] provider[\"registry.terraform.io/coder/coder\"] (close)" -> "[root] coder_app.web (expand)"
		"[root] root" -> "[root] provider[\"registry.terraform.io/coder/coder\"] (close)"
	}
}
"#;

    #[test]
    fn labels_lose_their_instance_keys() {
        assert_eq!(label_of("a.b[0]"), "a.b");
        assert_eq!(
            label_of("module.m[\"x]y\"].a.b[\"q\\\"]\"]"),
            "module.m.a.b"
        );
        assert_eq!(label_of("data.a.b"), "data.a.b");
    }

    #[test]
    fn the_nearest_dependant_wins_and_ties_go_by_name() {
        let g = Graph::parse(DOT);
        let resource = |l: &str| l.contains("null_resource");
        let near = g.nearest_above("coder_agent.main", &resource);
        assert_eq!(near.as_deref(), Some("null_resource.a"));
        let far = |l: &str| l == "module.m.null_resource.far";
        let near = g.nearest_above("coder_agent.main", &far);
        assert_eq!(near.as_deref(), Some("module.m.null_resource.far"));
        assert_eq!(g.nearest_above("coder_agent.main", &|_| false), None);
        assert_eq!(g.nearest_above("coder_agent.none", &resource), None);
    }

    #[test]
    fn dependencies_are_found_downwards() {
        let g = Graph::parse(DOT);
        let agent = |l: &str| l.starts_with("coder_agent.");
        let near = g.nearest_below("module.m.null_resource.far", &agent);
        assert_eq!(near.as_deref(), Some("coder_agent.main"));
    }

    #[test]
    fn the_short_form_of_the_graph_is_understood() {
        let g = Graph::parse("digraph G {\n  \"terraform_data.ws\" -> \"coder_agent.main\";\n}\n");
        let any = |l: &str| l.starts_with("terraform_data");
        let near = g.nearest_above("coder_agent.main", &any);
        assert_eq!(near.as_deref(), Some("terraform_data.ws"));
    }
}
