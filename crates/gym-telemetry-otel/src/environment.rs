//! Where settings are read from: this process's environment, or a stand-in for it.

use std::ffi::OsString;
use std::fmt;

use gym_telemetry_core::config::{Origin, TELEMETRY_KEY_NAME};

/// A source of environment variables.
///
/// Everything that reads settings takes one of these, so that each rule can be tried
/// without touching the environment of the test process.
pub(crate) trait EnvSource {
    /// The raw value of `name`, or `None` when it is not set.
    fn raw(&self, name: &str) -> Option<OsString>;

    /// Who gave the value of `name`, if it has one.
    fn source(&self, name: &'static str) -> Source {
        Source::Variable(name)
    }

    /// The value of `name` as text. A blank value is no value.
    fn value(&self, name: &str) -> EnvValue {
        match self.raw(name).map(OsString::into_string) {
            None => EnvValue::Unset,
            Some(Err(_)) => EnvValue::NotUnicode,
            Some(Ok(text)) => {
                let trimmed = text.trim();
                if trimmed.is_empty() {
                    EnvValue::Unset
                } else if trimmed.len() == text.len() {
                    EnvValue::Text(text)
                } else {
                    EnvValue::Text(trimmed.to_owned())
                }
            }
        }
    }

    /// The value of `name`, with a value that is not Unicode read as unset.
    fn text(&self, name: &str) -> Option<String> {
        match self.value(name) {
            EnvValue::Text(text) => Some(text),
            EnvValue::Unset | EnvValue::NotUnicode => None,
        }
    }
}

/// What one variable holds. Not `Debug`: the value may be a secret.
pub(crate) enum EnvValue {
    /// Not set, empty, or nothing but white space.
    Unset,
    /// Text without white space around it.
    Text(String),
    /// Bytes that are not Unicode.
    NotUnicode,
}

/// Who gave a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A variable of the environment.
    Variable(&'static str),
    /// A field of the `telemetry:` block.
    Field {
        /// Its name, with a dot for a nested one.
        field: &'static str,
        /// Where it stands, if the block came from a file or text and has the field.
        origin: Option<Origin>,
    },
    /// Made up for this run.
    Generated,
    /// Nobody: the built-in default.
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => f.write_str(name),
            Self::Field {
                field,
                origin: Some(origin),
            } => {
                write!(f, "{TELEMETRY_KEY_NAME}.{field} ({origin})")
            }
            Self::Field {
                field,
                origin: None,
            } => write!(f, "{TELEMETRY_KEY_NAME}.{field}"),
            Self::Generated => f.write_str("generated"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// The environment of this process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessEnv;

impl EnvSource for ProcessEnv {
    fn raw(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }
}
