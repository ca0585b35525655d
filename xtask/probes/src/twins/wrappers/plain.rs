//! `instrumented.rs` without the facade, line for line: what an optimiser has to make of that file is what stands
//! in this one.

use gym_telemetry_api as _; // The same crates are linked.

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
        //
        .await
}

#[inline(never)]
pub async fn in_context(number: u64) -> u64 {
    let step = Step::default()
        ;
    let other = async { work(number) + Step::default().await }
        ;
    step.await + other.await
}

#[inline(never)]
pub async fn large_local(number: u64) -> u64 {
    let buffer = [number; 64];
    //
    let one = Step::default()
        //
        .await;
    //
    //
    one + Step::default().await
}

#[inline(never)]
pub fn entered(number: u64) -> u64 {
    //
    //
    let number = work(number);
    //
    //
    work(number)
}

#[inline(never)]
pub fn ended(number: u64) -> u64 {
    //
    //
    let number = work(number);
    //
    work(number)
}

#[inline(never)]
pub fn dropped(number: u64) -> u64 {
    //
    let number = work(number);
    //
    work(number)
}

#[inline(never)]
pub async fn dropped_between_awaits(number: u64) -> u64 {
    //
    let one = Step::default().await;
    //
    one + Step::default().await
}

#[inline(never)]
pub fn gate(number: u64) -> u64 {
    //
        //
    //
    work(number)
}

#[inline(never)]
pub fn not_recording(number: u64) -> u64 {
    //
    //
        //
    //
    work(number)
}

#[inline(never)]
pub fn clock(number: u64) -> u64 {
    //
    let number = work(number);
    //
        //
    //
    number
}

#[inline(never)]
pub fn carried(number: u64) -> u64 {
    let run =
        //
            move || work(number)
        ;
    run()
}

#[inline(never)]
pub fn attached(number: u64) -> u64 {
    //
    //
    work(number)
}

#[inline(never)]
pub fn current(number: u64) -> u64 {
    //
    //
    work(number + 5)
}

#[inline(never)]
pub async fn in_span_err(number: u64) -> Result<u64, String> {
    async { if number == 0 { Err(String::from("zero")) } else { Ok(Step::default().await) } }
        //
        .await
}
