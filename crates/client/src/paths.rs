//! Paths and queries of the API. Must not know single endpoints.

/// Joins path parts, each of them encoded, under `/api/v2`.
pub(crate) fn api_path(parts: &[&str]) -> String {
    let mut path = String::from("/api/v2");
    for part in parts {
        path.push('/');
        for byte in part.bytes() {
            match byte {
                b'A'..=b'Z'
                | b'a'..=b'z'
                | b'0'..=b'9'
                | b'-'
                | b'_'
                | b'.'
                | b'~'
                | b'@'
                | b':' => path.push(byte as char),
                other => path.push_str(&format!("%{other:02X}")),
            }
        }
    }
    path
}

/// Adds a query to a path, leaving out empty values.
pub(crate) fn with_query(path: String, pairs: &[(&str, &str)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for (key, value) in pairs.iter().filter(|(_, value)| !value.is_empty()) {
        query.append_pair(key, value);
    }
    let query = query.finish();
    if query.is_empty() {
        path
    } else {
        format!("{path}?{query}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_parts_cannot_break_out_of_their_place() {
        assert_eq!(
            api_path(&["users", "a/b?c d", "keys"]),
            "/api/v2/users/a%2Fb%3Fc%20d/keys"
        );
    }

    #[test]
    fn empty_query_values_are_left_out() {
        assert_eq!(
            with_query("/x".into(), &[("q", "owner:me name:a"), ("limit", "")]),
            "/x?q=owner%3Ame+name%3Aa"
        );
        assert_eq!(with_query("/x".into(), &[("q", "")]), "/x");
    }
}
