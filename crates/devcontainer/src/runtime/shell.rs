//! Variables of a configuration as those of a shell, and quoting for it.

use indexmap::IndexMap;

use crate::json::{Object, Value};

/// A variable that is known, as it stands between the braces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference<'a> {
    /// What it is.
    pub kind: Kind,
    /// Its name: that of the environment variable, or the word itself.
    pub name: &'a str,
    /// What counts when it is not set.
    pub default: Option<&'a str>,
}

/// What a variable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A variable of the user's machine, which has to be passed in.
    LocalEnv,
    /// A variable of the container.
    ContainerEnv,
    /// Where the project is, and which container this is.
    Context,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Self::LocalEnv => "localEnv",
            Self::ContainerEnv => "containerEnv",
            Self::Context => "context",
        }
    }
}

impl<'a> Reference<'a> {
    /// Reads what is between the braces. A default ends at the next colon, as in the reference.
    pub fn read(inner: &'a str) -> Option<Self> {
        let mut parts = inner.split(':');
        let word = parts.next()?;
        let kind = match word {
            "localEnv" | "env" => Kind::LocalEnv,
            "containerEnv" => Kind::ContainerEnv,
            _ => {
                context(word)?;
                return Some(Self {
                    kind: Kind::Context,
                    name: word,
                    default: None,
                });
            }
        };
        let name = parts.next().filter(|name| is_identifier(name))?;
        Some(Self {
            kind,
            name,
            default: parts.next(),
        })
    }

    /// The variable of the shell, with its default.
    pub fn to_shell(&self) -> String {
        let name = match self.kind {
            Kind::LocalEnv => format!("DEVCONTAINER_LOCALENV_{}", self.name),
            Kind::ContainerEnv => self.name.to_owned(),
            Kind::Context => context(self.name).unwrap_or_default().to_owned(),
        };
        match self.default {
            Some(default) if !default.is_empty() => format!("${{{name}:-{}}}", escape(default)),
            _ => format!("${{{name}}}"),
        }
    }
}

fn context(word: &str) -> Option<&'static str> {
    match word {
        "containerWorkspaceFolder" | "localWorkspaceFolder" => {
            Some("DEVCONTAINER_WORKSPACE_FOLDER")
        }
        "containerWorkspaceFolderBasename" | "localWorkspaceFolderBasename" => {
            Some("DEVCONTAINER_WORKSPACE_FOLDER_BASENAME")
        }
        "devcontainerId" => Some("DEVCONTAINER_ID"),
        _ => None,
    }
}

/// Whether a shell takes it for the name of a variable.
pub fn is_identifier(name: &str) -> bool {
    let fine = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    !name.is_empty() && !name.as_bytes()[0].is_ascii_digit() && name.bytes().all(fine)
}

/// Text between the variables that are known, and those.
enum Part<'a> {
    Text(&'a str),
    Variable(Reference<'a>),
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let mut all = Vec::new();
    let (mut rest, mut from) = (text, 0);
    while let Some(start) = rest[from..].find("${").map(|at| from + at) {
        let Some(length) = rest[start + 2..].find('}') else {
            break;
        };
        let end = start + 2 + length;
        match Reference::read(&rest[start + 2..end]) {
            Some(variable) => {
                all.push(Part::Text(&rest[..start]));
                all.push(Part::Variable(variable));
                (rest, from) = (&rest[end + 1..], 0);
            }
            // It stays as it is, and what is in it may be a variable yet.
            None => from = start + 2,
        }
    }
    all.push(Part::Text(rest));
    all
}

/// Text in single quotes: nothing in it means anything.
pub fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Text in double quotes, in which only the known variables mean something.
pub fn double_quoted(text: &str) -> String {
    let parts = parts(text).into_iter();
    let parts = parts.map(|part| match part {
        Part::Text(text) => escape(text),
        Part::Variable(variable) => variable.to_shell(),
    });
    format!("\"{}\"", parts.collect::<String>())
}

/// Text that means nothing in double quotes.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '"' | '$' | '`') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// A command line with the known variables as those of a shell. Where the line has them in single quotes, the quotes
/// are interrupted, as it is the reference, and not the shell, that replaces them there.
pub fn rewritten(line: &str) -> String {
    let mut result = String::with_capacity(line.len());
    let mut quotes = Quotes::default();
    for part in parts(line) {
        match part {
            Part::Text(text) => {
                quotes.go_on(text);
                result.push_str(text);
            }
            Part::Variable(variable) if quotes.is_single => {
                result.push_str(&format!("'\"{}\"'", variable.to_shell()));
            }
            Part::Variable(variable) => result.push_str(&variable.to_shell()),
        }
    }
    result
}

/// Which quotes are open in a command line.
#[derive(Default)]
struct Quotes {
    is_single: bool,
    is_double: bool,
    is_escaped: bool,
}

impl Quotes {
    fn go_on(&mut self, text: &str) {
        for c in text.chars() {
            if std::mem::take(&mut self.is_escaped) {
                continue;
            }
            match c {
                '\\' if !self.is_single => self.is_escaped = true,
                '\'' if !self.is_double => self.is_single = !self.is_single,
                '"' if !self.is_single => self.is_double = !self.is_double,
                _ => {}
            }
        }
    }
}

/// The variables that are used: each once, with its first default and all places.
#[derive(Debug, Default)]
pub struct Variables(IndexMap<(Kind, String), Use>);

#[derive(Debug, Default)]
struct Use {
    default: Option<String>,
    places: Vec<String>,
}

impl Variables {
    /// Adds those of an entry; what is said to tools has none.
    pub fn find(&mut self, entry: &Object, source: &str) {
        for (key, value) in entry {
            if key != "customizations" && key != "id" {
                self.find_in(value, key, source);
            }
        }
    }

    fn find_in(&mut self, value: &Value, path: &str, source: &str) {
        match value {
            Value::String(text) => {
                for part in parts(text) {
                    let Part::Variable(variable) = part else {
                        continue;
                    };
                    let key = (variable.kind, variable.name.to_owned());
                    let known = self.0.entry(key).or_default();
                    if known.default.is_none() {
                        known.default = variable.default.map(str::to_owned);
                    }
                    let place = format!("{path} ({source})");
                    if !known.places.contains(&place) {
                        known.places.push(place);
                    }
                }
            }
            Value::Array(items) => items
                .iter()
                .for_each(|item| self.find_in(item, path, source)),
            Value::Object(object) => {
                for (key, value) in object {
                    self.find_in(value, &format!("{path}.{key}"), source);
                }
            }
            _ => {}
        }
    }

    /// That variables of the user's machine have to be passed in.
    pub fn host_warning(&self) -> Option<String> {
        let names = self.0.keys().filter(|(kind, _)| *kind == Kind::LocalEnv);
        let names: Vec<&str> = names.map(|(_, name)| name.as_str()).collect();
        (!names.is_empty()).then(|| {
            format!(
                "variables of the user's machine have to be passed in as DEVCONTAINER_LOCALENV_<name>: {}",
                names.join(", ")
            )
        })
    }

    /// As the API gives them.
    pub fn to_values(&self) -> Vec<Value> {
        let mut values = Vec::with_capacity(self.0.len());
        for ((kind, name), known) in &self.0 {
            let mut object = Object::new();
            object.insert("kind".into(), kind.as_str().into());
            object.insert("name".into(), name.as_str().into());
            if let Some(default) = &known.default {
                object.insert("default".into(), default.as_str().into());
            }
            let places: Vec<Value> = known
                .places
                .iter()
                .map(|place| place.as_str().into())
                .collect();
            object.insert("usedIn".into(), places.into());
            values.push(Value::Object(object));
        }
        values
    }
}
