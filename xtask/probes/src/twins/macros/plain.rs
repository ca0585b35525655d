//! `instrumented.rs` without the macros, line for line.

use gym_telemetry_api as _; // The same crates are linked.

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
    //
    work(number)
}

#[inline(never)]
pub fn ungated(number: u64) -> u64 {
    //
    work(number)
}

#[inline(never)]
pub fn options(number: u64) -> u64 {
    //
        //
        //
        //
        //
        //
    //
    work(number)
}

#[inline(never)]
pub fn entered(number: u64) -> u64 {
    //
    work(number)
}

#[inline(never)]
pub fn question_mark(number: u64) -> Result<u64, String> {
    //
    let number = check(number)?;
    //
    Ok(work(check(number - 1)?))
}

#[inline(never)]
pub fn early_return(number: u64) -> u64 {
    //
    if number > 10 {
        //
        return work(number);
    }
    //
    work(work(number))
}

#[inline(never)]
pub fn loops(numbers: &[u64]) -> u64 {
    let mut sum = 0;
    //
    for number in numbers {
        //
        if *number == 7 {
            //
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
    //
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
        //
        self.count += work(number);
        self
    }

    #[inline(never)]
    pub async fn add_later(&mut self, name: &str) -> u64 {
        //
        self.count += Step::default().await;
        //
        self.names.push(name.to_owned());
        self.count
    }
}

pub trait Server {
    #[inline(never)]
    fn verify(&self, number: u64) -> u64 {
        //
        work(number)
    }

    fn run(&mut self, number: u64) -> u64;
}

impl Server for Counter {
    #[inline(never)]
    fn run(&mut self, number: u64) -> u64 {
        //
        self.count = self.count.wrapping_add(self.verify(number));
        self.count
    }
}

#[inline(never)]
pub fn dynamic(server: &mut dyn Server, number: u64) -> u64 {
    //
    server.run(number)
}

#[inline(never)]
pub fn nested(number: u64) -> u64 {
    //
    //
    let first = {
        //
        //
        work(number)
    };
    let second = {
        //
        work(first)
    };
    first ^ second
}

#[inline(never)]
pub fn arguments_that_would_panic(numbers: &[u64]) -> u64 {
    //
    //
    numbers.iter().sum()
}

#[inline(never)]
pub fn arguments_that_would_allocate(number: u64) -> u64 {
    //
    //
    work(number)
}

#[inline(never)]
pub fn either_build(number: u64) -> u64 {
    {
        work(number + 2)
    }
}

#[inline(never)]
pub fn clock(number: u64) -> u64 {
    //
    let number = work(number);
    //
    number
}

#[inline(never)]
pub fn closures(numbers: &[u64]) -> u64 {
    //
    let odd = |number: &&u64| {
        //
        *number % 2 == 1
    };
    numbers.iter().filter(odd).map(|number| work(*number)).sum()
}

#[inline(never)]
pub fn expression_position(number: Option<u64>) -> u64 {
    match number {
        Some(number) if {
            //
            number > 1
        } => work(number),
        Some(_) | None => {
            //
            0
        }
    }
}

#[inline(never)]
pub fn drop_order(first: String, second: Vec<u8>) -> usize {
    //
    let third = first.clone();
    //
    third.len() + second.len()
}

#[inline(never)]
pub async fn simple_async(number: u64) -> u64 {
    //
        Step::default()
    //
    .await
}

#[inline(never)]
pub async fn block_async(number: u64) -> Result<u64, String> {
    //
        async {
            let first = check(number)? + Step::default().await;
            let second = Step::default().await;
            Ok::<u64, String>(work(first + second))
        }
    //
    .await
}

#[inline(never)]
pub async fn question_mark_async(number: u64) -> Result<u64, String> {
    //
    let number = check(number)?;
    let one = Step::default().await;
    //
    Ok(work(check(number - one)?))
}

#[inline(never)]
pub async fn loops_async(numbers: &[u64]) -> u64 {
    let mut sum = 0;
    for number in numbers {
        //
        if sum > 1_000_000 {
            return sum;
        }
        sum += work(*number) + Step::default().await;
        //
    }
    sum
}

#[inline(never)]
pub async fn guard_over_await(number: u64) -> u64 {
    //
    let one = Step::default().await;
    //
    one + Step::default().await
}

#[inline(never)]
pub async fn large_local(number: u64) -> u64 {
    let buffer = [number; 64];
    //
    let one = Step::default().await;
    //
    one + Step::default().await
}

#[inline(never)]
pub async fn large_local_in_event(number: u64) -> u64 {
    let text = [number; 64];
    //
    //
    //
    Step::default().await
}

#[inline(never)]
pub async fn owned_local(number: u64) -> u64 {
    let name = format!("{number}");
    //
    let one = Step::default().await;
    //
    one + Step::default().await
}

#[inline(never)]
pub fn send_future(number: u64) -> impl Future<Output = u64> + Send {
    //
        async move { work(number) + Step::default().await }
    //
}

#[inline(never)]
pub fn boxed_future<'a>(text: &'a str, count: &'a mut u64) -> Pin<Box<dyn Future<Output = u64> + Send + 'a>> {
    //
    Box::pin(
        //
            async move {
                *count += Step::default().await;
                text.len() as u64 + *count
            }
        //
    )
}

#[inline(never)]
pub async fn nested_async(number: u64) -> u64 {
    //
        async {
            let first =
                //
                    simple_async(number)
                //
                .await;
            //
            let second =
                //
                    simple_async(first)
                //
                .await;
            first ^ second
        }
    //
    .await
}

#[inline(never)]
pub async fn generic_async<T: Future<Output = u64>>(future: T, label: impl AsRef<str>) -> u64 {
    //
    let number =
        //
            future
        //
        .await;
    //
    number + Step::default().await
}

#[inline(never)]
pub fn generic_async_instances(number: u64) -> impl Future<Output = u64> {
    generic_async(simple_async(number), String::from("label"))
}

#[inline(never)]
pub async fn clock_async(number: u64) -> u64 {
    //
    let one = Step::default().await;
    //
    number + one + Step::default().await
}

#[inline(never)]
pub async fn awaited(counter: &mut Counter) -> u64 {
    let first = counter.add_later("name").await;
    let second = send_future(first).await;
    let third = generic_async_instances(second).await;
    third ^ boxed_future("text", &mut counter.count).await
}
