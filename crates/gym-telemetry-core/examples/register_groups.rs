//! A library registers a span group of its own. docs/span-groups.md shows this file.

use gym_telemetry_core::SpanGroup;
use gym_telemetry_core::group::{self, Preset, RegisterError, Registration};

static TRAINING: SpanGroup = SpanGroup::new("training");

fn main() -> Result<(), RegisterError> {
    group::register(&Registration {
        namespace: "my_trainer",
        groups: &[&TRAINING],
        presets: &[Preset {
            name: "per_rollout",
            members: &["training"],
        }],
    })?;
    let resolution = SpanGroup::resolve("per_rollout");
    assert!(resolution.groups.contains(&&TRAINING));
    Ok(())
}
