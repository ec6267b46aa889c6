//! The three forms of a lifecycle command (spec §9.2), and the names of the hooks.

use crate::json::Value;

/// A lifecycle command as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// One line for `/bin/sh -c`.
    Shell(String),
    /// A program and its arguments, started without a shell.
    Exec(Vec<String>),
    /// Named commands that start at once; all are awaited.
    Parallel(Vec<(String, Single)>),
}

/// A command that is not several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Single {
    /// One line for `/bin/sh -c`.
    Shell(String),
    /// A program and its arguments.
    Exec(Vec<String>),
}

impl Single {
    /// Whether there is nothing to run: a blank line or no words.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Shell(line) => line.trim().is_empty(),
            Self::Exec(words) => words.is_empty(),
        }
    }

    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(line) => Some(Self::Shell(line.clone())),
            Value::Array(items) => {
                let words = items.iter().map(|item| item.as_str().map(str::to_owned));
                words.collect::<Option<Vec<_>>>().map(Self::Exec)
            }
            _ => None,
        }
    }
}

impl Command {
    /// Reads one of the forms; `None` if it is no command.
    pub fn read(value: &Value) -> Option<Self> {
        if let Value::Object(object) = value {
            let named = object.iter().map(|(name, value)| {
                let single = Single::read(value)?;
                Some((name.clone(), single))
            });
            return named.collect::<Option<Vec<_>>>().map(Self::Parallel);
        }
        Some(match Single::read(value)? {
            Single::Shell(line) => Self::Shell(line),
            Single::Exec(words) => Self::Exec(words),
        })
    }

    /// What is to be started at once, without what is empty. The name is `None` unless several were named.
    pub fn parts(&self) -> Vec<(Option<&str>, Single)> {
        let parts: Vec<(Option<&str>, Single)> = match self {
            Self::Shell(line) => vec![(None, Single::Shell(line.clone()))],
            Self::Exec(words) => vec![(None, Single::Exec(words.clone()))],
            Self::Parallel(named) => named
                .iter()
                .map(|(name, single)| (Some(name.as_str()), single.clone()))
                .collect(),
        };
        parts
            .into_iter()
            .filter(|(_, one)| !one.is_empty())
            .collect()
    }
}

/// When a lifecycle command runs, in the order of running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Hook {
    /// On the host, before the image is built.
    Initialize,
    /// Once per container.
    OnCreate,
    /// Once per container, and again when a prebuild is refreshed.
    UpdateContent,
    /// Once per container, when it belongs to somebody.
    PostCreate,
    /// At each start of the container.
    PostStart,
    /// At each attaching.
    PostAttach,
}

impl Hook {
    /// All of them, in the order of running.
    pub const ALL: [Self; 6] = [
        Self::Initialize,
        Self::OnCreate,
        Self::UpdateContent,
        Self::PostCreate,
        Self::PostStart,
        Self::PostAttach,
    ];

    /// Those that run in the container, which Features and images may have as well.
    pub const IN_CONTAINER: [Self; 5] = [
        Self::OnCreate,
        Self::UpdateContent,
        Self::PostCreate,
        Self::PostStart,
        Self::PostAttach,
    ];

    /// The property that holds its command.
    pub fn property(self) -> &'static str {
        match self {
            Self::Initialize => "initializeCommand",
            Self::OnCreate => "onCreateCommand",
            Self::UpdateContent => "updateContentCommand",
            Self::PostCreate => "postCreateCommand",
            Self::PostStart => "postStartCommand",
            Self::PostAttach => "postAttachCommand",
        }
    }

    /// The property of a merged configuration that holds the list of its commands.
    pub fn merged_property(self) -> &'static str {
        match self {
            Self::Initialize => "initializeCommand",
            Self::OnCreate => "onCreateCommands",
            Self::UpdateContent => "updateContentCommands",
            Self::PostCreate => "postCreateCommands",
            Self::PostStart => "postStartCommands",
            Self::PostAttach => "postAttachCommands",
        }
    }

    /// The hook of this property.
    pub fn of_property(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|hook| hook.property() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Command> {
        Command::read(&Value::parse(text).unwrap())
    }

    #[test]
    fn the_three_forms_are_read_and_nothing_else() {
        assert_eq!(read(r#""a b""#), Some(Command::Shell("a b".into())));
        let exec = Command::Exec(vec!["a".into(), "b c".into()]);
        assert_eq!(read(r#"["a","b c"]"#), Some(exec));
        let parallel = read(r#"{"x":"a","y":["b"]}"#).unwrap();
        assert_eq!(parallel.parts().len(), 2);
        assert_eq!(parallel.parts()[1].0, Some("y"));
        for text in ["1", "true", "[1]", r#"{"x":{"y":"z"}}"#, "null"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn check_145_blank_lines_and_empty_lists_and_objects_run_nothing() {
        for text in [r#""""#, r#"" \n""#, "[]", "{}", r#"{"a":"","b":[]}"#] {
            assert_eq!(read(text).unwrap().parts(), vec![], "{text}");
        }
    }
}
