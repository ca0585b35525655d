use gym_telemetry_api::{group, trace_fn};

#[trace_fn]
fn nothing() {}

#[trace_fn(group::ROLLOUT)]
fn no_name() {}

#[trace_fn(group::ROLLOUT, "rollout", , "key" => 1)]
fn two_commas() {}

#[trace_fn(group::ROLLOUT, "rollout", err, err)]
fn twice() -> Result<(), String> {
    Ok(())
}

#[trace_fn(group::ROLLOUT, "rollout", key = 1)]
fn no_arrow() {}

fn main() {}
