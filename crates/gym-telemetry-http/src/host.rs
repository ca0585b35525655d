//! Where a request is addressed to.

use http::header::HOST;
use http::{HeaderMap, Uri};

/// A host without brackets or port, and its port if one is given.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Address<'a> {
    pub(crate) host: Option<&'a str>,
    pub(crate) port: Option<u16>,
}

/// Reads the address from the URI or, in origin form, from the `Host` header.
pub(crate) fn address<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Address<'a> {
    let authority = match uri.authority() {
        Some(authority) => Some(authority.as_str()),
        None => host_header(headers),
    };
    authority.map_or_else(Address::default, split)
}

/// The `Host` header, if there is one and it is text.
pub(crate) fn host_header(headers: &HeaderMap) -> Option<&str> {
    headers.get(HOST)?.to_str().ok()
}

fn split(authority: &str) -> Address<'_> {
    let authority = authority.rsplit('@').next().unwrap_or(authority);
    let (host, port) = match authority
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    {
        Some((host, rest)) => (host, rest.strip_prefix(':')),
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    Address {
        host: (!host.is_empty()).then_some(host),
        port: port.and_then(|port| port.parse().ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities_split_into_host_and_port() {
        for (authority, host, port) in [
            ("policy_model:8000", Some("policy_model"), Some(8000)),
            ("policy_model", Some("policy_model"), None),
            ("127.0.0.1:80", Some("127.0.0.1"), Some(80)),
            ("[::1]:8000", Some("::1"), Some(8000)),
            ("[fe80::1]", Some("fe80::1"), None),
            ("user:secret@host:81", Some("host"), Some(81)),
            ("host:", Some("host"), None),
            ("host:99999", Some("host"), None),
            ("", None, None),
            (":80", None, Some(80)),
        ] {
            assert_eq!(split(authority), Address { host, port }, "{authority}");
        }
    }

    #[test]
    fn the_uri_goes_before_the_host_header() {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, "header:1".parse().expect("a value"));
        let host = |uri: &str| {
            address(&uri.parse().expect("a URI"), &headers)
                .host
                .map(str::to_owned)
        };
        assert_eq!(host("/path").as_deref(), Some("header"));
        assert_eq!(host("http://uri/path").as_deref(), Some("uri"));
    }
}
