//! Where settings are read from: this process's environment, or a stand-in for it.

use std::ffi::OsString;

pub(crate) use gym_telemetry_core::config::SettingSource as Source;

/// A source of environment variables.
///
/// Everything that reads settings takes one of these, so that each rule can be tried
/// without touching the environment of the test process.
pub(crate) trait EnvSource {
    /// The raw value of `name`, or `None` when it is not set.
    fn raw(&self, name: &str) -> Option<OsString>;

    /// The value of `name` that somebody set, whatever was published over it.
    fn inherited(&self, name: &str) -> Option<OsString> {
        self.raw(name)
    }

    /// The names of all variables that somebody set, as far as they are text.
    fn names(&self) -> Vec<String>;

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

/// The environment of this process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessEnv;

impl EnvSource for ProcessEnv {
    fn raw(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }

    fn names(&self) -> Vec<String> {
        std::env::vars_os()
            .filter_map(|(name, _)| name.into_string().ok())
            .collect()
    }
}
