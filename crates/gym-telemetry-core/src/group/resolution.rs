//! What a `span_groups` setting selects.

use super::SpanGroup;
use super::report;

/// What a `span_groups` setting selects, all of it seen at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resolution {
    /// The selected groups, sorted by name, each name once.
    pub groups: Vec<&'static SpanGroup>,
    /// Entries that name nothing registered, lower-cased, in order, each once.
    pub unknown: Vec<String>,
    /// The names of all registered groups, sorted.
    pub registered: Vec<&'static str>,
    /// The names of all presets, sorted; `all` is one.
    pub presets: Vec<String>,
    /// Entries that are known, lower-cased, in order, each once.
    pub known: Vec<String>,
}

impl Resolution {
    /// Whether a group is selected.
    #[must_use]
    pub fn contains(&self, group: &SpanGroup) -> bool {
        self.groups
            .binary_search_by_key(&group.name(), |known| known.name())
            .is_ok()
    }

    /// What is suspicious about the setting, as one line for people, or `None`.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        report::of_resolution(self).map(|condition| condition.text)
    }
}
