use gym_telemetry_api::{Context, FutureExt, enter, group, in_span, managed_span, span, stopwatch};

#[deny(unused_must_use)]
fn main() {
    managed_span!(group::ROLLOUT, "rollout");
    span!("span");
    enter!(group::ROLLOUT, "rollout");
    in_span!(group::ROLLOUT, "rollout"; async {});
    async {}.in_current_context();
    Context::current().attach();
    stopwatch!();
}
