use std::pin::Pin;

use gym_telemetry_api::{group, in_span, trace_fn};

struct Silent;

fn macros() {
    let _ = in_span!(group::ROLLOUT, "rollout", err; async { 1 });
    let _ = in_span!(group::ROLLOUT, "rollout", err; async { Err::<(), Silent>(Silent) });
    let _ = in_span!(group::ROLLOUT, "rollout"; 1);
}

#[trace_fn(group::ROLLOUT, "rollout", err)]
fn no_result() -> u32 {
    1
}

#[trace_fn(group::ROLLOUT, "rollout", err)]
async fn no_display() -> Result<(), Silent> {
    Err(Silent)
}

#[trace_fn(group::ROLLOUT, "rollout", err)]
fn boxed() -> Pin<Box<dyn Future<Output = u32>>> {
    Box::pin(async move { 1 })
}

fn main() {}
