//! The image's name, from the repository's path (builder §1.7).

/// The last part of the path as a name that registries take; `None` if nothing usable is in it.
pub fn default_name(path: &str) -> Option<String> {
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let last = path.rsplit(['/', ':']).next()?.to_lowercase();
    let mut clean = String::new();
    for c in last.chars() {
        if is_letter(c) || is_separator(c) {
            clean.push(c);
        } else if !clean.ends_with(OTHER) {
            clean.push(OTHER);
        }
    }
    let clean = clean.replace(OTHER, "-");
    let mut name = String::new();
    let mut rest = clean.trim_matches(is_separator);
    while let Some(start) = rest.find(is_separator) {
        let (word, tail) = rest.split_at(start);
        let run = &tail[..tail.find(is_letter).unwrap_or(tail.len())];
        let is_legal = matches!(run, "." | "_" | "__") || run.bytes().all(|b| b == b'-');
        name.push_str(word);
        name.push_str(if is_legal { run } else { "-" });
        rest = &tail[run.len()..];
    }
    name.push_str(rest);
    (!name.is_empty()).then_some(name)
}

/// Stands for a run of characters that no name has.
const OTHER: char = '!';

fn is_letter(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit()
}

fn is_separator(c: char) -> bool {
    matches!(c, '.' | '_' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_30_and_31_the_name_is_that_of_the_repository() {
        let table = [
            ("Org/MyRepo.git", Some("myrepo")),
            ("Org/MyRepo.git/", Some("myrepo")),
            ("/team/Shop.git", Some("shop")),
            ("o/My Repo!!v2", Some("my-repo-v2")),
            ("a..b", Some("a-b")),
            ("-_Repo_-", Some("repo")),
            ("a__b", Some("a__b")),
            ("a---b", Some("a---b")),
            ("a-_b", Some("a-b")),
            ("a.b_c", Some("a.b_c")),
            ("a!!b", Some("a-b")),
            ("...", None),
            ("", None),
            ("/.git", None),
            ("o/日本", None),
        ];
        for (path, expected) in table {
            assert_eq!(default_name(path).as_deref(), expected, "{path}");
        }
    }
}
