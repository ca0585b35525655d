//! Parameters and locals that only telemetry uses do not warn, in either build. The test is that this file compiles.
#![deny(unused, clippy::pedantic)]
#![allow(
    clippy::unused_async,
    reason = "what the parameters are used for is what is tested"
)]

mod support;

use std::pin::Pin;

use gym_telemetry_api::{enter, group, in_span, managed_span, set_span_attributes, span, trace_fn};
use support::{Failed, block_on};

struct Server {
    name: &'static str,
}

#[trace_fn(group::AGENT, "synchronous", "task" => task)]
fn synchronous(task: &str) -> u32 {
    1
}

#[trace_fn(group::AGENT, "fallible", err, "task" => task, "turn" => turn)]
fn fallible(task: &str, turn: u32) -> Result<u32, Failed> {
    Ok(2)
}

#[trace_fn(group::AGENT, "asynchronous", "task" => task)]
async fn asynchronous(task: &str) -> u32 {
    3
}

#[trace_fn(group::AGENT, "asynchronous", err, "task" => task)]
async fn asynchronous_and_fallible(task: &str) -> Result<u32, Failed> {
    Ok(4)
}

#[trace_fn(group::AGENT, "boxed", "task" => task)]
fn boxed(task: &str) -> Pin<Box<dyn Future<Output = u32>>> {
    Box::pin(async move { 5 })
}

impl Server {
    #[trace_fn(group::AGENT, "method", "server" => self.name, "turn" => turn)]
    async fn method(&self, turn: u32) -> u32 {
        6
    }
}

#[test]
fn what_only_telemetry_uses_is_used() {
    assert_eq!(synchronous("task"), 1);
    assert_eq!(fallible("task", 0), Ok(2));
    assert_eq!(block_on(asynchronous("task")), 3);
    assert_eq!(block_on(asynchronous_and_fallible("task")), Ok(4));
    assert_eq!(block_on(boxed("task")), 5);
    assert_eq!(block_on(Server { name: "a" }.method(0)), 6);

    let local = 1;
    let _entered = enter!(group::AGENT, "enter", "local" => local);
    let of_future = 2;
    block_on(in_span!(group::AGENT, "future", "local" => of_future; async {}));
    let of_span = 3;
    let managed = managed_span!(group::AGENT, "managed", "local" => of_span);
    let of_attributes = 4;
    set_span_attributes!(managed; "local" => of_attributes);
    let of_process = 5;
    let _ungated = span!("ungated", "local" => of_process);
}
