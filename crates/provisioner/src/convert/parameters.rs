//! Parameters and presets.

use serde_json::Value;

use super::{ConvertError, repeated};
use crate::resources::{
    Converted, Parameter, ParameterOption, PrebuildSchedule, Prebuilds, Preset,
};
use crate::state::{Instance, blocks, flag, int, text};

/// Adds the parameters and presets in file order; those of child modules come last.
pub(super) fn collect(
    instances: &[Instance],
    order: &[String],
    out: &mut Converted,
) -> Result<(), ConvertError> {
    let mut sorted: Vec<&Instance> = instances
        .iter()
        .filter(|i| i.is_data("coder_parameter") || i.is_data("coder_workspace_preset"))
        .collect();
    let place = |i: &Instance| {
        let at = order.iter().position(|label| *label == i.label);
        at.unwrap_or(order.len())
    };
    // Stable, so instances of one block and those of modules keep the order of their addresses.
    sorted.sort_by_key(|i| place(i));
    for i in sorted {
        match i.kind.as_str() {
            "coder_parameter" => out.parameters.push(parameter(i)),
            _ => out.presets.push(preset(i)),
        }
    }
    let names: Vec<String> = out.parameters.iter().map(|p| p.name.clone()).collect();
    if let Some(names) = repeated(&names) {
        return Err(ConvertError::DuplicateParameter { names });
    }
    let presets: Vec<String> = out.presets.iter().map(|p| p.name.clone()).collect();
    if let Some(names) = repeated(&presets) {
        return Err(ConvertError::DuplicatePreset { names });
    }
    let defaults: Vec<String> = out
        .presets
        .iter()
        .filter(|p| p.default)
        .map(|p| format!("{:?}", p.name))
        .collect();
    if defaults.len() > 1 {
        let names = defaults.join(", ");
        return Err(ConvertError::SeveralDefaultPresets { names });
    }
    for preset in &out.presets {
        for name in preset.parameters.keys().filter(|n| !names.contains(n)) {
            out.warnings.push(format!(
                "preset {:?} sets the parameter {name:?}, which the template does not have",
                preset.name
            ));
        }
    }
    Ok(())
}

fn parameter(i: &Instance) -> Parameter {
    let v = &i.values;
    let kind = match i.text("type") {
        t if t.is_empty() => "string".to_owned(),
        t => t,
    };
    let options: Vec<ParameterOption> = blocks(v, "option")
        .iter()
        .map(|o| ParameterOption {
            name: text(o, "name"),
            description: text(o, "description"),
            value: text(o, "value"),
            icon: text(o, "icon"),
        })
        .collect();
    let none = Value::Null;
    let rule = blocks(v, "validation").first().unwrap_or(&none);
    let bound = |key: &str| {
        let off = flag(rule, &format!("{key}_disabled"));
        (!off && !rule[key].is_null()).then(|| int(rule, key) as i32)
    };
    let form_type = match i.text("form_type") {
        f if f.is_empty() => default_form(&kind, !options.is_empty()).to_owned(),
        f => f,
    };
    let optional = match &v["optional"] {
        Value::Bool(b) => *b,
        _ => !v["default"].is_null(),
    };
    Parameter {
        name: i.text("name"),
        display_name: i.text("display_name"),
        description: i.text("description"),
        form_type,
        styling: i.text("styling"),
        mutable: flag(v, "mutable"),
        default_value: i.text("default"),
        icon: i.text("icon"),
        options,
        validation_regex: text(rule, "regex"),
        validation_error: text(rule, "error"),
        validation_min: bound("min"),
        validation_max: bound("max"),
        validation_monotonic: text(rule, "monotonic"),
        required: !optional,
        ephemeral: flag(v, "ephemeral"),
        order: int(v, "order"),
        value: i.text("value"),
        block_name: i.name.clone(),
        kind,
    }
}

/// The form that providers older than the attribute leave out.
fn default_form(kind: &str, options: bool) -> &'static str {
    match (kind, options) {
        (_, true) => "radio",
        ("bool", false) => "checkbox",
        ("list(string)", false) => "tag-select",
        _ => "input",
    }
}

fn preset(i: &Instance) -> Preset {
    let v = &i.values;
    Preset {
        name: i.text("name"),
        description: i.text("description"),
        icon: i.text("icon"),
        default: flag(v, "default"),
        parameters: v["parameters"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(k, _)| (k.clone(), text(&v["parameters"], k)))
            .collect(),
        prebuilds: blocks(v, "prebuilds").first().map(|p| {
            let scheduling = blocks(p, "scheduling").first();
            Prebuilds {
                instances: int(p, "instances") as i32,
                expiration_ttl_seconds: blocks(p, "expiration_policy")
                    .first()
                    .map_or(0, |e| int(e, "ttl") as i32),
                timezone: scheduling.map(|s| text(s, "timezone")).unwrap_or_default(),
                schedule: scheduling
                    .map(|s| blocks(s, "schedule"))
                    .unwrap_or_default()
                    .iter()
                    .map(|s| PrebuildSchedule {
                        cron: text(s, "cron"),
                        instances: int(s, "instances") as i32,
                    })
                    .collect(),
            }
        }),
    }
}
