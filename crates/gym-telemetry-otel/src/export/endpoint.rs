//! Where a signal goes.

use std::fmt;

use base64::prelude::{BASE64_STANDARD, Engine};
use gym_telemetry_core::mask;
use http::uri::{PathAndQuery, Scheme, Uri};
use http::{HeaderName, HeaderValue, header};

use super::report::BuildError;

/// A URL to export to, with its credentials taken out of the text.
pub(super) struct Endpoint {
    /// Without user information and fragment.
    pub(super) uri: Uri,
    /// The user information as a header.
    pub(super) authorization: Option<HeaderValue>,
    shown: String,
}

impl Endpoint {
    /// Reads `text`, of which the scheme may be missing: `localhost:4317` is plain HTTP, not TLS.
    pub(super) fn parse(text: &str) -> Result<Self, BuildError> {
        let text = text.trim();
        let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "http" => Scheme::HTTP,
            "https" => Scheme::HTTPS,
            _ => return Err(BuildError::UnknownScheme),
        };
        let rest = rest.split_once('#').map_or(rest, |(before, _)| before);
        let authority_end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (user, rest) = match rest[..authority_end].rfind('@') {
            Some(at) => (Some(&rest[..at]), &rest[at + 1..]),
            None => (None, rest),
        };
        let uri: Uri = format!("{scheme}://{rest}")
            .parse()
            .map_err(|_| BuildError::InvalidEndpoint)?;
        let authority = uri.authority().ok_or(BuildError::InvalidEndpoint)?;
        // A port that is no number of 16 bits reads like a missing one, and the default port is another place.
        let has_port = !authority.as_str().ends_with(authority.host());
        if authority.host().is_empty() || (has_port && authority.port_u16().is_none()) {
            return Err(BuildError::InvalidEndpoint);
        }
        Ok(Self {
            authorization: user.and_then(basic_authorization),
            shown: mask::endpoint(uri.to_string().trim_end_matches('/')).into_owned(),
            uri,
        })
    }

    /// Whether the collector is spoken to in TLS.
    pub(super) fn is_tls(&self) -> bool {
        self.uri.scheme() == Some(&Scheme::HTTPS)
    }

    /// The URL without path and query: gRPC has paths of its own.
    pub(super) fn origin(&self) -> Uri {
        let mut parts = self.uri.clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::from_static("/"));
        Uri::from_parts(parts).expect("scheme, authority and path together make a URI")
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// The headers of every request: the configured ones, the last of equal names, and the endpoint's user.
///
/// What frames a message is left out: the transport sets it.
pub(super) fn headers(
    configured: &[(String, String)],
    endpoint: &Endpoint,
) -> Result<http::HeaderMap, BuildError> {
    let mut headers = http::HeaderMap::new();
    headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
    if let Some(authorization) = &endpoint.authorization {
        headers.insert(header::AUTHORIZATION, authorization.clone());
    }
    for (name, value) in configured {
        let invalid = || BuildError::InvalidHeader(name.clone());
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| invalid())?;
        value.set_sensitive(true);
        if ![
            header::CONTENT_ENCODING,
            header::CONTENT_LENGTH,
            header::CONTENT_TYPE,
            header::HOST,
            header::TRANSFER_ENCODING,
        ]
        .contains(&key)
        {
            headers.insert(key, value);
        }
    }
    Ok(headers)
}

const USER_AGENT: &str = concat!("gym-telemetry/", env!("CARGO_PKG_VERSION"));

/// The `Authorization` header for `user:password` as it stands in a URL.
fn basic_authorization(user: &str) -> Option<HeaderValue> {
    if user.is_empty() {
        return None;
    }
    let user: Vec<u8> = percent_encoding::percent_decode_str(user).collect();
    let mut value =
        HeaderValue::from_str(&format!("Basic {}", BASE64_STANDARD.encode(user))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Endpoint {
        Endpoint::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn a_missing_scheme_is_plain_http() {
        for (text, uri) in [
            ("localhost:4317", "http://localhost:4317/"),
            ("  HTTP://h:1 ", "http://h:1/"),
            ("http://h:4318/v1/traces", "http://h:4318/v1/traces"),
            ("http://[::1]:4318/x?k=v#f", "http://[::1]:4318/x?k=v"),
            ("127.0.0.1:4317", "http://127.0.0.1:4317/"),
        ] {
            assert_eq!(parsed(text).uri.to_string(), uri, "{text}");
        }
    }

    #[test]
    fn https_stays_https_and_never_becomes_clear_text() {
        for (text, uri) in [
            ("https://h:4317", "https://h:4317/"),
            ("HTTPS://u:p@h/v1/traces", "https://h/v1/traces"),
        ] {
            let endpoint = parsed(text);
            assert_eq!(endpoint.uri.to_string(), uri);
            assert!(endpoint.is_tls());
            assert_eq!(endpoint.origin().scheme(), Some(&Scheme::HTTPS));
        }
        assert!(!parsed("h:443").is_tls());
    }

    #[test]
    fn what_is_no_url_is_refused() {
        for text in [
            "",
            "   ",
            "not a url",
            "http://",
            "http://:4317",
            "http://h:99999",
            "http://h:port",
            "http://a b",
        ] {
            assert_eq!(
                Endpoint::parse(text).err(),
                Some(BuildError::InvalidEndpoint),
                "{text:?}"
            );
        }
        assert_eq!(
            Endpoint::parse("ftp://h").err(),
            Some(BuildError::UnknownScheme)
        );
    }

    #[test]
    fn credentials_become_a_header_and_are_shown_nowhere() {
        let endpoint = parsed("http://us%65r:p@ss%3A@h:4318/v1/traces?api_key=Q");
        assert_eq!(endpoint.to_string(), "http://h:4318/v1/traces");
        assert_eq!(
            endpoint.uri.to_string(),
            "http://h:4318/v1/traces?api_key=Q"
        );
        let headers = headers(&[], &endpoint).expect("valid headers");
        // base64 of "user:p@ss:"
        assert_eq!(headers["authorization"], "Basic dXNlcjpwQHNzOg==");
        assert!(!format!("{headers:?}").contains("dXNlc"), "{headers:?}");
    }

    #[test]
    fn configured_headers_win_and_the_last_of_equal_names_is_sent_once() {
        let configured = [
            ("Authorization", "a"),
            ("authorization", "b"),
            ("x-k", "v=1"),
            ("content-length", "3"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let headers = headers(&configured, &parsed("http://u:p@h")).expect("valid headers");
        let all: Vec<_> = headers.get_all("authorization").iter().collect();
        assert_eq!(all, ["b"]);
        assert_eq!(headers["x-k"], "v=1");
        assert!(!headers.contains_key("content-length"));
    }

    #[test]
    fn a_header_that_cannot_be_sent_is_named_without_its_value() {
        let configured = [("x-key".to_owned(), "S3CR3T\n".to_owned())];
        let error =
            headers(&configured, &parsed("http://h")).expect_err("a value with a line break");
        assert_eq!(error, BuildError::InvalidHeader("x-key".to_owned()));
        assert!(!error.to_string().contains("S3CR3T"));
    }

    #[test]
    fn grpc_gets_the_origin_only() {
        assert_eq!(
            parsed("http://u:p@h:4317/v1/traces?x=y")
                .origin()
                .to_string(),
            "http://h:4317/"
        );
    }
}
