//! `#[trace_fn]` on every kind of function. `plain.rs` is the same file without it, line for line.

use gym_telemetry_api::{SpanKind, attribute, group, set_span_attributes, span, trace_fn};

use async_trait::async_trait;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Is pending once.
#[derive(Debug, Default)]
pub struct Step(bool);

impl Future for Step {
    type Output = u64;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u64> {
        if self.0 {
            return Poll::Ready(1);
        }
        self.0 = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

#[inline(never)]
pub fn work(number: u64) -> u64 {
    number.rotate_left(3) ^ 0x5bd1
}

#[inline(never)]
pub fn check(number: u64) -> Result<u64, String> {
    if number == 0 { Err(String::from("zero")) } else { Ok(number) }
}

#[trace_fn(group::AGENT, span::AGENT_RUN, attribute::ROLLOUT_ID => number)]
#[inline(never)]
pub fn simple(number: u64) -> u64 {
    work(number)
}

#[trace_fn(group::VERIFY, span::VERIFY, kind: SpanKind::Server, "number" => number)]
#[inline(never)]
pub fn options(number: u64) -> u64 {
    work(number)
}

#[trace_fn(group::VERIFY, span::VERIFY, "number" => number)]
#[inline(never)]
pub fn question_mark(number: u64) -> Result<u64, String> {
    let number = check(number)?;
    Ok(work(check(number - 1)?))
}

#[trace_fn(group::AGENT, "early")]
#[inline(never)]
pub fn early_return(number: u64) -> u64 {
    if number > 10 {
        return work(number);
    }
    set_span_attributes!("number" => number);
    work(work(number))
}

#[trace_fn(group::AGENT, "loops", "count" => numbers.len())]
#[inline(never)]
pub fn loops(numbers: &[u64]) -> u64 {
    let mut sum = 0;
    for number in numbers {
        if *number == 7 {
            continue;
        }
        sum += work(*number);
    }
    sum
}

#[trace_fn(group::AGENT, "generic", "text" => text.as_ref())]
#[inline(never)]
pub fn generic<T: AsRef<str>, const N: usize>(text: T, numbers: [u64; N]) -> usize
where
    T: Clone,
{
    text.clone().as_ref().len() + numbers.len()
}

#[inline(never)]
pub fn generic_instances() -> usize {
    generic("borrowed", [1]) + generic(String::from("owned"), [1, 2])
}

#[trace_fn(group::AGENT, "closures")]
#[inline(never)]
pub fn closures(numbers: &[u64]) -> u64 {
    numbers.iter().filter(|number| **number % 2 == 1).map(|number| work(*number)).sum()
}

#[trace_fn(group::AGENT, "patterns", "left" => left, "right" => right)]
#[inline(never)]
pub fn patterns((left, right): (u64, u64), [first, ..]: [u64; 3], mut owned: String) -> u64 {
    owned.push('!');
    left ^ right ^ first ^ owned.len() as u64
}

#[trace_fn(group::AGENT, "drop order", "first" => &first)]
#[inline(never)]
pub fn drop_order(first: String, _: Vec<u8>, second: Vec<u8>) -> usize {
    let third = first.clone();
    third.len() + second.len()
}

#[trace_fn(group::AGENT, "panics", "first" => numbers[100], "text" => format!("{numbers:?}"))]
#[inline(never)]
pub fn arguments_that_would_panic_or_allocate(numbers: &[u64]) -> u64 {
    numbers.iter().sum()
}

#[trace_fn(group::AGENT, "lifetimes")]
#[inline(never)]
pub fn lifetimes<'a>(one: &'a str, _other: &str) -> &'a str {
    one.trim()
}

#[trace_fn(group::AGENT, "opaque")]
#[inline(never)]
pub fn opaque(numbers: Vec<u64>) -> impl Iterator<Item = u64> {
    numbers.into_iter().map(work)
}

#[derive(Debug)]
pub struct Counter {
    pub count: u64,
}

impl Counter {
    #[trace_fn(group::AGENT, "add", "count" => self.count)]
    #[inline(never)]
    pub fn add(&mut self, number: u64) -> &mut Self {
        self.count += work(number);
        self
    }

    #[trace_fn(group::AGENT, "add later", "count" => self.count, "name" => name)]
    #[inline(never)]
    pub async fn add_later(&mut self, name: &str) -> u64 {
        self.count += Step::default().await + name.len() as u64;
        self.count
    }

    #[trace_fn(group::AGENT, "finish")]
    #[inline(never)]
    pub async fn finish(self) -> u64 {
        self.count + Step::default().await
    }
}

pub trait Server {
    #[trace_fn(group::VERIFY, span::VERIFY, "number" => number)]
    #[inline(never)]
    fn verify(&self, number: u64) -> u64 {
        work(number)
    }

    fn run(&mut self, number: u64) -> Pin<Box<dyn Future<Output = u64> + Send + '_>>;
}

impl Server for Counter {
    #[trace_fn(group::AGENT, span::AGENT_RUN, "number" => number)]
    #[inline(never)]
    fn run(&mut self, number: u64) -> Pin<Box<dyn Future<Output = u64> + Send + '_>> {
        let start = work(number);
        Box::pin(async move {
            self.count += start + Step::default().await;
            self.count
        })
    }
}

#[async_trait]
pub trait Provider {
    async fn start(&mut self, name: &str) -> Result<u64, String>;

    async fn stop(&self) -> u64;
}

#[async_trait]
impl Provider for Counter {
    #[trace_fn(group::SANDBOX, "start", err, "name" => name)]
    #[inline(never)]
    async fn start(&mut self, name: &str) -> Result<u64, String> {
        self.count += check(name.len() as u64)? + Step::default().await;
        Ok(self.count)
    }

    #[trace_fn(group::SANDBOX, "stop")]
    #[inline(never)]
    async fn stop(&self) -> u64 {
        self.count + Step::default().await
    }
}

#[trace_fn(group::AGENT, span::AGENT_RUN, attribute::ROLLOUT_ID => number)]
#[inline(never)]
pub async fn simple_async(number: u64) -> u64 {
    work(number) + Step::default().await
}

#[trace_fn(group::ROLLOUT, span::ROLLOUT, err, attribute::ROLLOUT_ID => number)]
#[inline(never)]
pub async fn question_mark_async(number: u64) -> Result<u64, String> {
    let number = check(number)?;
    let one = Step::default().await;
    set_span_attributes!("one" => one);
    Ok(work(check(number - one)?))
}

#[trace_fn(group::AGENT, "early", "numbers" => numbers.len())]
#[inline(never)]
pub async fn early_return_async(numbers: &[u64]) -> u64 {
    let mut sum = 0;
    for number in numbers {
        if sum > 1_000_000 {
            return sum;
        }
        sum += work(*number) + Step::default().await;
    }
    sum
}

#[trace_fn(group::AGENT, "large", "first" => large[0])]
#[inline(never)]
pub async fn large_parameter(large: [u64; 64]) -> u64 {
    let length = large.len() as u64;
    length + Step::default().await + Step::default().await
}

#[trace_fn(group::AGENT, "drop order", "first" => &first)]
#[inline(never)]
pub async fn drop_order_async(first: String, _: Vec<u8>, second: Vec<u8>) -> u64 {
    let third = first.clone();
    third.len() as u64 + second.len() as u64 + Step::default().await
}

#[trace_fn(group::AGENT, "generic", "label" => label.as_ref())]
#[inline(never)]
pub async fn generic_async<T: Future<Output = u64>>(future: T, label: impl AsRef<str>) -> u64 {
    future.await + label.as_ref().len() as u64 + Step::default().await
}

#[inline(never)]
pub fn generic_async_instances(number: u64) -> impl Future<Output = u64> {
    generic_async(simple_async(number), String::from("label"))
}

#[inline(never)]
pub fn send_future(number: u64) -> impl Future<Output = u64> + Send {
    simple_async(number)
}

#[trace_fn(group::JOB, span::JOB)]
#[inline(never)]
pub async fn nested_async(number: u64) -> u64 {
    let first = simple_async(number).await;
    let second = early_return_async(&[first, number]).await;
    first ^ second
}

#[inline(never)]
pub async fn awaited(mut counter: Counter) -> u64 {
    let first = counter.add_later("name").await;
    let second = send_future(first).await;
    let third = generic_async_instances(second).await;
    let fourth = counter.run(third).await;
    fourth ^ counter.finish().await
}
