//! `#[trace_fn]` understands every form of function, in both builds.

#![allow(
    clippy::needless_pass_by_value,
    clippy::needless_return,
    clippy::toplevel_ref_arg,
    clippy::trivially_copy_pass_by_ref,
    clippy::unused_async,
    reason = "the forms of parameters and results are what is tested"
)]

mod support;

use std::fmt::Debug;
use std::pin::Pin;

use gym_telemetry_api::{group, trace_fn};
use support::{Counter, Failed, block_on, yield_once};

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

#[derive(Default)]
struct Account {
    name: String,
    total: u32,
}

#[trace_fn(group::AGENT, "generic", "value" => format!("{value:?}"))]
fn generic<'a, F, T: Debug + Clone, const N: usize>(value: &'a T, f: F) -> [T; N]
where
    F: Fn(&'a T) -> T + 'a,
{
    std::array::from_fn(|_| f(value))
}

#[trace_fn(group::AGENT, "generic", "value" => format!("{value:?}"))]
async fn generic_async<F: Fn(T) -> Vec<T>, T: Debug>(
    value: T,
    f: F,
    _unused: impl Debug,
) -> Vec<T> {
    yield_once().await;
    f(value)
}

#[trace_fn(group::AGENT, "patterns", err, "x" => x)]
fn patterns(
    &Point { x, y: ref down }: &Point,
    [first, .., last]: [u32; 3],
    ref borrowed: String,
    whole @ (left, _): (u32, u32),
    #[allow(unused_mut, reason = "attributes of parameters stay with them")] mut counted: u32,
) -> Result<u32, Failed> {
    counted += x + *down + first + last + left + whole.1;
    Ok(counted + u32::try_from(borrowed.len()).map_err(|_| Failed(1))?)
}

#[derive(Clone, Copy)]
struct Point {
    x: u32,
    y: u32,
}

#[test]
fn generics_and_patterns_of_every_kind_are_understood() {
    assert_eq!(generic(&1, |n| n + 1), [2, 2]);
    assert_eq!(block_on(generic_async(1, |n| vec![n, n], "unused")), [1, 1]);
    let point = Point { x: 1, y: 2 };
    assert_eq!(
        patterns(&point, [3, 9, 4], "five!".to_owned(), (6, 7), 100),
        Ok(128)
    );
}

#[trace_fn(group::AGENT, "boxed", err, "text" => text)]
fn boxed<'a>(text: &'a str, counter: &Counter) -> Boxed<'a, Result<u32, Failed>> {
    counter.value();
    Box::pin(async move {
        yield_once().await;
        let number = text.parse::<u32>()?;
        Ok(number)
    })
}

#[trace_fn(group::AGENT, "boxed", "left" => left)]
fn boxed_path(left: u32) -> Pin<Box<dyn Future<Output = u32>>> {
    if left == 0 {
        return ::std::boxed::Box::pin(async { 0 });
    }
    return ::std::boxed::Box::pin(async move {
        let rest: u32 = boxed_path(left - 1).await;
        rest + 1
    });
}

#[async_trait::async_trait]
trait Tool {
    async fn call(&mut self, argument: &str) -> Result<usize, Failed>;

    #[trace_fn(group::AGENT, "default", "argument" => argument)]
    async fn call_twice(&mut self, argument: &str) -> Result<usize, Failed>
    where
        Self: Send,
    {
        Ok(self.call(argument).await? + self.call(argument).await?)
    }
}

#[async_trait::async_trait]
impl Tool for Account {
    #[trace_fn(group::AGENT, "call", err, "account" => self.name, "argument" => argument)]
    async fn call(&mut self, argument: &str) -> Result<usize, Failed> {
        yield_once().await;
        if argument.is_empty() {
            return Err(Failed(self.total));
        }
        Ok(argument.len())
    }
}

#[test]
fn boxed_futures_work() {
    let counter = Counter::default();
    let future = boxed("7", &counter);
    assert_eq!(counter.count(), 1, "what is before the future runs at once");
    assert_eq!(block_on(future), Ok(7));
    assert_eq!(block_on(boxed("x", &counter)), Err(Failed(0)));
    assert_eq!(block_on(boxed_path(3)), 3);
    let mut account = Account {
        total: 5,
        ..Account::default()
    };
    assert_eq!(block_on(account.call_twice("abc")), Ok(6));
    assert_eq!(block_on(account.call("")), Err(Failed(5)));
}

trait Native {
    #[trace_fn(group::AGENT, "native", "n" => n)]
    async fn double(&self, n: u32) -> u32 {
        yield_once().await;
        n * 2
    }
}

impl Native for Account {}

macro_rules! functions {
    ($($(#[$attribute:meta])* $visibility:vis fn $name:ident($($parameter:ident: $type:ty),*) -> $output:ty $body:block)*) => {$(
        $(#[$attribute])*
        #[trace_fn(group::AGENT, stringify!($name))]
        $visibility fn $name($($parameter: $type),*) -> $output $body

        paste_async!($name, $output, $body, $($parameter: $type),*);
    )*};
}

macro_rules! paste_async {
    (made, $output:ty, $body:block, $($parameter:ident: $type:ty),*) => {
        #[trace_fn(group::AGENT, "made", err, crate = ::gym_telemetry_api)]
        pub(crate) async fn made_async($($parameter: $type),*) -> Result<$output, Failed> {
            yield_once().await;
            Ok($body)
        }
    };
}

functions! {
    /// A documented function.
    pub(crate) fn made(a: u32, b: u32) -> u32 { a + b }
}

#[trace_fn(group::AGENT, "foreign")]
extern "C" fn foreign(number: u32) -> u32 {
    #![allow(clippy::let_and_return, reason = "inner attributes stay first")]
    let doubled = number * 2;
    doubled
}

#[trace_fn(group::AGENT, "empty")]
fn empty() {}

#[trace_fn(group::AGENT, "recursive", "n" => n)]
fn recursive(n: u32) -> u32 {
    if n == 0 { 0 } else { 1 + recursive(n - 1) }
}

#[test]
fn functions_from_macros_traits_and_elsewhere_are_understood() {
    assert_eq!(made(1, 2), 3);
    assert_eq!(block_on(made_async(1, 2)), Ok(3));
    assert_eq!(block_on(Account::default().double(2)), 4);
    assert_eq!(foreign(2), 4);
    empty();
    assert_eq!(recursive(3), 3);
}
