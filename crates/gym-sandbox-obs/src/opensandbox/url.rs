//! The URL of a control plane, without what is private in it.

use std::fmt::Write as _;

use http::Uri;

use super::error::OpenSandboxError;

/// Where a control plane is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ControlPlane {
    is_secure: bool,
    /// Host and port.
    authority: String,
    /// Scheme, authority and path, without a slash at the end.
    scope: String,
}

impl ControlPlane {
    pub(super) fn parse(url: &str) -> Result<Self, OpenSandboxError> {
        let url = url.trim();
        let (scheme, rest) = url
            .split_once("://")
            .ok_or_else(|| OpenSandboxError::url("it has no scheme"))?;
        let is_secure = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return Err(OpenSandboxError::url("its scheme is not http or https")),
        };
        // Where user information holds one of these in clear text, what seems to be the host is a part of it.
        if let Some((_, after)) = rest.split_once(['/', '?', '#'])
            && after.contains('@')
        {
            return Err(OpenSandboxError::url(
                "it has an `@` after its host: encode user information",
            ));
        }
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        // A password may hold an `@`, a host may not.
        let authority = authority.rsplit('@').next().unwrap_or_default();
        let scheme = if is_secure { "https" } else { "http" };
        let scope = format!("{scheme}://{authority}{}", path.trim_end_matches('/'));
        let parsed: Uri = scope
            .parse()
            .map_err(|_| OpenSandboxError::url("it is no URL"))?;
        match parsed.host() {
            Some(host) if !host.is_empty() => {}
            _ => return Err(OpenSandboxError::url("it has no host")),
        }
        Ok(Self {
            is_secure,
            authority: authority.to_owned(),
            scope,
        })
    }

    /// The URL without user information, query and fragment.
    pub(super) fn scope(&self) -> &str {
        &self.scope
    }

    pub(super) fn is_secure(&self) -> bool {
        self.is_secure
    }

    pub(super) fn authority(&self) -> &str {
        &self.authority
    }

    /// The URL of something about a sandbox. `None` for an id that no path can hold.
    pub(super) fn sandbox(&self, id: &str, path: &str) -> Option<Uri> {
        if matches!(id, "" | "." | "..") {
            return None;
        }
        let mut url = format!("{}/sandboxes/", self.scope);
        for byte in id.bytes() {
            if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
                url.push(char::from(byte));
            } else {
                write!(url, "%{byte:02X}").expect("writing to a string cannot fail");
            }
        }
        url.push('/');
        url.push_str(path);
        url.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::ControlPlane;

    #[test]
    fn nothing_private_is_left_of_a_url() {
        for (url, scope) in [
            (
                "https://user:pw@osb.example:8443/api?x=1#f",
                "https://osb.example:8443/api",
            ),
            (
                "HTTP://u%40v:p%2Fw@osb.example/v1/",
                "http://osb.example/v1",
            ),
            (
                "https://user:p@ss@[2001:db8::1]:8443/v1",
                "https://[2001:db8::1]:8443/v1",
            ),
            ("http://127.0.0.1:18080", "http://127.0.0.1:18080"),
            (" https://token@osb.example#S3CR3T ", "https://osb.example"),
        ] {
            let parsed = ControlPlane::parse(url).expect("a URL");
            assert_eq!(parsed.scope(), scope, "{url}");
        }
    }

    #[test]
    fn what_is_no_url_is_refused_without_being_told() {
        for url in [
            "",
            "osb.example",
            "ftp://S3CR3T@x",
            "https://",
            "https://S3CR3T@",
            "http://a b/",
            "https://user:p/w@host/v1",
            "https://user:pa#ss@host",
            "https://user:a@b/c@host",
            "https://S3CR3T?x@host",
        ] {
            let error = ControlPlane::parse(url).expect_err("no URL");
            assert!(!error.to_string().contains("S3CR3T"), "{error}");
        }
    }

    #[test]
    fn an_id_stays_one_part_of_the_path() {
        let plane = ControlPlane::parse("http://osb.example/v1").expect("a URL");
        let url = |id: &str| plane.sandbox(id, "x").map(|url| url.to_string());
        assert_eq!(
            url("a/../b?c#d e~F").as_deref(),
            Some("http://osb.example/v1/sandboxes/a%2F..%2Fb%3Fc%23d%20e~F/x")
        );
        for id in ["", ".", ".."] {
            assert_eq!(url(id), None, "{id}");
        }
    }
}
