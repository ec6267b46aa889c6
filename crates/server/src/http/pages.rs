//! The few HTML pages that the server writes itself, for visitors of apps. Plain, readable without
//! scripts or pictures, and with every text escaped.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};

const STYLE: &str = "body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:15vh auto 0;padding:0 1.5rem;color:#18181b;background:#fff}\
h1{font-size:1.5rem;line-height:1.25}a{color:#1d4ed8}p.status{color:#52525b;margin:0}\
@media(prefers-color-scheme:dark){body{color:#f4f4f5;background:#09090b}a{color:#93c5fd}p.status{color:#a1a1aa}}";

/// Makes a text safe between tags and in quoted attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A page that says what is wrong and what to do. Links are label and address.
pub fn page(status: StatusCode, title: &str, text: &str, links: &[(&str, &str)]) -> Response {
    let links: String = links
        .iter()
        .map(|(label, href)| format!("<p><a href=\"{}\">{}</a></p>", escape(href), escape(label)))
        .collect();
    let (title, text, code) = (escape(title), escape(text), status.as_u16());
    let html = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <title>{title}</title><style>{STYLE}</style></head><body><main><p class=\"status\">{code}</p><h1>{title}</h1><p>{text}</p>{links}</main></body></html>"
    );
    let mut response = (status, Html(html)).into_response();
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_texts_stays_text() {
        assert_eq!(
            escape("<a href=\"x\">'&"),
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp;"
        );
    }
}
