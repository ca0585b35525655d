//! Which attributes are never recorded in clear.

use crate::value::{StrArray, Value};

/// What a secret text is replaced with.
pub const REDACTED: &str = "[REDACTED]";

/// Keys whose text is redacted unless the caller gives keys of its own. Only the exact key counts.
pub const DEFAULT_KEYS: [&str; 8] = [
    "prompt",
    "input_text",
    "output_text",
    "text",
    "password",
    "token",
    "secret",
    "key",
];

/// Keys whose text is always redacted, in any case and also as the last dotted part of a key.
pub const CREDENTIAL_KEYS: [&str; 12] = [
    "authorization",
    "proxy-authorization",
    "api_key",
    "api-key",
    "apikey",
    "x-api-key",
    "client_secret",
    "access_token",
    "refresh_token",
    "private_key",
    "cookie",
    "set-cookie",
];

/// Decides which attributes are redacted.
///
/// Text and each text of a list become [`REDACTED`]; numbers and truth values stay.
///
/// ```
/// use gym_telemetry_core::{Redaction, Value};
///
/// let default = Redaction::DEFAULT;
/// assert_eq!(default.apply("prompt", Value::Str("Hello")), Value::Static("[REDACTED]"));
/// assert_eq!(default.apply("prompt", Value::I64(5)), Value::I64(5));
/// assert!(!default.is_secret("token_count"));
/// assert!(default.is_secret("http.request.header.Authorization"));
///
/// let own = Redaction::custom(&["answer"]);
/// assert!(own.is_secret("answer") && !own.is_secret("prompt") && own.is_secret("api_key"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redaction<'a> {
    keys: &'a [&'a str],
}

impl<'a> Redaction<'a> {
    /// Redacts [`DEFAULT_KEYS`] and [`CREDENTIAL_KEYS`].
    pub const DEFAULT: Redaction<'static> = Redaction {
        keys: &DEFAULT_KEYS,
    };

    /// Redacts exactly `keys` in place of [`DEFAULT_KEYS`]; [`CREDENTIAL_KEYS`] stay redacted.
    #[must_use]
    pub const fn custom(keys: &'a [&'a str]) -> Self {
        Self { keys }
    }

    /// Whether the text of an attribute called `key` is redacted.
    #[must_use]
    pub fn is_secret(&self, key: &str) -> bool {
        self.keys.contains(&key) || is_credential(key)
    }

    /// Returns `value`, or what to record in its place.
    #[must_use]
    pub fn apply<'v>(&self, key: &str, value: Value<'v>) -> Value<'v> {
        match value {
            Value::Str(_) | Value::Static(_) if self.is_secret(key) => Value::Static(REDACTED),
            Value::Strs(texts) if self.is_secret(key) => {
                Value::Strs(StrArray::repeated(REDACTED, texts.len()))
            }
            _ => value,
        }
    }
}

impl Default for Redaction<'static> {
    fn default() -> Self {
        Self::DEFAULT
    }
}

fn is_credential(key: &str) -> bool {
    let last = key.rsplit_once('.').map_or(key, |(_, last)| last);
    CREDENTIAL_KEYS
        .iter()
        .any(|credential| last.eq_ignore_ascii_case(credential))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_under_a_default_key_is_redacted() {
        for key in DEFAULT_KEYS {
            assert_eq!(
                Redaction::DEFAULT.apply(key, Value::Str("clear")),
                Value::Static(REDACTED),
                "{key}"
            );
            assert_eq!(
                Redaction::DEFAULT.apply(key, Value::Static("clear")),
                Value::Static(REDACTED),
                "{key}"
            );
        }
    }

    #[test]
    fn default_keys_match_exactly() {
        for key in [
            "Password",
            "auth.token",
            "token_count",
            "input_tokens",
            "max_output_tokens",
            "keys",
            "",
            ".",
        ] {
            assert_eq!(
                Redaction::DEFAULT.apply(key, Value::Str("clear")),
                Value::Str("clear"),
                "{key}"
            );
        }
    }

    #[test]
    fn credential_keys_match_in_any_case_and_as_the_last_part() {
        for key in CREDENTIAL_KEYS {
            for key in [
                key.to_owned(),
                key.to_uppercase(),
                format!("http.request.header.{key}"),
            ] {
                assert!(Redaction::DEFAULT.is_secret(&key), "{key}");
                assert!(
                    !Redaction::DEFAULT.is_secret(&format!("{key}.length")),
                    "{key}"
                );
            }
        }
        assert!(!Redaction::DEFAULT.is_secret("authorizations"));
    }

    #[test]
    fn numbers_and_truth_values_stay() {
        let numbers = [1, 2];
        for value in [
            Value::I64(1),
            Value::F64(0.5),
            Value::Bool(true),
            Value::U64(u64::MAX),
            Value::I64s(&numbers),
        ] {
            assert_eq!(Redaction::DEFAULT.apply("token", value), value);
        }
    }

    #[test]
    fn each_text_of_a_list_is_redacted() {
        let texts = ["a", "b"];
        let Value::Strs(redacted) =
            Redaction::DEFAULT.apply("prompt", Value::Strs(StrArray::from(&texts[..])))
        else {
            panic!("a list stays a list");
        };
        assert!(redacted.iter().eq([REDACTED, REDACTED]));
    }

    #[test]
    fn own_keys_replace_the_default_ones_but_not_the_credentials() {
        let own = Redaction::custom(&["answer"]);
        assert!(own.is_secret("answer"));
        assert!(!own.is_secret("prompt"));
        assert!(own.is_secret("Set-Cookie"));
        assert!(!Redaction::custom(&[]).is_secret("password"));
    }
}
