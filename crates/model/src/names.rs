//! Which names people may give (spec 02 §1.6). Must not know what is already in use.

/// The longest user, workspace, template and organization name.
pub const MAX_NAME: usize = 32;
/// The longest template version name and display name.
pub const MAX_LONG_NAME: usize = 64;
/// The longest full name of a person.
pub const MAX_REAL_NAME: usize = 128;

/// Why a name is refused, said so that the person can mend it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    /// Nothing was given.
    #[error("must not be empty")]
    Empty,
    /// Longer than allowed.
    #[error("must be at most {max} characters long")]
    TooLong {
        /// The limit, in characters.
        max: usize,
    },
    /// A character or its place is not allowed.
    #[error("must be letters and digits, with single {separators} between them")]
    Shape {
        /// Which separators are allowed.
        separators: &'static str,
    },
    /// A word that routes use.
    #[error("must not be \"{word}\", which is reserved")]
    Reserved {
        /// The word.
        word: &'static str,
    },
    /// Starts or ends with white space.
    #[error("must not start or end with a space")]
    Spaces,
}

fn separated(
    name: &str,
    separators: &[char],
    named: &'static str,
    max: usize,
) -> Result<(), BadName> {
    if name.is_empty() {
        return Err(BadName::Empty);
    }
    if name.chars().count() > max {
        return Err(BadName::TooLong { max });
    }
    let parts_are_words = name
        .split(separators)
        .all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric()));
    if parts_are_words {
        Ok(())
    } else {
        Err(BadName::Shape { separators: named })
    }
}

/// Checks a user, workspace, template or organization name.
///
/// # Errors
/// Says what is wrong with it.
pub fn check_name(name: &str) -> Result<(), BadName> {
    separated(name, &['-'], "hyphens", MAX_NAME)?;
    for word in ["new", "create"] {
        if name == word {
            return Err(BadName::Reserved { word });
        }
    }
    Ok(())
}

/// Checks the name of a template version.
///
/// # Errors
/// Says what is wrong with it.
pub fn check_version_name(name: &str) -> Result<(), BadName> {
    separated(
        name,
        &['_', '.', '-'],
        "hyphens, dots or underscores",
        MAX_LONG_NAME,
    )
}

/// Checks a display name; empty means "none".
///
/// # Errors
/// Says what is wrong with it.
pub fn check_display_name(name: &str) -> Result<(), BadName> {
    spaces_and_length(name, MAX_LONG_NAME)
}

/// Checks a person's full name; empty means "none".
///
/// # Errors
/// Says what is wrong with it.
pub fn check_real_name(name: &str) -> Result<(), BadName> {
    spaces_and_length(name, MAX_REAL_NAME)
}

fn spaces_and_length(name: &str, max: usize) -> Result<(), BadName> {
    if name.chars().count() > max {
        return Err(BadName::TooLong { max });
    }
    if name.trim() != name {
        return Err(BadName::Spaces);
    }
    Ok(())
}

/// Whether a text looks like an e-mail address: one `@` with a local part and a host behind it.
pub fn is_email(text: &str) -> bool {
    let Some((local, host)) = text.rsplit_once('@') else {
        return false;
    };
    let fine = |part: &str| {
        !part.is_empty()
            && !part.contains(|c: char| {
                c.is_whitespace() || c.is_control() || "<>()[],;:\\\"@".contains(c)
            })
    };
    fine(local)
        && fine(host)
        && !host.starts_with(['.', '-'])
        && !host.ends_with(['.', '-'])
        && !host.contains("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_table() {
        for (name, ok) in [
            ("bob", true),
            ("B-2", true),
            ("a", true),
            ("", false),
            ("a--b", false),
            ("-a", false),
            ("a-", false),
            ("a_b", false),
            ("a b", false),
            ("new", false),
            ("create", false),
            ("newer", true),
            ("é", false),
        ] {
            assert_eq!(check_name(name).is_ok(), ok, "{name:?}");
        }
        assert!(check_name(&"a".repeat(32)).is_ok());
        assert_eq!(
            check_name(&"a".repeat(33)),
            Err(BadName::TooLong { max: 32 })
        );
    }

    #[test]
    fn version_names_allow_dots_and_underscores_but_not_two_in_a_row() {
        for (name, ok) in [
            ("v1.2_3-x", true),
            ("a..b", false),
            (".a", false),
            ("x".repeat(64).as_str(), true),
        ] {
            assert_eq!(check_version_name(name).is_ok(), ok, "{name:?}");
        }
    }

    #[test]
    fn email_addresses_need_both_parts() {
        for (text, ok) in [
            ("a@b.c", true),
            ("no", false),
            ("@b", false),
            ("a@", false),
            ("a b@c", false),
            ("a@b..c", false),
            ("x+y@sub.example.com", true),
        ] {
            assert_eq!(is_email(text), ok, "{text:?}");
        }
    }
}
