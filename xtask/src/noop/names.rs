//! The names that a compiled-out program must not carry.

use std::collections::BTreeSet;

use gym_telemetry_core::metric;

use crate::docs::source::{text_constant, vocabulary};
use crate::failure::Result;

/// The back end's crate, as symbols have it.
pub(super) const BACK_END: &str = "gym_telemetry_otel";

/// Every span, attribute, event and metric name that is the gym's own. Names of OpenTelemetry's conventions are left out: any
/// HTTP program may have them.
pub(super) fn own() -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let files = [
        "span.rs",
        "attribute.rs",
        "attribute/sandbox.rs",
        "event.rs",
        "scope.rs",
    ];
    for file in files {
        for item in vocabulary(file)? {
            if let Some((_, value)) = text_constant(&item) {
                names.insert(value.to_owned());
            }
        }
    }
    names.extend(metric::ALL.iter().map(|metric| metric.name.to_owned()));
    names.retain(|name| name.starts_with("gym.") || name.starts_with("nemo."));
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_attributes_and_metrics_are_among_the_names() {
        let names = own().expect("the vocabulary can be read");
        for name in [
            "gym.rollout",
            "nemo.gym.rollout.id",
            "nemo.gym.sandbox.request.id",
            "gym.rollout.duration_ms",
        ] {
            assert!(names.contains(name), "{name}");
        }
        assert!(!names.contains("http.route"));
    }
}
