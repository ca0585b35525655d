//! What a block came to, for people.

use gym_telemetry_core::config::{Finding, FindingKind, TelemetryConfig};

use super::overlay::Published;
use crate::settings::Beaten;

/// What was published, or would be if telemetry were on, and what was not heard.
#[derive(Clone, Debug)]
pub(crate) struct Explained {
    pub(super) published: Published,
    /// Fields that a variable overrides.
    pub(crate) beaten: Vec<Beaten>,
    /// What is suspicious about the block.
    pub(crate) findings: Vec<Finding>,
}

impl Explained {
    pub(super) fn new(
        published: Published,
        beaten: Vec<Beaten>,
        config: &TelemetryConfig,
        warnings: &[String],
    ) -> Self {
        let unknown = config.unknown_keys().iter().map(|key| {
            let message = crate::config::unknown_key(key, config.origin(key));
            Finding::new(FindingKind::UnknownName, message)
        });
        let ignored = warnings
            .iter()
            .map(|warning| Finding::new(FindingKind::Ignored, warning.as_str()));
        let findings = unknown.chain(ignored).collect();
        Self {
            published,
            beaten,
            findings,
        }
    }
}
