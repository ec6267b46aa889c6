//! Checks of single texts that several resources use.

use super::url;

/// A name of an environment variable, as POSIX has it.
pub fn variable_name(text: &str) -> Result<(), String> {
    let mut chars = text.chars();
    let first = chars
        .next()
        .is_some_and(|c| c == '_' || c.is_ascii_alphabetic());
    if first && chars.all(|c| c == '_' || c.is_ascii_alphanumeric()) {
        Ok(())
    } else {
        Err(format!(
            "{text:?} is not the name of an environment variable; use letters, digits and _, and no digit at the start"
        ))
    }
}

/// A slug: part of a host name.
pub fn slug(text: &str) -> Result<(), String> {
    let words = || text.split('-');
    let word = |word: &str| {
        !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    if words().all(word) {
        Ok(())
    } else {
        Err(format!(
            "{text:?} cannot be part of a host name; use small letters and digits, with single hyphens between them"
        ))
    }
}

/// A text that says something.
pub fn not_empty(text: &str) -> Result<(), String> {
    if text.is_empty() {
        Err("the text is empty; give a value".to_owned())
    } else {
        Ok(())
    }
}

/// An absolute path.
pub fn absolute_path(text: &str) -> Result<(), String> {
    if text.starts_with('/') {
        Ok(())
    } else {
        Err(format!("{text:?} is not an absolute path; start it with /"))
    }
}

/// A UUID.
pub fn uuid(text: &str) -> Result<(), String> {
    match uuid::Uuid::try_parse(text) {
        Ok(_) => Ok(()),
        Err(_) => Err(format!("{text:?} is not a UUID")),
    }
}

/// An icon: the URL or path of a picture.
pub fn icon(text: &str) -> Result<(), String> {
    url::check(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_fit_into_host_names() {
        for good in ["a", "code-server", "1-2-3", "x9"] {
            assert!(slug(good).is_ok(), "{good}");
        }
        for bad in ["", "A", "a--b", "-a", "a-", "a_b", "ä", "a.b"] {
            assert!(slug(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn variable_names_are_those_of_posix() {
        for good in ["A", "_", "PATH_2", "lower"] {
            assert!(variable_name(good).is_ok(), "{good}");
        }
        for bad in ["", "1A", "A-B", "A B", "Ä"] {
            assert!(variable_name(bad).is_err(), "{bad}");
        }
    }
}
