//! The methods, functions and wrapper types of the facade. They are ordinary calls, which an optimiser has to inline:
//! unlike the macros they may leave a jump at opt-level 0. `plain.rs` is the same file without them, line for line.

use gym_telemetry_api::{Context, FutureExt, add_event, carry, enter, group, is_span_group_enabled, managed_span, set_current_attributes, set_span_attributes, stopwatch, with_current_span};

use std::future::Future;
use std::pin::Pin;
use std::task;

/// Is pending once.
#[derive(Debug, Default)]
pub struct Step(bool);

impl Future for Step {
    type Output = u64;

    fn poll(mut self: Pin<&mut Self>, context: &mut task::Context<'_>) -> task::Poll<u64> {
        if self.0 {
            return task::Poll::Ready(1);
        }
        self.0 = true;
        context.waker().wake_by_ref();
        task::Poll::Pending
    }
}

#[inline(never)]
pub fn work(number: u64) -> u64 {
    number.rotate_left(3) ^ 0x5bd1
}

#[inline(never)]
pub async fn in_span(number: u64) -> u64 {
    Step::default()
        .in_span(managed_span!(group::AGENT, "method", "number" => number))
        .await
}

#[inline(never)]
pub async fn in_context(number: u64) -> u64 {
    let step = Step::default()
        .in_current_context();
    let other = async { work(number) + Step::default().await }
        .in_context(Context::root());
    step.await + other.await
}

#[inline(never)]
pub async fn large_local(number: u64) -> u64 {
    let buffer = [number; 64];
    let span = managed_span!(group::AGENT, "large", "first" => buffer.first().copied());
    let one = Step::default()
        .in_current_context()
        .await;
    span.set_attribute("one", one);
    span.end();
    one + Step::default().await
}

#[inline(never)]
pub fn entered(number: u64) -> u64 {
    let span = managed_span!(group::AGENT, "entered");
    let entered = span.entered();
    let number = work(number);
    entered.set_attribute("number", number);
    drop(entered);
    work(number)
}

#[inline(never)]
pub fn ended(number: u64) -> u64 {
    let span = managed_span!(group::AGENT, "ended", "number" => number);
    add_event!(span; "event");
    let number = work(number);
    span.end();
    work(number)
}

#[inline(never)]
pub fn dropped(number: u64) -> u64 {
    let entered = enter!(group::AGENT, "dropped", "number" => number);
    let number = work(number);
    drop(entered);
    work(number)
}

#[inline(never)]
pub async fn dropped_between_awaits(number: u64) -> u64 {
    let span = managed_span!(group::AGENT, "dropped", "number" => number);
    let one = Step::default().await;
    drop(span);
    one + Step::default().await
}

#[inline(never)]
pub fn gate(number: u64) -> u64 {
    if is_span_group_enabled(&group::SANDBOX) {
        return work(work(number));
    }
    work(number)
}

#[inline(never)]
pub fn not_recording(number: u64) -> u64 {
    let span = managed_span!(group::AGENT, "recording");
    if span.is_recording() {
        set_span_attributes!(span; "text" => format!("{number}"));
    }
    work(number)
}

#[inline(never)]
pub fn clock(number: u64) -> u64 {
    let watch = stopwatch!();
    let number = work(number);
    if let Some(elapsed) = watch.elapsed() {
        set_current_attributes(|attributes| attributes.set("seconds", &elapsed.as_secs_f64()));
    }
    number
}

#[inline(never)]
pub fn carried(number: u64) -> u64 {
    let run =
        carry(
            move || work(number)
        );
    run()
}

#[inline(never)]
pub fn attached(number: u64) -> u64 {
    let context = Context::current();
    let _attached = context.attach();
    work(number)
}

#[inline(never)]
pub fn current(number: u64) -> u64 {
    with_current_span(|span| span.set_attribute("number", number));
    set_current_attributes(|attributes| attributes.set("number", &number));
    work(number + 5)
}

#[inline(never)]
pub async fn in_span_err(number: u64) -> Result<u64, String> {
    async { if number == 0 { Err(String::from("zero")) } else { Ok(Step::default().await) } }
        .in_span_err(managed_span!(group::AGENT, "fallible"))
        .await
}
