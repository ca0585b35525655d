//! The macros in every place where code can stand. `plain.rs` is the same file without them, line for line.

use gym_telemetry_api::{SpanKind, add_event, attribute, enter, group, if_telemetry, in_span, managed_span, set_span_attributes, span, stopwatch};

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

#[inline(never)]
pub fn simple(number: u64) -> u64 {
    let _span = managed_span!(group::AGENT, span::AGENT_RUN, attribute::ROLLOUT_ID => number);
    work(number)
}

#[inline(never)]
pub fn ungated(number: u64) -> u64 {
    let _span = span!("load tasks", "tasks" => number, "where" => "here");
    work(number)
}

#[inline(never)]
pub fn options(number: u64) -> u64 {
    let _span = managed_span!(
        group::MODEL_CALL,
        span::MODEL_RESPONSES,
        kind: SpanKind::Client,
        record_exception: false,
        "number" => number,
    );
    work(number)
}

#[inline(never)]
pub fn entered(number: u64) -> u64 {
    let _entered = enter!(group::AGENT, span::AGENT_RUN, "number" => number);
    work(number)
}

#[inline(never)]
pub fn question_mark(number: u64) -> Result<u64, String> {
    let _entered = enter!(group::VERIFY, span::VERIFY, "number" => number);
    let number = check(number)?;
    let _inner = enter!(group::VERIFY, "inner");
    Ok(work(check(number - 1)?))
}

#[inline(never)]
pub fn early_return(number: u64) -> u64 {
    let _entered = enter!(group::AGENT, "early");
    if number > 10 {
        set_span_attributes!("large" => true);
        return work(number);
    }
    add_event!("small", "number" => number);
    work(work(number))
}

#[inline(never)]
pub fn loops(numbers: &[u64]) -> u64 {
    let mut sum = 0;
    let _entered = enter!(group::AGENT, "loop", "count" => numbers.len());
    for number in numbers {
        let _span = managed_span!(group::AGENT, "turn", "number" => *number, "sum" => sum);
        if *number == 7 {
            add_event!("skipped");
            continue;
        }
        sum += work(*number);
        if sum > 1_000_000 {
            break;
        }
    }
    sum
}

#[inline(never)]
pub fn generic<T: AsRef<str> + Clone>(text: T) -> usize {
    let _entered = enter!(group::AGENT, "generic", "text" => text.as_ref());
    let copy = text.clone();
    copy.as_ref().len()
}

#[inline(never)]
pub fn generic_instances() -> usize {
    generic("borrowed") + generic(String::from("owned"))
}

#[derive(Debug)]
pub struct Counter {
    pub count: u64,
    pub names: Vec<String>,
}

impl Counter {
    #[inline(never)]
    pub fn add(&mut self, number: u64) -> &mut Self {
        let _entered = enter!(group::AGENT, "add", "count" => self.count, "names" => &self.names[..]);
        self.count += work(number);
        self
    }

    #[inline(never)]
    pub async fn add_later(&mut self, name: &str) -> u64 {
        let span = managed_span!(group::AGENT, "add later", "name" => name, "count" => self.count);
        self.count += Step::default().await;
        set_span_attributes!(span; "count" => self.count);
        self.names.push(name.to_owned());
        self.count
    }
}

pub trait Server {
    #[inline(never)]
    fn verify(&self, number: u64) -> u64 {
        let _entered = enter!(group::VERIFY, span::VERIFY, "number" => number);
        work(number)
    }

    fn run(&mut self, number: u64) -> u64;
}

impl Server for Counter {
    #[inline(never)]
    fn run(&mut self, number: u64) -> u64 {
        let _entered = enter!(group::AGENT, span::AGENT_RUN, "count" => self.count);
        self.count = self.count.wrapping_add(self.verify(number));
        self.count
    }
}

#[inline(never)]
pub fn dynamic(server: &mut dyn Server, number: u64) -> u64 {
    let _entered = enter!(group::AGENT, "dynamic");
    server.run(number)
}

#[inline(never)]
pub fn nested(number: u64) -> u64 {
    let outer = managed_span!(group::JOB, span::JOB);
    let _outer = enter!(outer);
    let first = {
        let _inner = enter!(group::ROLLOUT, span::ROLLOUT, "number" => number);
        let _innermost = enter!(group::AGENT, span::AGENT_RUN);
        work(number)
    };
    let second = {
        let _inner = enter!(group::ROLLOUT, span::ROLLOUT, "first" => first);
        work(first)
    };
    first ^ second
}

#[inline(never)]
pub fn arguments_that_would_panic(numbers: &[u64]) -> u64 {
    let _span = managed_span!(group::AGENT, "panics", "first" => numbers[100], "division" => 1 / numbers.len());
    set_span_attributes!("never" => { assert!(numbers.is_empty(), "not evaluated"); 1 });
    numbers.iter().sum()
}

#[inline(never)]
pub fn arguments_that_would_allocate(number: u64) -> u64 {
    let _span = managed_span!(group::AGENT, format!("run {number}"), "text" => format!("{number:?}"), "list" => vec![number as i64; 9]);
    add_event!("seen", "text" => number.to_string());
    work(number)
}

#[inline(never)]
pub fn either_build(number: u64) -> u64 {
    if_telemetry!({ return work(work(number)); } else {
        work(number + 2)
    })
}

#[inline(never)]
pub fn clock(number: u64) -> u64 {
    let watch = stopwatch!();
    let number = work(number);
    set_span_attributes!("ms" => watch.elapsed().map(|elapsed| elapsed.as_secs_f64()));
    number
}

#[inline(never)]
pub fn closures(numbers: &[u64]) -> u64 {
    let _entered = enter!(group::AGENT, "closures", "count" => numbers.len());
    let odd = |number: &&u64| {
        let _inner = managed_span!(group::AGENT, "odd", "number" => **number);
        *number % 2 == 1
    };
    numbers.iter().filter(odd).map(|number| work(*number)).sum()
}

#[inline(never)]
pub fn expression_position(number: Option<u64>) -> u64 {
    match number {
        Some(number) if {
            add_event!("some", "number" => number);
            number > 1
        } => work(number),
        Some(_) | None => {
            add_event!("none");
            0
        }
    }
}

#[inline(never)]
pub fn drop_order(first: String, second: Vec<u8>) -> usize {
    let _entered = enter!(group::AGENT, "drop order", "first" => &first, "second" => second.len());
    let third = first.clone();
    let _span = managed_span!(group::AGENT, "third", "third" => &third);
    third.len() + second.len()
}

#[inline(never)]
pub async fn simple_async(number: u64) -> u64 {
    in_span!(group::AGENT, span::AGENT_RUN, "number" => number;
        Step::default()
    )
    .await
}

#[inline(never)]
pub async fn block_async(number: u64) -> Result<u64, String> {
    in_span!(group::ROLLOUT, span::ROLLOUT, attribute::ROLLOUT_ID => number, err;
        async {
            let first = check(number)? + Step::default().await;
            let second = Step::default().await;
            Ok::<u64, String>(work(first + second))
        }
    )
    .await
}

#[inline(never)]
pub async fn question_mark_async(number: u64) -> Result<u64, String> {
    let span = managed_span!(group::VERIFY, span::VERIFY, "number" => number);
    let number = check(number)?;
    let one = Step::default().await;
    set_span_attributes!(span; "one" => one);
    Ok(work(check(number - one)?))
}

#[inline(never)]
pub async fn loops_async(numbers: &[u64]) -> u64 {
    let mut sum = 0;
    for number in numbers {
        let span = managed_span!(group::AGENT, "turn", "number" => *number, "sum" => sum);
        if sum > 1_000_000 {
            return sum;
        }
        sum += work(*number) + Step::default().await;
        add_event!(span; "turned", "sum" => sum);
    }
    sum
}

#[inline(never)]
pub async fn guard_over_await(number: u64) -> u64 {
    let _entered = enter!(group::AGENT, "guard", "number" => number);
    let one = Step::default().await;
    let _second = enter!(group::AGENT, "second guard", "one" => one);
    one + Step::default().await
}

#[inline(never)]
pub async fn large_local(number: u64) -> u64 {
    let buffer = [number; 64];
    let span = managed_span!(group::AGENT, "large", "first" => &buffer[0], "length" => buffer.len());
    let one = Step::default().await;
    set_span_attributes!(span; "one" => one);
    one + Step::default().await
}

#[inline(never)]
pub async fn large_local_in_event(number: u64) -> u64 {
    let text = [number; 64];
    add_event!("large", "sum" => text.iter().sum::<u64>());
    let span = managed_span!(group::AGENT, "also large", "last" => text.last().copied());
    add_event!(span; "again", "first" => text.first().copied());
    Step::default().await
}

#[inline(never)]
pub async fn owned_local(number: u64) -> u64 {
    let name = format!("{number}");
    let span = managed_span!(group::AGENT, "owned", "name" => &name);
    let one = Step::default().await;
    set_span_attributes!(span; "name" => name.as_str());
    one + Step::default().await
}

#[inline(never)]
pub fn send_future(number: u64) -> impl Future<Output = u64> + Send {
    in_span!(group::AGENT, "send", "number" => number;
        async move { work(number) + Step::default().await }
    )
}

#[inline(never)]
pub fn boxed_future<'a>(text: &'a str, count: &'a mut u64) -> Pin<Box<dyn Future<Output = u64> + Send + 'a>> {
    let span = managed_span!(group::AGENT, "boxed", "text" => text);
    Box::pin(
        in_span!(span;
            async move {
                *count += Step::default().await;
                text.len() as u64 + *count
            }
        )
    )
}

#[inline(never)]
pub async fn nested_async(number: u64) -> u64 {
    in_span!(group::JOB, span::JOB;
        async {
            let first =
                in_span!(group::ROLLOUT, span::ROLLOUT, "number" => number;
                    simple_async(number)
                )
                .await;
            let inner = managed_span!(group::AGENT, "inner", "first" => first);
            let second =
                in_span!(inner;
                    simple_async(first)
                )
                .await;
            first ^ second
        }
    )
    .await
}

#[inline(never)]
pub async fn generic_async<T: Future<Output = u64>>(future: T, label: impl AsRef<str>) -> u64 {
    let span = managed_span!(group::AGENT, "generic", "label" => label.as_ref());
    let number =
        in_span!(span;
            future
        )
        .await;
    add_event!("generic", "label" => label.as_ref(), "number" => number);
    number + Step::default().await
}

#[inline(never)]
pub fn generic_async_instances(number: u64) -> impl Future<Output = u64> {
    generic_async(simple_async(number), String::from("label"))
}

#[inline(never)]
pub async fn clock_async(number: u64) -> u64 {
    let watch = stopwatch!();
    let one = Step::default().await;
    set_span_attributes!("ms" => watch.elapsed().map(|elapsed| elapsed.as_secs_f64()));
    number + one + Step::default().await
}

#[inline(never)]
pub async fn awaited(counter: &mut Counter) -> u64 {
    let first = counter.add_later("name").await;
    let second = send_future(first).await;
    let third = generic_async_instances(second).await;
    third ^ boxed_future("text", &mut counter.count).await
}
