//! Properties of old that became others (spec §2.5). They are moved when a configuration is read, so that nothing else
//! knows them.

use crate::diagnostic::{Code, Diagnostic};
use crate::json::{Object, Value};

/// Moves `extensions`, `settings` and `devPort` into `customizations.vscode`, and says so.
pub fn migrate(config: &mut Object) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for key in ["extensions", "settings", "devPort"] {
        let Some(old) = config.get(key).cloned() else {
            continue;
        };
        let text = format!("`{key}` is deprecated");
        let advice = format!("move it to `customizations.vscode.{key}`");
        found.push(
            Diagnostic::warning(Code::Deprecated, text)
                .suggest(advice)
                .at(format!("/{key}")),
        );
        let Some(vscode) = vscode(config) else {
            continue;
        };
        match (key, old) {
            ("extensions", Value::Array(old)) => {
                match vscode.get_mut(key) {
                    Some(Value::Array(list)) => list.extend(old),
                    _ => _ = vscode.insert(key.into(), old.into()),
                }
                config.shift_remove(key);
            }
            ("settings", Value::Object(mut old)) => {
                if let Some(Value::Object(settings)) = vscode.get(key) {
                    let settings = settings.clone();
                    old.extend(settings);
                }
                vscode.insert(key.into(), old.into());
                config.shift_remove(key);
            }
            ("devPort", old) if !vscode.contains_key(key) => {
                vscode.insert(key.into(), old);
                config.shift_remove(key);
            }
            _ => {}
        }
    }
    found
}

/// `customizations.vscode`, made if it is not there; `None` if something else stands in its place.
fn vscode(config: &mut Object) -> Option<&mut Object> {
    let empty = || Value::Object(Object::new());
    let Value::Object(tools) = config.entry("customizations".into()).or_insert_with(empty) else {
        return None;
    };
    match tools.entry("vscode".into()).or_insert_with(empty) {
        Value::Object(vscode) => Some(vscode),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn migrated(text: &str) -> String {
        let Value::Object(mut object) = Value::parse(text).unwrap() else {
            panic!("not an object");
        };
        migrate(&mut object);
        Value::Object(object).to_string()
    }

    #[test]
    fn check_14_old_extensions_follow_those_of_customizations() {
        let text = r#"{"customizations":{"vscode":{"extensions":["b"]}},"extensions":["a"]}"#;
        let expected = r#"{"customizations":{"vscode":{"extensions":["b","a"]}}}"#;
        assert_eq!(migrated(text), expected);
    }

    #[test]
    fn check_15_old_settings_lose_against_customizations() {
        let text = r#"{"customizations":{"vscode":{"settings":{"k":2}}},"settings":{"k":1,"o":1}}"#;
        let expected = r#"{"customizations":{"vscode":{"settings":{"k":2,"o":1}}}}"#;
        assert_eq!(migrated(text), expected);
    }

    #[test]
    fn check_16_dev_port_moves_only_where_there_is_none() {
        let expected = r#"{"customizations":{"vscode":{"devPort":1}}}"#;
        assert_eq!(migrated(r#"{"devPort":1}"#), expected);
        let both = r#"{"customizations":{"vscode":{"devPort":2}},"devPort":1}"#;
        assert_eq!(migrated(both), both);
    }
}
