//! Span groups: which spans a process records.
//!
//! Each gated span belongs to a group. The `span_groups` setting names groups and presets, and this module turns it
//! into one flag in each group, so that a gate is one relaxed load whichever group it asks.
//!
//! The gym's own eight groups are registered from the start. Another library adds its own with [`register`]; they
//! obey the same setting, also when the library is registered after telemetry was set up.
//!
//! ```
//! use gym_telemetry_core::group::{self, Preset, Registration};
//! use gym_telemetry_core::SpanGroup;
//!
//! static TRAINING: SpanGroup = SpanGroup::new("training");
//!
//! group::register(&Registration {
//!     namespace: "my_trainer",
//!     groups: &[&TRAINING],
//!     presets: &[Preset { name: "default", members: &["training"] }],
//! })?;
//! assert!(SpanGroup::resolve("default").groups.contains(&&TRAINING));
//! assert!(!TRAINING.is_enabled(), "nothing is on before telemetry is set up");
//! # Ok::<(), group::RegisterError>(())
//! ```

mod global;
mod registration;
mod registry;
mod report;
mod resolution;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};

#[doc(hidden)]
pub use global::{apply_spec, pin, set_report_hook};
pub use global::{register, unregister};
pub use registration::{
    MAX_GROUPS, NAMESPACE, Preset, RegisterError, RegisterErrorKind, Registration,
};
pub use resolution::Resolution;

/// Spans of an agent server's `/run` and `/v1/responses`.
pub static AGENT: SpanGroup = SpanGroup::new("agent");
/// Spans of outbound requests, and the sending of trace headers.
pub static HTTP_CLIENT: SpanGroup = SpanGroup::new("http_client");
/// The span of the whole run, driver side.
pub static JOB: SpanGroup = SpanGroup::new("job");
/// Spans of a model server's chat completions, responses and messages.
pub static MODEL_CALL: SpanGroup = SpanGroup::new("model_call");
/// One span per attempt at a task, driver side.
pub static ROLLOUT: SpanGroup = SpanGroup::new("rollout");
/// Spans of sandboxes and their resources.
pub static SANDBOX: SpanGroup = SpanGroup::new("sandbox");
/// Spans of inbound requests, and the adoption of trace headers.
pub static SERVER: SpanGroup = SpanGroup::new("server");
/// Spans of a resources server's `/verify`.
pub static VERIFY: SpanGroup = SpanGroup::new("verify");

/// The gym's own groups, sorted by name.
pub const ALL_GROUPS: [&SpanGroup; 8] = [
    &AGENT,
    &HTTP_CLIENT,
    &JOB,
    &MODEL_CALL,
    &ROLLOUT,
    &SANDBOX,
    &SERVER,
    &VERIFY,
];

/// The groups that must be on in every process for one rollout to be one trace.
pub const CROSS_PROCESS_SPINE: [&SpanGroup; 3] = [&SERVER, &HTTP_CLIENT, &ROLLOUT];

/// A named set of spans that is switched on or off together.
///
/// Groups are equal if their names are: two libraries that give a group one name share the switch.
pub struct SpanGroup {
    name: &'static str,
    enabled: AtomicBool,
}

impl SpanGroup {
    /// Makes a group that is off; put it in a `static` and [`register`] it.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            enabled: AtomicBool::new(false),
        }
    }

    /// The name that the `span_groups` setting uses.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Whether spans of this group are recorded: one relaxed load.
    #[inline]
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.enabled.load(Ordering::Relaxed)
    }

    /// Finds a registered group by its exact name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static SpanGroup> {
        global::find(name)
    }

    /// Finds what a `span_groups` setting selects among the groups registered now.
    ///
    /// The setting is a comma-separated list of presets and groups in any mix and case. Blank entries are skipped,
    /// unknown ones are left out and reported in the result. Resolving switches nothing.
    ///
    /// ```
    /// use gym_telemetry_core::SpanGroup;
    ///
    /// let resolution = SpanGroup::resolve(" Per_Rollout , job,, sandbx");
    /// assert_eq!(resolution.groups.len(), 7);
    /// assert_eq!(resolution.unknown, ["sandbx"]);
    /// ```
    #[must_use]
    pub fn resolve(spec: &str) -> Resolution {
        global::resolve(spec)
    }

    fn set_enabled(&self, enabled: bool) {
        self.enabled.store(enabled, Ordering::Relaxed);
    }
}

impl PartialEq for SpanGroup {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for SpanGroup {}

impl Hash for SpanGroup {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Debug for SpanGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpanGroup")
            .field("name", &self.name)
            .field("enabled", &self.is_enabled())
            .finish()
    }
}

impl fmt::Display for SpanGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_groups_are_the_eight() {
        let names = ALL_GROUPS.map(SpanGroup::name);
        assert_eq!(
            names,
            [
                "agent",
                "http_client",
                "job",
                "model_call",
                "rollout",
                "sandbox",
                "server",
                "verify"
            ]
        );
        assert_eq!(
            CROSS_PROCESS_SPINE.map(SpanGroup::name),
            ["server", "http_client", "rollout"]
        );
    }

    #[test]
    fn groups_are_equal_by_name() {
        assert_eq!(SpanGroup::new("job"), JOB);
        assert_ne!(SpanGroup::new("jobs"), JOB);
    }
}
