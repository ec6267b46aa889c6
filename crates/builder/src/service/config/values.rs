//! The value of each option, from wherever it is given: flag, else environment, else settings file (builder §1.2).

use std::collections::BTreeMap;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value};

use super::ConfigError;
use super::fields::{Id, Kind};

/// A value that was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// For texts and choices.
    Text(String),
    /// For ports and other numbers.
    Number(u64),
    /// For switches.
    Switch(bool),
    /// For lists.
    List(Vec<String>),
}

/// The command line of the service.
pub fn command() -> Command {
    let mut command = Command::new("devcontainer-builder")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Builds the Dev Container images of repositories with BuildKit and pushes them");
    for id in Id::ALL {
        let field = id.field();
        let Some(flag) = field.flag else { continue };
        let arg = Arg::new(flag).long(flag);
        let arg = match field.kind {
            Kind::Switch => arg
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .value_parser(PossibleValuesParser::new(["true", "false"])),
            _ => arg.action(ArgAction::Set),
        };
        let variables = field.env.join(", ");
        let settings = field.settings.map(|path| format!("; settings: {path}"));
        let from = format!("[{variables}{}]", settings.unwrap_or_default());
        command = command.arg(arg.help(format!("{} {from}", field.help)));
    }
    command
}

/// The values of all options that are given anywhere.
#[derive(Debug, Default)]
pub struct Values(BTreeMap<Id, Given>);

impl Values {
    /// Takes the flags, then the variables for what has none.
    pub fn read(
        flags: &ArgMatches,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let mut values = Self::default();
        for id in Id::ALL {
            let field = id.field();
            let flag = field.flag.and_then(|flag| {
                let text = flags.get_one::<String>(flag)?;
                Some((format!("--{flag}"), text.clone()))
            });
            let variable = || {
                let mut set = field.env.iter().filter_map(|name| {
                    let text = env(name).filter(|text| !text.is_empty())?;
                    Some(((*name).to_owned(), text))
                });
                set.next()
            };
            let Some((name, text)) = flag.or_else(variable) else {
                continue;
            };
            if let Some(given) = from_text(field.kind, &name, &text)? {
                values.0.insert(*id, given);
            }
        }
        Ok(values)
    }

    /// Adds what the settings file has for options that are not given yet.
    pub fn add_settings(
        &mut self,
        file: &str,
        settings: &Map<String, Value>,
    ) -> Result<(), ConfigError> {
        for id in Id::ALL {
            let field = id.field();
            let Some(path) = field.settings else { continue };
            let value = lookup(file, settings, path)?;
            let given = match value {
                Some(value) => from_settings(field.kind, file, path, value)?,
                None => None,
            };
            if let Some(given) = given {
                self.0.entry(*id).or_insert(given);
            }
        }
        Ok(())
    }

    /// A text.
    pub fn text(&self, id: Id) -> Option<String> {
        match self.0.get(&id) {
            Some(Given::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }

    /// A number.
    pub fn number(&self, id: Id) -> Option<u64> {
        match self.0.get(&id) {
            Some(Given::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// A switch; off unless it is given.
    pub fn switch(&self, id: Id) -> bool {
        matches!(self.0.get(&id), Some(Given::Switch(true)))
    }

    /// A list; empty unless it is given.
    pub fn list(&self, id: Id) -> Vec<String> {
        match self.0.get(&id) {
            Some(Given::List(items)) => items.clone(),
            _ => Vec::new(),
        }
    }
}

/// What stands at a path of the settings; members on the way have to be objects.
pub fn lookup<'a>(
    file: &str,
    settings: &'a Map<String, Value>,
    path: &str,
) -> Result<Option<&'a Value>, ConfigError> {
    let mut object = settings;
    let mut parts = path.split('.').peekable();
    while let Some(part) = parts.next() {
        match object.get(part) {
            None | Some(Value::Null) => return Ok(None),
            Some(value) if parts.peek().is_none() => return Ok(Some(value)),
            Some(Value::Object(inner)) => object = inner,
            Some(_) => {
                return Err(ConfigError::Setting {
                    file: file.to_owned(),
                    path: path.to_owned(),
                    expected: "an object above it".to_owned(),
                });
            }
        }
    }
    Ok(None)
}

fn from_text(kind: Kind, name: &str, text: &str) -> Result<Option<Given>, ConfigError> {
    let wrong = || ConfigError::Value {
        name: name.to_owned(),
        expected: expected(kind),
    };
    if text.is_empty() {
        return Ok(None);
    }
    Ok(Some(match kind {
        Kind::Text => Given::Text(text.to_owned()),
        Kind::Choice(choices) if choices.contains(&text) => Given::Text(text.to_owned()),
        Kind::Switch if text == "true" || text == "false" => Given::Switch(text == "true"),
        Kind::List => {
            let items = text
                .split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty());
            Given::List(items.map(str::to_owned).collect())
        }
        Kind::Port | Kind::Positive | Kind::Whole => {
            let number = text.parse().ok().filter(|number| in_range(kind, *number));
            Given::Number(number.ok_or_else(wrong)?)
        }
        Kind::Choice(_) | Kind::Switch => return Err(wrong()),
    }))
}

fn from_settings(
    kind: Kind,
    file: &str,
    path: &str,
    value: &Value,
) -> Result<Option<Given>, ConfigError> {
    let wrong = || ConfigError::Setting {
        file: file.to_owned(),
        path: path.to_owned(),
        expected: expected(kind),
    };
    Ok(Some(match (kind, value) {
        (Kind::Text | Kind::Choice(_), Value::String(text)) if text.is_empty() => return Ok(None),
        (Kind::Text, Value::String(text)) => Given::Text(text.clone()),
        (Kind::Choice(choices), Value::String(text)) if choices.contains(&text.as_str()) => {
            Given::Text(text.clone())
        }
        (Kind::Switch, Value::Bool(value)) => Given::Switch(*value),
        (Kind::Port | Kind::Positive | Kind::Whole, Value::Number(number)) => {
            let number = number.as_u64().filter(|number| in_range(kind, *number));
            Given::Number(number.ok_or_else(wrong)?)
        }
        (Kind::List, Value::Array(items)) => {
            let items = items.iter().map(|item| item.as_str().map(str::to_owned));
            Given::List(items.collect::<Option<_>>().ok_or_else(wrong)?)
        }
        _ => return Err(wrong()),
    }))
}

fn in_range(kind: Kind, number: u64) -> bool {
    match kind {
        Kind::Port => (1..=65_535).contains(&number),
        // A century in seconds is more than anybody waits, and fits wherever it is added to a time.
        Kind::Positive => (1..=3_155_760_000).contains(&number),
        _ => number <= 1_000_000,
    }
}

fn expected(kind: Kind) -> String {
    match kind {
        Kind::Text => "text".to_owned(),
        Kind::Choice(choices) => format!("one of {}", choices.join(", ")),
        Kind::Port => "a port from 1 to 65535".to_owned(),
        Kind::Positive => "a whole number from 1".to_owned(),
        Kind::Whole => "a whole number from 0".to_owned(),
        Kind::Switch => "true or false".to_owned(),
        Kind::List => "a list of texts".to_owned(),
    }
}
