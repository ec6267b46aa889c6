//! Terraform's diagnostics as people read them.

use serde_json::Value;

/// The lines of one diagnostic: severity and summary, place with the source, detail.
///
/// The values that Terraform adds to a snippet are left out: they may be secrets.
pub(crate) fn lines(d: &Value) -> Vec<String> {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    let severity = match text(&d["severity"]).as_str() {
        "error" => "Error",
        "warning" => "Warning",
        _ => "Note",
    };
    let mut out = vec![format!("{severity}: {}", text(&d["summary"]))];
    let start = &d["range"]["start"];
    if let Some(file) = d["range"]["filename"].as_str() {
        let snippet = &d["snippet"];
        let context = text(&snippet["context"]);
        let place = format!("on {file} line {}", start["line"]);
        out.push(if context.is_empty() {
            format!("{place}:")
        } else {
            format!("{place}, in {context}:")
        });
        let first = snippet["start_line"].as_u64().unwrap_or(0);
        for (n, code) in text(&snippet["code"]).lines().enumerate() {
            out.push(format!("  {}: {}", first + n as u64, code.trim_end()));
        }
    } else if let Some(address) = d["address"].as_str() {
        out.push(format!("with {address}"));
    }
    out.extend(
        text(&d["detail"])
            .lines()
            .map(str::to_owned)
            .filter(|l| !l.is_empty()),
    );
    out
}

/// One diagnostic on one line.
pub(crate) fn summary(d: &Value) -> String {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    let mut out = text(&d["summary"]);
    if let Some(file) = d["range"]["filename"].as_str() {
        out.push_str(&format!(" ({file}:{})", d["range"]["start"]["line"]));
    }
    let detail = text(&d["detail"]);
    let detail: Vec<&str> = detail.split_whitespace().collect();
    if !detail.is_empty() {
        out.push_str(": ");
        out.push_str(&detail.join(" "));
    }
    out
}

/// A line of a diagnostic printed as text, without the frame that Terraform draws around it.
pub(crate) fn without_frame(line: &str) -> &str {
    line.trim_start_matches(['│', '╷', '╵', ' ']).trim_end()
}

/// The errors in text that Terraform printed, one line each.
pub(crate) fn errors_in_text<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut inside = false;
    for line in lines {
        let text = without_frame(line);
        if line.trim() == "╵" {
            inside = false;
        } else if let Some(summary) = text.strip_prefix("Error: ") {
            inside = true;
            out.push(summary.to_owned());
        } else if text.starts_with("Warning: ") {
            inside = false;
        } else if inside
            && !text.is_empty()
            && let Some(last) = out.last_mut()
        {
            last.push_str(if last.contains(": ") { " " } else { ": " });
            last.push_str(text);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_diagnostic_shows_place_source_and_detail() {
        let d = json!({"severity": "error", "summary": "Unsupported argument",
            "detail": "An argument named \"inptu\"\nis not expected here.",
            "range": {"filename": "bad.tf", "start": {"line": 2, "column": 3}},
            "snippet": {"context": "resource \"t\" \"b\"", "code": "  inptu = \"x\" ",
                        "start_line": 2, "values": [{"traversal": "var.x", "statement": "is \"s3\""}]}});
        assert_eq!(
            lines(&d),
            [
                "Error: Unsupported argument",
                "on bad.tf line 2, in resource \"t\" \"b\":",
                "  2:   inptu = \"x\"",
                "An argument named \"inptu\"",
                "is not expected here.",
            ]
        );
        assert_eq!(
            summary(&d),
            "Unsupported argument (bad.tf:2): An argument named \"inptu\" is not expected here."
        );
    }

    #[test]
    fn errors_are_found_in_framed_text() {
        let text = "╷\n│ Warning: old\n│\n│ never mind\n╵\n╷\n│ Error: Failed to query\n│ \n│ Could not\n│ reach it\n╵\nnoise";
        assert_eq!(
            errors_in_text(text.lines()),
            ["Failed to query: Could not reach it"]
        );
    }
}
