use gym_telemetry_api::{group, trace_fn};

#[trace_fn(group::ROLLOUT, "rollout")]
const fn constant() -> u32 {
    1
}

trait Declared {
    #[trace_fn(group::ROLLOUT, "rollout")]
    fn declared(&self) -> u32;
}

#[trace_fn(group::ROLLOUT, "rollout")]
struct NoFunction;

fn main() {
    let _ = (constant(), NoFunction);
}
