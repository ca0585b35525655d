use gym_telemetry_api::{is_span_group_enabled, managed_span};

const ALWAYS: bool = is_span_group_enabled(&gym_telemetry_api::group::ROLLOUT);

fn main() {
    let _span = managed_span!("rollout", "a group that is a text");
    let _ = ALWAYS;
}
