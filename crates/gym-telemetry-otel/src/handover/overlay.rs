//! What was published, and the environment as it looks with it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;

use gym_telemetry_core::env::ChildEnv;

use crate::environment::{EnvSource, EnvValue, Source};

/// The variables that were put where none was set.
#[derive(Clone, Debug)]
pub(super) struct Published {
    /// The id that all processes of the run share.
    pub(super) run_id: String,
    /// Each variable by its name.
    pub(super) variables: BTreeMap<&'static str, Variable>,
}

/// A published variable.
#[derive(Clone)]
pub(super) struct Variable {
    pub(super) value: String,
    /// Who gave the value.
    pub(super) source: Source,
}

impl fmt::Debug for Variable {
    /// Leaves the value out: it may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Variable")
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

impl Published {
    /// What the children need.
    pub(super) fn child_env(&self) -> ChildEnv {
        let variables = self.variables.iter();
        ChildEnv::new(
            &*self.run_id,
            variables.map(|(name, variable)| (*name, &*variable.value)),
        )
    }
}

/// An environment with published variables where it has none.
pub(super) struct Overlay<'a> {
    env: &'a dyn EnvSource,
    published: Option<&'a Published>,
}

impl<'a> Overlay<'a> {
    pub(super) fn new(env: &'a dyn EnvSource, published: Option<&'a Published>) -> Self {
        Self { env, published }
    }

    fn published(&self, name: &str) -> Option<&Variable> {
        let variable = self.published?.variables.get(name)?;
        // As in a child: what is no text was replaced there.
        (!matches!(self.env.value(name), EnvValue::Text(_))).then_some(variable)
    }
}

impl EnvSource for Overlay<'_> {
    fn raw(&self, name: &str) -> Option<OsString> {
        match self.published(name) {
            Some(variable) => Some(OsString::from(&variable.value)),
            None => self.env.raw(name),
        }
    }

    fn inherited(&self, name: &str) -> Option<OsString> {
        self.env.inherited(name)
    }

    fn names(&self) -> Vec<String> {
        self.env.names()
    }

    fn source(&self, name: &'static str) -> Source {
        match self.published(name) {
            Some(variable) => variable.source.clone(),
            None => self.env.source(name),
        }
    }
}
