use gym_telemetry_api::{group, managed_span, trace_fn};

async fn number() -> i64 {
    1
}

async fn macros() {
    let _span = managed_span!(group::ROLLOUT, "rollout", "number" => number().await);
}

#[trace_fn(group::ROLLOUT, "rollout", "number" => number().await)]
async fn attribute() {}

fn main() {}
