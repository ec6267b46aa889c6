//! Parameter values for a build: from flags, files, presets, earlier builds and answers. Must not
//! send requests, and never shows a value that was not typed just now.

mod check;
mod read;

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use coder_wire as wire;

pub use self::read::{read_file, split_pairs};

use self::check::validate;
use crate::fail::{Fail, Outcome};
use crate::ui::prompt::Prompt;

/// Flags about parameters.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Parameters")]
pub struct ParameterArgs {
    /// A parameter value as name=value; may be repeated, or hold several separated by commas.
    #[arg(
        long,
        env = "CODER_RICH_PARAMETER",
        hide_env_values = true,
        value_name = "NAME=VALUE"
    )]
    parameter: Vec<String>,

    /// A YAML file of parameter names and values.
    #[arg(long, env = "CODER_RICH_PARAMETER_FILE", value_name = "FILE")]
    rich_parameter_file: Option<PathBuf>,

    /// A default to use instead of the template's, as name=value; may be repeated.
    #[arg(
        long,
        env = "CODER_RICH_PARAMETER_DEFAULT",
        hide_env_values = true,
        value_name = "NAME=VALUE"
    )]
    parameter_default: Vec<String>,

    /// Take the default of every parameter that has one, without asking.
    #[arg(long, env = "CODER_WORKSPACE_USE_PARAMETER_DEFAULTS")]
    use_parameter_defaults: bool,

    /// Ask for every parameter, also for those that keep their value.
    #[arg(long)]
    always_prompt: bool,

    /// A value for this one build as name=value; may be repeated.
    #[arg(
        long,
        env = "CODER_EPHEMERAL_PARAMETER",
        hide_env_values = true,
        value_name = "NAME=VALUE"
    )]
    ephemeral_parameter: Vec<String>,

    /// Ask for the parameters that hold for one build only.
    #[arg(long, env = "CODER_PROMPT_EPHEMERAL_PARAMETERS")]
    prompt_ephemeral_parameters: bool,

    /// The old name of --ephemeral-parameter.
    #[arg(
        long,
        env = "CODER_BUILD_OPTION",
        hide_env_values = true,
        hide = true,
        value_name = "NAME=VALUE"
    )]
    build_option: Vec<String>,

    /// The old name of --prompt-ephemeral-parameters.
    #[arg(long, hide = true)]
    build_options: bool,
}

impl ParameterArgs {
    /// Whether any of the flags is used, so that a build has to look at the parameters.
    pub fn is_used(&self) -> bool {
        !self.parameter.is_empty()
            || self.rich_parameter_file.is_some()
            || self.always_prompt
            || self.asks_ephemeral()
            || !self.ephemeral_parameter.is_empty()
            || !self.build_option.is_empty()
    }

    fn asks_ephemeral(&self) -> bool {
        self.prompt_ephemeral_parameters || self.build_options
    }
}

/// What is known before anybody is asked.
#[derive(Default)]
pub struct Known<'a> {
    /// Values of the chosen preset.
    pub preset: &'a [wire::PresetParameter],
    /// Values of the workspace's last build, which the server keeps by itself.
    pub previous: &'a [wire::WorkspaceBuildParameter],
    /// Values of another workspace, to be copied.
    pub copied: &'a [wire::WorkspaceBuildParameter],
}

/// Finds the values to send with a build: those given, copied or asked for. Values that the
/// server keeps by itself are not sent.
pub fn resolve(
    prompt: &Prompt,
    args: &ParameterArgs,
    declared: &[wire::TemplateVersionParameter],
    known: &Known<'_>,
) -> Outcome<Vec<wire::WorkspaceBuildParameter>> {
    let mut given: BTreeMap<String, String> = known
        .preset
        .iter()
        .map(|value| (value.name.clone(), value.value.clone()))
        .collect();
    if let Some(path) = &args.rich_parameter_file {
        given.extend(read_file(path)?);
    }
    given.extend(split_pairs(&args.parameter, "--parameter")?);
    given.extend(split_pairs(&args.build_option, "--build-option")?);
    given.extend(split_pairs(
        &args.ephemeral_parameter,
        "--ephemeral-parameter",
    )?);
    let defaults = split_pairs(&args.parameter_default, "--parameter-default")?;
    for name in given.keys().chain(defaults.keys()) {
        check_declared(name, declared)?;
    }
    let mut values = Vec::new();
    for parameter in declared {
        let previous = known
            .previous
            .iter()
            .find(|value| value.name == parameter.name)
            .map(|value| value.value.as_str());
        if let Some(value) = choose(prompt, args, parameter, &given, &defaults, previous, known)? {
            values.push(wire::WorkspaceBuildParameter {
                name: parameter.name.clone(),
                value,
            });
        }
    }
    Ok(values)
}

fn choose(
    prompt: &Prompt,
    args: &ParameterArgs,
    parameter: &wire::TemplateVersionParameter,
    given: &BTreeMap<String, String>,
    defaults: &BTreeMap<String, String>,
    previous: Option<&str>,
    known: &Known<'_>,
) -> Outcome<Option<String>> {
    let name = &parameter.name;
    if let Some(value) = given.get(name) {
        if let Some(previous) = previous.filter(|previous| !parameter.mutable && previous != value)
        {
            let _ = previous;
            return Err(Fail::new(format!(
                "parameter {name:?} cannot be changed after the workspace was created"
            ))
            .hint("leave it out, or create a new workspace"));
        }
        validate(parameter, value, previous)
            .map_err(|problem| Fail::new(format!("parameter {name:?}: {problem}")))?;
        return Ok(Some(value.clone()));
    }
    if parameter.ephemeral {
        let asks = args.asks_ephemeral() || args.always_prompt;
        return if asks {
            ask(prompt, parameter, &parameter.default_value, previous).map(Some)
        } else {
            Ok(None)
        };
    }
    if let Some(copied) = known.copied.iter().find(|value| value.name == *name)
        && validate(parameter, &copied.value, None).is_ok()
    {
        return Ok(Some(copied.value.clone()));
    }
    let default = defaults
        .get(name)
        .map_or(parameter.default_value.as_str(), String::as_str);
    if let Some(previous) = previous {
        let still_possible = validate(parameter, previous, None).is_ok();
        return match (args.always_prompt && parameter.mutable, still_possible) {
            (false, true) => Ok(None),
            (_, true) => ask(prompt, parameter, previous, Some(previous)).map(Some),
            (_, false) => ask_or_default(
                prompt,
                args,
                parameter,
                default,
                defaults.contains_key(name),
            )
            .map(Some),
        };
    }
    ask_or_default(
        prompt,
        args,
        parameter,
        default,
        defaults.contains_key(name),
    )
    .map(Some)
}

fn ask_or_default(
    prompt: &Prompt,
    args: &ParameterArgs,
    parameter: &wire::TemplateVersionParameter,
    default: &str,
    default_was_given: bool,
) -> Outcome<String> {
    let has_default = !parameter.required || default_was_given;
    if has_default && (args.use_parameter_defaults || !prompt.can_ask()) {
        validate(parameter, default, None).map_err(|problem| {
            Fail::new(format!(
                "the default of parameter {:?}: {problem}",
                parameter.name
            ))
        })?;
        return Ok(default.to_owned());
    }
    ask(prompt, parameter, default, None)
}

fn ask(
    prompt: &Prompt,
    parameter: &wire::TemplateVersionParameter,
    default: &str,
    previous: Option<&str>,
) -> Outcome<String> {
    let title = if parameter.display_name.is_empty() {
        &parameter.name
    } else {
        &parameter.display_name
    };
    let label = match parameter
        .description_plaintext
        .lines()
        .next()
        .map(str::trim)
        .filter(|text| !text.is_empty())
    {
        Some(description) => format!("{title} ({description})"),
        None => title.clone(),
    };
    let instead = format!("--parameter {}=VALUE", parameter.name);
    if !parameter.options.is_empty() && parameter.kind != "list(string)" {
        let names: Vec<String> = parameter
            .options
            .iter()
            .map(|option| option.name.clone())
            .collect();
        let start = parameter
            .options
            .iter()
            .position(|option| option.value == default)
            .unwrap_or(0);
        let chosen = prompt.select(&label, &names, start, &instead)?;
        return Ok(parameter.options[chosen].value.clone());
    }
    if parameter.kind == "bool" {
        let start = usize::from(default == "false");
        let chosen = prompt.select(
            &label,
            &["true".to_owned(), "false".to_owned()],
            start,
            &instead,
        )?;
        return Ok(if chosen == 0 { "true" } else { "false" }.to_owned());
    }
    let required = parameter.required;
    prompt.text(&label, default, &instead, |answer| {
        if answer.is_empty() && required {
            return Err("a value is needed".to_owned());
        }
        validate(parameter, answer, previous)
    })
}

fn check_declared(name: &str, declared: &[wire::TemplateVersionParameter]) -> Outcome {
    if declared.iter().any(|parameter| parameter.name == name) {
        return Ok(());
    }
    let names: Vec<&str> = declared
        .iter()
        .map(|parameter| parameter.name.as_str())
        .collect();
    let hint = if names.is_empty() {
        "it declares none".to_owned()
    } else {
        format!("its parameters are: {}", names.join(", "))
    };
    Err(Fail::new(format!("the template has no parameter {name:?}")).hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::terminal::Terminal;

    fn parameter(name: &str, kind: &str) -> wire::TemplateVersionParameter {
        wire::TemplateVersionParameter {
            name: name.into(),
            kind: kind.into(),
            mutable: true,
            ..Default::default()
        }
    }

    /// A prompt that nobody can answer: tests have no terminal.
    fn silent() -> Prompt {
        Prompt::new(Terminal {
            input: false,
            ..Terminal::detect(false)
        })
    }

    fn value(name: &str, value: &str) -> wire::WorkspaceBuildParameter {
        wire::WorkspaceBuildParameter {
            name: name.into(),
            value: value.into(),
        }
    }

    #[test]
    fn flags_win_over_presets_and_defaults_fill_the_rest() {
        let declared = [parameter("size", "string"), parameter("cpu", "number")];
        let declared = declared.map(|p| wire::TemplateVersionParameter {
            default_value: if p.name == "cpu" {
                "2".into()
            } else {
                "s".into()
            },
            ..p
        });
        let args = ParameterArgs {
            parameter: vec!["size=l".into()],
            ..Default::default()
        };
        let preset = [wire::PresetParameter {
            name: "size".into(),
            value: "m".into(),
        }];
        let values = resolve(
            &silent(),
            &args,
            &declared,
            &Known {
                preset: &preset,
                ..Default::default()
            },
        )
        .unwrap();
        assert_eq!(values, vec![value("size", "l"), value("cpu", "2")]);
    }

    #[test]
    fn a_required_parameter_without_a_terminal_names_its_flag() {
        let declared = [wire::TemplateVersionParameter {
            required: true,
            ..parameter("region", "string")
        }];
        let error = resolve(
            &silent(),
            &ParameterArgs::default(),
            &declared,
            &Known::default(),
        )
        .unwrap_err();
        assert!(
            error
                .render("coder create", false)
                .unwrap()
                .contains("--parameter region=VALUE")
        );
    }

    #[test]
    fn values_of_the_last_build_are_kept_by_not_sending_them() {
        let declared = [parameter("size", "string")];
        let previous = [value("size", "m")];
        let known = Known {
            previous: &previous,
            ..Default::default()
        };
        assert_eq!(
            resolve(&silent(), &ParameterArgs::default(), &declared, &known).unwrap(),
            vec![]
        );
        let fixed = [wire::TemplateVersionParameter {
            mutable: false,
            ..parameter("size", "string")
        }];
        let args = ParameterArgs {
            parameter: vec!["size=l".into()],
            ..Default::default()
        };
        assert!(
            resolve(&silent(), &args, &fixed, &known)
                .unwrap_err()
                .message()
                .contains("cannot be changed")
        );
    }

    #[test]
    fn an_unknown_parameter_names_the_known_ones() {
        let args = ParameterArgs {
            parameter: vec!["sise=l".into()],
            ..Default::default()
        };
        let error = resolve(
            &silent(),
            &args,
            &[parameter("size", "string")],
            &Known::default(),
        )
        .unwrap_err();
        assert!(
            error
                .render("x", false)
                .unwrap()
                .contains("its parameters are: size")
        );
    }
}
