//! Hides secrets in texts that people or back ends see.

use std::borrow::Cow;

use crate::redaction::{REDACTED, Redaction};

/// Removes user information, query and fragment from a URL, or hides it wholly if it is too malformed to tell.
///
/// The rest stays byte for byte. Use it for `url.full` and for endpoints in messages.
///
/// ```
/// use gym_telemetry_core::mask;
///
/// assert_eq!(mask::endpoint("https://u:p@host:4317/v1?api_key=Q#f"), "https://host:4317/v1");
/// assert_eq!(mask::endpoint("http://localhost:4318"), "http://localhost:4318");
/// ```
#[must_use]
pub fn endpoint(url: &str) -> Cow<'_, str> {
    let start = url.find("://").map_or(0, |colon| colon + "://".len());
    let (scheme, rest) = url.split_at(start);
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    if let Some(at) = authority.rfind('@') {
        let rest = &rest[at + 1..];
        return Cow::Owned(format!("{scheme}{}", without_query(rest)));
    }
    // A password with an unescaped `/`, `?` or `#` ends the authority too early: then the start of the password
    // stands where the port should, and an `@` comes later.
    if rest.contains('@') && !ends_in_port(authority) {
        return Cow::Owned(format!("{scheme}{REDACTED}"));
    }
    Cow::Borrowed(&url[..start + without_query(rest).len()])
}

/// Returns what may be shown of the value of an environment variable.
///
/// Variables whose names say that they hold headers, keys, tokens, passwords or other credentials are hidden;
/// URLs lose user information, query and fragment; of `OTEL_RESOURCE_ATTRIBUTES` only secret values are hidden.
///
/// ```
/// use gym_telemetry_core::mask;
///
/// assert_eq!(mask::variable("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20x"), "[REDACTED]");
/// assert_eq!(mask::variable("NEMO_GYM_OTEL_SPAN_GROUPS", "default"), "default");
/// ```
#[must_use]
pub fn variable<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    if name.eq_ignore_ascii_case(crate::env::OTEL_RESOURCE_ATTRIBUTES) {
        pairs(value)
    } else if is_secret_variable(name) || value.contains("-----BEGIN") {
        Cow::Borrowed(REDACTED)
    } else if value.contains("://") || name.to_ascii_uppercase().contains("ENDPOINT") {
        endpoint(value)
    } else {
        Cow::Borrowed(value)
    }
}

/// Whether the name of an environment variable says that its value is a secret.
#[must_use]
pub fn is_secret_variable(name: &str) -> bool {
    const ENDS: [&str; 8] = [
        "HEADERS",
        "KEY",
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "CREDENTIAL",
        "CREDENTIALS",
    ];
    let name = name.to_ascii_uppercase();
    name.split('_')
        .any(|part| ENDS.iter().any(|end| part.ends_with(end)))
}

fn without_query(rest: &str) -> &str {
    &rest[..rest.find(['?', '#']).unwrap_or(rest.len())]
}

/// Whether an authority without user information is a host with an optional port.
fn ends_in_port(authority: &str) -> bool {
    let after_address = authority
        .rfind(']')
        .map_or(authority, |bracket| &authority[bracket..]);
    after_address.rfind(':').is_none_or(|colon| {
        after_address[colon + 1..]
            .bytes()
            .all(|byte| byte.is_ascii_digit())
    })
}

fn pairs(value: &str) -> Cow<'_, str> {
    let secret = |pair: &str| {
        pair.split_once('=')
            .is_some_and(|(key, _)| Redaction::DEFAULT.is_secret(key.trim()))
    };
    if !value.split(',').any(secret) {
        return Cow::Borrowed(value);
    }
    let masked: Vec<_> = value
        .split(',')
        .map(|pair| match pair.split_once('=') {
            Some((key, _)) if secret(pair) => Cow::Owned(format!("{key}={REDACTED}")),
            _ => Cow::Borrowed(pair),
        })
        .collect();
    Cow::Owned(masked.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_lose_user_information_query_and_fragment_only() {
        for (url, shown) in [
            ("", ""),
            ("localhost:4317", "localhost:4317"),
            ("http://h", "http://h"),
            ("http://h/a@b", "http://h/a@b"),
            ("http://h:80/a@b", "http://h:80/a@b"),
            ("http://[::1]:4317/a@b", "http://[::1]:4317/a@b"),
            ("http://u@h/", "http://h/"),
            ("http://u:p@h:1/x", "http://h:1/x"),
            ("http://u:p@q@h/x", "http://h/x"),
            ("u:p@h:4317", "h:4317"),
            ("http://h?q=1", "http://h"),
            ("http://h#f", "http://h"),
            ("http://h/p#f?q", "http://h/p"),
            ("http://h/p?u=http://x@y", "http://h/p"),
            ("http://u:p@h/p?q", "http://h/p"),
            ("not a url", "not a url"),
            ("http://é:ü@ö/ß?ñ", "http://ö/ß"),
        ] {
            assert_eq!(endpoint(url), shown, "{url}");
        }
    }

    #[test]
    fn a_password_that_breaks_the_url_is_hidden() {
        for url in [
            "http://u:S3/CR3T@h/",
            "http://u:S3#CR3T@h",
            "http://u:S3?CR3T@h",
            "u:S3/CR3T@h:1",
        ] {
            let shown = endpoint(url);
            assert!(
                !shown.contains("S3") && !shown.contains("CR3T"),
                "{url} -> {shown}"
            );
        }
    }

    #[test]
    fn secret_variables_are_hidden() {
        for name in [
            "OTEL_EXPORTER_OTLP_HEADERS",
            "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
            "OTEL_EXPORTER_OTLP_CLIENT_KEY",
            "WANDB_API_KEY",
            "MY_TOKEN",
            "db_password",
            "OPENAI_APIKEY",
        ] {
            assert_eq!(variable(name, "S3CR3T"), REDACTED, "{name}");
        }
    }

    #[test]
    fn other_variables_are_shown() {
        for name in [
            "NEMO_GYM_OTEL_SPAN_GROUPS",
            "OTEL_SERVICE_NAME",
            "KEYBOARD",
            "TOKENIZER_PATH",
            "MAX_TOKENS",
        ] {
            assert_eq!(variable(name, "value"), "value", "{name}");
        }
    }

    #[test]
    fn credentials_in_urls_are_hidden_whatever_the_name() {
        assert_eq!(
            variable("HTTP_PROXY", "http://u:p@proxy:3128"),
            "http://proxy:3128"
        );
        assert_eq!(
            variable("OTEL_EXPORTER_OTLP_ENDPOINT", "u:p@h:4317"),
            "h:4317"
        );
        assert_eq!(
            variable(
                "OTEL_EXPORTER_OTLP_CERTIFICATE",
                "-----BEGIN CERTIFICATE-----"
            ),
            REDACTED
        );
    }

    #[test]
    fn secret_resource_attributes_are_hidden() {
        assert_eq!(
            variable(
                "OTEL_RESOURCE_ATTRIBUTES",
                "team=rl,vendor.api_key=S3CR3T, password =x=y,k"
            ),
            "team=rl,vendor.api_key=[REDACTED], password =[REDACTED],k"
        );
        assert_eq!(variable("OTEL_RESOURCE_ATTRIBUTES", "team=rl"), "team=rl");
    }
}
