//! What a limit is called.

use std::sync::Arc;

use gym_telemetry_core::{Value, attribute};

use crate::component::ConcurrencyComponent;

/// The attributes that tell one limit from another: bounded by the program's code and its configured servers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LimitKey {
    component: ConcurrencyComponent,
    limit_name: &'static str,
    server_name: Option<Arc<str>>,
}

impl LimitKey {
    pub(crate) fn new(component: ConcurrencyComponent, limit_name: &'static str) -> Self {
        Self { component, limit_name, server_name: None }
    }

    pub(crate) fn server_name(self, name: &str) -> Self {
        Self { server_name: Some(name.into()), ..self }
    }

    pub(crate) fn attributes(&self) -> Vec<(&'static str, String)> {
        self.pairs().map(|(key, value)| (key, value.to_owned())).collect()
    }

    /// Returns the attributes with room for one more, which saves a second allocation.
    pub(super) fn values(&self) -> Vec<(&'static str, Value<'_>)> {
        let mut values = Vec::with_capacity(4);
        values.extend(self.pairs().map(|(key, value)| (key, Value::Str(value))));
        values
    }

    fn pairs(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [
            (attribute::CONCURRENCY_COMPONENT, self.component.as_str()),
            (attribute::CONCURRENCY_LIMIT_NAME, self.limit_name),
        ]
        .into_iter()
        .chain(self.server_name.as_deref().map(|name| (attribute::SERVER_NAME, name)))
    }
}
