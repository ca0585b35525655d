//! An environment made of a table, for tests.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use crate::environment::EnvSource;

/// Variables given by a test.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vars(BTreeMap<String, OsString>);

impl Vars {
    /// An environment of exactly these variables.
    pub(crate) fn new(vars: &[(&str, &str)]) -> Self {
        Self(
            vars.iter()
                .map(|(name, value)| ((*name).to_owned(), value.into()))
                .collect(),
        )
    }

    /// Adds one variable.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a variable of arbitrary bytes.
    pub(crate) fn with_bytes(mut self, name: &str, value: &[u8]) -> Self {
        self.0
            .insert(name.to_owned(), OsString::from_vec(value.to_vec()));
        self
    }
}

impl EnvSource for Vars {
    fn raw(&self, name: &str) -> Option<OsString> {
        self.0.get(name).cloned()
    }

    fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }
}
