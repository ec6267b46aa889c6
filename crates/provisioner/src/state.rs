//! Flattens plan JSON and state files (format 4) into one list of resource instances.

use crate::graph::label_of;
use serde_json::Value;

/// One instance of a resource or data source.
#[derive(Debug, Clone)]
pub(crate) struct Instance {
    pub address: String,
    /// The address without instance keys.
    pub label: String,
    pub managed: bool,
    pub kind: String,
    pub name: String,
    /// Address of the module, empty for the root.
    pub module: String,
    /// Index within count or for_each, as JSON.
    pub index: Value,
    pub values: Value,
}

impl Instance {
    /// A text attribute, empty when absent or unknown.
    pub(crate) fn text(&self, key: &str) -> String {
        text(&self.values, key)
    }

    pub(crate) fn is(&self, kind: &str) -> bool {
        self.managed && self.kind == kind
    }

    pub(crate) fn is_data(&self, kind: &str) -> bool {
        !self.managed && self.kind == kind
    }
}

pub(crate) fn text(values: &Value, key: &str) -> String {
    match &values[key] {
        Value::String(s) => s.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

pub(crate) fn int(values: &Value, key: &str) -> i64 {
    let v = &values[key];
    v.as_i64()
        .or_else(|| v.as_f64().map(|f| f as i64))
        .unwrap_or(0)
}

pub(crate) fn flag(values: &Value, key: &str) -> bool {
    values[key].as_bool().unwrap_or(false)
}

/// The blocks of a nested block attribute; sets and lists look alike.
pub(crate) fn blocks<'a>(values: &'a Value, key: &str) -> &'a [Value] {
    values[key]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// Why JSON that Terraform wrote cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// It is not JSON.
    #[error("terraform wrote something that is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A state file of a format that this program does not know.
    #[error("the terraform state has format version {0}; only version 4 is supported")]
    Version(i64),
}

/// Instances of a state file.
pub(crate) fn from_state(bytes: &[u8]) -> Result<Vec<Instance>, StateError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Vec::new());
    }
    let state: Value = serde_json::from_slice(bytes)?;
    let version = state["version"].as_i64().unwrap_or(0);
    if version != 4 {
        return Err(StateError::Version(version));
    }
    let mut out = Vec::new();
    for resource in blocks(&state, "resources") {
        let managed = resource["mode"] != "data";
        let module = text(resource, "module");
        let kind = text(resource, "type");
        let name = text(resource, "name");
        let mut base = String::new();
        if !module.is_empty() {
            base.push_str(&module);
            base.push('.');
        }
        if !managed {
            base.push_str("data.");
        }
        base.push_str(&format!("{kind}.{name}"));
        for instance in blocks(resource, "instances") {
            if !instance["deposed"].is_null() {
                continue;
            }
            let index = instance["index_key"].clone();
            let address = match &index {
                Value::Null => base.clone(),
                key => format!("{base}[{key}]"),
            };
            out.push(Instance {
                label: label_of(&address),
                address,
                managed,
                kind: kind.clone(),
                name: name.clone(),
                module: module.clone(),
                index,
                values: instance["attributes"].clone(),
            });
        }
    }
    out.sort_by(|a, b| a.address.cmp(&b.address));
    Ok(out)
}

/// Instances of the planned end, and the data sources that were read on the way.
pub(crate) fn from_plan(plan: &Value) -> Vec<Instance> {
    let mut out = Vec::new();
    walk(&plan["planned_values"]["root_module"], "", &mut out);
    let mut read = Vec::new();
    walk(&plan["prior_state"]["values"]["root_module"], "", &mut read);
    for instance in read {
        // Data sources that could be read at plan time stand in the prior state alone. Managed
        // resources there may be about to go.
        if !instance.managed && !out.iter().any(|o| o.address == instance.address) {
            out.push(instance);
        }
    }
    out.sort_by(|a, b| a.address.cmp(&b.address));
    out
}

fn walk(module: &Value, address: &str, out: &mut Vec<Instance>) {
    for r in blocks(module, "resources") {
        let at = text(r, "address");
        out.push(Instance {
            label: label_of(&at),
            address: at,
            managed: r["mode"] != "data",
            kind: text(r, "type"),
            name: text(r, "name"),
            module: address.to_owned(),
            index: r["index"].clone(),
            values: r["values"].clone(),
        });
    }
    for child in blocks(module, "child_modules") {
        walk(child, &text(child, "address"), out);
    }
}

/// Whether the plan's configuration has a resource of this type in any module, planned or not.
pub(crate) fn configured(plan: &Value, kind: &str) -> bool {
    fn in_module(module: &Value, kind: &str) -> bool {
        blocks(module, "resources")
            .iter()
            .any(|r| r["mode"] != "data" && r["type"] == kind)
            || module["module_calls"]
                .as_object()
                .into_iter()
                .flatten()
                .any(|(_, call)| in_module(&call["module"], kind))
    }
    in_module(&plan["configuration"]["root_module"], kind)
}

/// Whether a state holds nothing that could be destroyed.
pub(crate) fn is_empty(bytes: &[u8]) -> bool {
    match from_state(bytes) {
        Ok(instances) => !instances.iter().any(|i| i.managed) && !has_deposed(bytes),
        Err(_) => false,
    }
}

fn has_deposed(bytes: &[u8]) -> bool {
    let state: Value = serde_json::from_slice(bytes).unwrap_or_default();
    blocks(&state, "resources")
        .iter()
        .flat_map(|r| blocks(r, "instances"))
        .any(|i| !i["deposed"].is_null())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_gives_addresses_with_modules_and_keys() {
        let state = br#"{"version":4,"resources":[
          {"module":"module.m[\"a\"]","mode":"managed","type":"t","name":"n",
           "instances":[{"index_key":1,"attributes":{"id":"x"}},{"index_key":0,"deposed":"d","attributes":{}}]},
          {"mode":"data","type":"d","name":"n","instances":[{"attributes":{}}]}]}"#;
        let all = from_state(state).unwrap();
        let addresses: Vec<_> = all.iter().map(|i| i.address.as_str()).collect();
        assert_eq!(addresses, ["data.d.n", "module.m[\"a\"].t.n[1]"]);
        assert_eq!(all[1].label, "module.m.t.n");
        assert_eq!(all[1].text("id"), "x");
        assert!(!is_empty(state));
    }

    #[test]
    fn an_empty_state_needs_no_destruction() {
        assert!(is_empty(b""));
        assert!(is_empty(b" \n"));
        assert!(is_empty(br#"{"version":4,"resources":[]}"#));
        assert!(
            !is_empty(b"not json"),
            "what cannot be read is never taken for nothing"
        );
        assert!(matches!(
            from_state(br#"{"version":3}"#),
            Err(StateError::Version(3))
        ));
    }
}
