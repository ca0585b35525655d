//! Span groups of a process in which nobody set telemetry up. Alone in its process: the flags are global.

use gym_telemetry_core::SpanGroup;
use gym_telemetry_core::group::{self, ALL_GROUPS, Registration};

static TRAINING: SpanGroup = SpanGroup::new("training");

#[test]
fn every_gate_is_closed_before_setup() {
    group::register(&Registration {
        namespace: "trainer",
        groups: &[&TRAINING],
        presets: &[],
    })
    .expect("the names are valid");
    assert_eq!(SpanGroup::resolve("all").groups.len(), 9);
    for known in ALL_GROUPS.into_iter().chain([&TRAINING]) {
        assert!(!known.is_enabled(), "{known}");
        assert!(
            SpanGroup::find(known.name()).is_some_and(|found| std::ptr::eq(found, known)),
            "{known}"
        );
    }
    for unknown in ["", "nope", "JOB", "default", "all"] {
        assert!(
            !SpanGroup::find(unknown).is_some_and(SpanGroup::is_enabled),
            "{unknown}"
        );
    }
}
