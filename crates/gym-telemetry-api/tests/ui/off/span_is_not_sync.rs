use gym_telemetry_api::{group, managed_span};

fn share<T: Sync>(_: &T) {}

fn main() {
    let span = managed_span!(group::ROLLOUT, "rollout");
    share(&span);
}
