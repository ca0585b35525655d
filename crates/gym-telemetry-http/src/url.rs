//! URLs without what must not be recorded: user-info, query and fragment.

use std::borrow::Cow;

use http::Uri;

/// Formats `uri` for `url.full`; a URI in origin form is completed with `host`, the `Host` header.
pub(crate) fn full(uri: &Uri, host: Option<&str>) -> String {
    let scheme = uri.scheme_str().unwrap_or("http");
    let authority = uri
        .authority()
        .map_or(host, |authority| Some(authority.as_str()))
        .unwrap_or_default();
    let authority = without_user_info(authority);
    let path = uri.path();
    let mut text = String::with_capacity(scheme.len() + 3 + authority.len() + path.len());
    if !authority.is_empty() {
        text.push_str(scheme);
        text.push_str("://");
        text.push_str(authority);
    }
    text.push_str(path);
    text
}

/// Cuts user-info, query and fragment out of each URL in `text`; error texts of HTTP clients quote whole URLs.
///
/// A URL is taken to end at white space or a quotation mark, so what follows a query without either is cut with
/// it. One closing bracket is kept, for the usual `for url (…)`.
pub(crate) fn scrub(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find("://") else {
        return Cow::Borrowed(text);
    };
    let mut scrubbed = String::with_capacity(text.len());
    let mut rest = text;
    let mut next = Some(first);
    while let Some(at) = next {
        let (before, url) = rest.split_at(at + 3);
        scrubbed.push_str(before);
        let (url, after) = url.split_at(url.find(ends_url).unwrap_or(url.len()));
        let shown = url.split(['?', '#']).next().unwrap_or(url);
        let (authority, path) = shown.split_at(shown.find('/').unwrap_or(shown.len()));
        scrubbed.push_str(without_user_info(authority));
        scrubbed.push_str(path);
        if shown.len() < url.len() && url.ends_with(')') {
            scrubbed.push(')');
        }
        rest = after;
        next = rest.find("://");
    }
    scrubbed.push_str(rest);
    Cow::Owned(scrubbed)
}

fn ends_url(character: char) -> bool {
    character.is_whitespace() || character == '"'
}

fn without_user_info(authority: &str) -> &str {
    authority.rsplit('@').next().unwrap_or(authority)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_url_has_no_user_info_and_no_query() {
        for (uri, host, expected) in [
            (
                "http://u:p@h.example:81/a/b?api_key=Q",
                None,
                "http://h.example:81/a/b",
            ),
            ("https://h.example?x", None, "https://h.example/"),
            ("/a?x=1", Some("u:p@h.example:81"), "http://h.example:81/a"),
            ("/a?x=1", None, "/a"),
            ("http://[::1]:8/a", None, "http://[::1]:8/a"),
        ] {
            assert_eq!(full(&uri.parse().expect("a valid URI"), host), expected);
        }
    }

    #[test]
    fn scrubbed_text_keeps_neither_user_info_nor_query() {
        for (text, expected) in [
            ("connection refused", "connection refused"),
            (
                "error sending request for url (http://u:p@h:81/a?api_key=Q)",
                "error sending request for url (http://h:81/a)",
            ),
            ("for url (http://h/a)", "for url (http://h/a)"),
            (
                "http://h?x=(1)b and https://a:b@c/#d.",
                "http://h and https://c/",
            ),
            ("\"http://h/a?b\" failed", "\"http://h/a\" failed"),
            ("http://a/?u=http://x:S@y/", "http://a/"),
            ("ü://ß@ö?ä", "ü://ö"),
            ("://", "://"),
        ] {
            assert_eq!(scrub(text), expected, "{text}");
        }
    }
}
