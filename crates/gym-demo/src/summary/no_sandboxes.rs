//! Compiled out: there is nothing to tell of sandboxes.

use serde_json::{Map, Value};

/// What the spans of one trace tell about sandboxes; in this build nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Sandboxes;

impl Sandboxes {
    /// Returns `true`.
    #[expect(clippy::unused_self, reason = "the same call in both builds")]
    pub(super) fn is_empty(&self) -> bool {
        true
    }

    /// Takes nothing.
    #[expect(clippy::unused_self, reason = "the same call in both builds")]
    pub(super) fn add(&mut self, _name: &str, _attributes: &Map<String, Value>) {}

    /// Returns nothing.
    #[expect(clippy::unused_self, reason = "the same call in both builds")]
    pub(super) fn describe(&self) -> String {
        String::new()
    }
}
