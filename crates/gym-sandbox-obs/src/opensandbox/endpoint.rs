//! Where the server inside a sandbox is reached.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderName, HeaderValue, Uri, header};
use serde::Deserialize;

use super::url::ControlPlane;
use crate::unavailable::Unavailable;

/// How long an endpoint is believed.
const FRESH: Duration = Duration::from_mins(10);

/// The way to one sandbox's server.
#[derive(Debug)]
pub(super) struct Endpoint {
    /// The URL of its metrics.
    pub(super) metrics: Uri,
    /// What the control plane says has to be sent along.
    pub(super) headers: HeaderMap,
    /// The way leads through the control plane, which may see the API key; anybody else may not.
    pub(super) is_control_plane: bool,
    since: Instant,
}

#[derive(Deserialize)]
struct Answer {
    endpoint: String,
    #[serde(default)]
    headers: Option<BTreeMap<String, String>>,
}

impl Endpoint {
    /// Reads the control plane's answer: `{"endpoint": "host[:port][/path]", "headers": {…}}`.
    pub(super) fn parse(
        body: &[u8],
        control_plane: &ControlPlane,
        server_proxy: bool,
    ) -> Result<Self, Unavailable> {
        let malformed = || Unavailable::MalformedReading;
        let answer: Answer = serde_json::from_slice(body).map_err(|_| malformed())?;
        let place = answer.endpoint.trim_end_matches('/');
        let is_safe = |c: char| c.is_ascii_graphic() && !matches!(c, '@' | '?' | '#' | '\\');
        if place.is_empty() || place.contains("://") || !place.chars().all(is_safe) {
            return Err(malformed());
        }
        let authority = place.split('/').next().unwrap_or_default();
        let is_control_plane =
            server_proxy && authority.eq_ignore_ascii_case(control_plane.authority());
        // The answer names no scheme. A sandbox speaks clear text; the control plane speaks what it spoke before.
        let scheme = if is_control_plane && control_plane.is_secure() {
            "https"
        } else {
            "http"
        };
        let metrics: Uri = format!("{scheme}://{place}/metrics")
            .parse()
            .map_err(|_| malformed())?;
        Ok(Self {
            metrics,
            headers: headers(answer.headers.unwrap_or_default())?,
            is_control_plane,
            since: Instant::now(),
        })
    }

    pub(super) fn is_fresh(&self) -> bool {
        self.since.elapsed() < FRESH
    }
}

fn headers(pairs: BTreeMap<String, String>) -> Result<HeaderMap, Unavailable> {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let name = HeaderName::try_from(name).map_err(|_| Unavailable::MalformedReading)?;
        let mut value = HeaderValue::try_from(value).map_err(|_| Unavailable::MalformedReading)?;
        value.set_sensitive(true);
        // The framing of the request is this program's own.
        let frames = [
            header::CONTENT_LENGTH,
            header::TRANSFER_ENCODING,
            header::CONNECTION,
        ];
        if !frames.contains(&name) {
            headers.insert(name, value);
        }
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::{ControlPlane, Endpoint};

    fn endpoint(body: &str, server_proxy: bool) -> Option<Endpoint> {
        let plane = ControlPlane::parse("https://osb.example:8443/v1").expect("a URL");
        Endpoint::parse(body.as_bytes(), &plane, server_proxy).ok()
    }

    #[test]
    fn metrics_are_below_the_path_of_the_endpoint() {
        for (place, url) in [
            ("10.244.3.17:44772", "http://10.244.3.17:44772/metrics"),
            (
                "host:49213/proxy/44772",
                "http://host:49213/proxy/44772/metrics",
            ),
            ("[2001:db8::1]:44772/", "http://[2001:db8::1]:44772/metrics"),
        ] {
            let found =
                endpoint(&format!(r#"{{"endpoint":"{place}"}}"#), false).expect("an endpoint");
            assert_eq!(found.metrics.to_string(), url);
            assert!(!found.is_control_plane);
        }
    }

    #[test]
    fn only_the_control_plane_itself_may_see_the_key() {
        let own = r#"{"endpoint":"osb.example:8443/v1/sandboxes/a/proxy/44772"}"#;
        let proxied = endpoint(own, true).expect("an endpoint");
        assert!(proxied.is_control_plane);
        assert_eq!(proxied.metrics.scheme_str(), Some("https"));
        assert!(endpoint(own, false).is_some_and(|direct| !direct.is_control_plane));
        let elsewhere = r#"{"endpoint":"osb.example.evil:8443/v1/sandboxes/a/proxy/44772"}"#;
        assert!(endpoint(elsewhere, true).is_some_and(|other| !other.is_control_plane));
    }

    #[test]
    fn answers_that_would_lead_astray_are_refused() {
        for place in [
            "",
            "http://x",
            "osb.example:8443@evil/",
            "a b",
            "x?y",
            "x#y",
            "x\\\\y",
        ] {
            assert!(
                endpoint(&format!(r#"{{"endpoint":"{place}"}}"#), true).is_none(),
                "{place}"
            );
        }
        for body in [
            "",
            "{}",
            "[]",
            r#"{"endpoint":7}"#,
            r#"{"endpoint":"x","headers":{"a\n":"b"}}"#,
        ] {
            assert!(endpoint(body, true).is_none(), "{body}");
        }
    }

    #[test]
    fn headers_that_were_named_are_sent_along() {
        let body =
            r#"{"endpoint":"x","headers":{"OpenSandbox-Secure-Access":"t","Content-Length":"9"}}"#;
        let found = endpoint(body, false).expect("an endpoint");
        assert_eq!(found.headers.len(), 1);
        assert!(!format!("{found:?}").contains("\"t\""), "{found:?}");
    }
}
