//! `#[trace_fn]` leaves a function as it was, in both builds.

#![allow(
    clippy::needless_pass_by_value,
    clippy::needless_return,
    clippy::toplevel_ref_arg,
    clippy::trivially_copy_pass_by_ref,
    clippy::unused_async,
    reason = "the forms of parameters and results are what is tested"
)]

mod support;

use std::fmt::{Debug, Display};
use std::pin::Pin;

use gym_telemetry_api::{SpanKind, group, trace_fn};
use support::{Counter, Log, Noisy, block_on, poll, yield_once};

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

mod plain {
    use super::*;

    pub(super) fn order(
        log: &Log,
        _first: Noisy,
        second: Noisy,
        (third, _): (Noisy, Noisy),
        mut fourth: Noisy,
    ) {
        let _local = log.noisy("local");
        drop(std::mem::replace(&mut fourth, log.noisy("new fourth")));
        log.note("body");
        drop(second);
        let _ = &third;
    }
}

mod traced {
    use super::*;

    #[trace_fn(group::AGENT, "order")]
    pub(super) fn order(
        log: &Log,
        _first: Noisy,
        second: Noisy,
        (third, _): (Noisy, Noisy),
        mut fourth: Noisy,
    ) {
        let _local = log.noisy("local");
        drop(std::mem::replace(&mut fourth, log.noisy("new fourth")));
        log.note("body");
        drop(second);
        let _ = &third;
    }

    #[trace_fn(group::AGENT, "order", err)]
    pub(super) fn order_err(
        log: &Log,
        first: Noisy,
        second: Noisy,
        (third, fourth): (Noisy, Noisy),
        mut fifth: Noisy,
    ) -> Result<(), String> {
        let _local = log.noisy("local");
        drop(std::mem::replace(&mut fifth, log.noisy("new fifth")));
        log.note("body");
        drop(second);
        let _ = (&first, &third, &fourth);
        Ok(())
    }

    #[trace_fn(group::AGENT, "order")]
    pub(super) async fn order_async(
        log: &Log,
        first: Noisy,
        second: Noisy,
        (third, fourth): (Noisy, Noisy),
        mut fifth: Noisy,
    ) {
        let _local = log.noisy("local");
        drop(std::mem::replace(&mut fifth, log.noisy("new fifth")));
        yield_once().await;
        log.note("body");
        drop(second);
        let _ = (&first, &third, &fourth);
    }
}

#[test]
fn a_sync_function_drops_in_the_same_order() {
    let log = Log::default();
    let make = |name| log.noisy(name);
    plain::order(
        &log,
        make("first"),
        make("second"),
        (make("third"), make("rest")),
        make("fourth"),
    );
    let expected = log.take();
    traced::order(
        &log,
        make("first"),
        make("second"),
        (make("third"), make("rest")),
        make("fourth"),
    );
    assert_eq!(log.take(), expected);
}

#[test]
fn a_function_with_err_and_an_async_function_drop_their_parameters_last_one_first() {
    let log = Log::default();
    let make = |name| log.noisy(name);
    let expected = [
        "fifth",
        "body",
        "second",
        "local",
        "new fifth",
        "fourth",
        "third",
        "first",
    ];
    let done = traced::order_err(
        &log,
        make("first"),
        make("second"),
        (make("third"), make("fourth")),
        make("fifth"),
    );
    assert_eq!(done, Ok(()));
    assert_eq!(log.take(), expected);
    block_on(traced::order_async(
        &log,
        make("first"),
        make("second"),
        (make("third"), make("fourth")),
        make("fifth"),
    ));
    assert_eq!(log.take(), expected);
}

#[derive(Debug, PartialEq)]
struct Failed(u32);

impl Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "failed at {}", self.0)
    }
}

impl From<std::num::ParseIntError> for Failed {
    fn from(_: std::num::ParseIntError) -> Failed {
        Failed(0)
    }
}

#[derive(Debug, Default)]
struct Account {
    name: String,
    total: u32,
}

impl Account {
    #[trace_fn(group::AGENT, "add", "by" => by, "account" => self.name)]
    fn add(&mut self, by: u32) -> &mut Account {
        self.total += by;
        self
    }

    #[trace_fn(group::AGENT, "total", err, "account" => self.name)]
    fn total_mut(&mut self, limit: u32) -> Result<&mut u32, Failed> {
        if self.total > limit {
            return Err(Failed(self.total));
        }
        Ok(&mut self.total)
    }

    #[trace_fn(group::AGENT, "total", err, "account" => self.name)]
    async fn total_mut_async(&mut self, limit: u32) -> Result<&mut u32, Failed> {
        yield_once().await;
        if self.total > limit {
            return Err(Failed(self.total));
        }
        Ok(&mut self.total)
    }

    #[trace_fn(group::AGENT, "into name")]
    async fn into_name(self) -> String {
        self.name
    }

    #[trace_fn(group::AGENT, "into name", err)]
    fn into_total(self) -> Result<u32, Failed> {
        let Account { total, .. } = self;
        Ok(total)
    }

    #[trace_fn(group::AGENT, "shared")]
    fn shared(self: std::sync::Arc<Self>) -> usize {
        std::sync::Arc::strong_count(&self)
    }
}

#[test]
fn methods_work_on_every_kind_of_self() {
    let mut account = Account {
        name: "a".to_owned(),
        total: 1,
    };
    account.add(1).add(1);
    *account.total_mut(10).expect("below the limit") += 1;
    assert_eq!(account.total_mut(3), Err(Failed(4)));
    *block_on(account.total_mut_async(10)).expect("below the limit") += 1;
    assert_eq!(block_on(account.total_mut_async(3)), Err(Failed(5)));
    assert_eq!(block_on(account.into_name()), "a");
    assert_eq!(
        Account {
            name: String::new(),
            total: 7
        }
        .into_total(),
        Ok(7)
    );
    assert_eq!(std::sync::Arc::new(Account::default()).shared(), 1);
}

#[trace_fn(group::AGENT, "parse", err, "text" => text)]
fn parse(text: &str) -> Result<u32, Failed> {
    let number: u32 = text.parse()?;
    if number == 13 {
        return Err(Failed(13));
    }
    Ok(number)
}

#[trace_fn(group::AGENT, "parse", "text" => text, err, kind: SpanKind::Client, "length" => text.len(),)]
async fn parse_async(text: &str) -> Result<u32, Failed> {
    let number: u32 = text.parse()?;
    yield_once().await;
    if number == 13 {
        return Err(Failed(13));
    }
    Ok(number)
}

#[test]
fn question_marks_and_early_returns_work() {
    assert_eq!(parse("1"), Ok(1));
    assert_eq!(parse("x"), Err(Failed(0)));
    assert_eq!(parse("13"), Err(Failed(13)));
    assert_eq!(block_on(parse_async("1")), Ok(1));
    assert_eq!(block_on(parse_async("x")), Err(Failed(0)));
    assert_eq!(block_on(parse_async("13")), Err(Failed(13)));
}

#[trace_fn(group::AGENT, "coerce")]
async fn coerce(texts: bool) -> Box<dyn Debug> {
    if texts {
        return Box::new("text");
    }
    Box::new(1)
}

#[trace_fn(group::AGENT, "coerce", err)]
fn coerce_err(texts: bool) -> Result<Box<dyn Debug>, Box<dyn std::error::Error>> {
    if !texts {
        Err("no text")?;
    }
    Ok(Box::new("text"))
}

#[trace_fn(group::AGENT, "opaque", err)]
fn opaque(limit: u32) -> Result<impl Iterator<Item = u32>, Failed> {
    if limit == 0 {
        return Err(Failed(0));
    }
    Ok(0..limit)
}

#[trace_fn(group::AGENT, "opaque")]
async fn opaque_async(limit: u32) -> impl Iterator<Item = u32> {
    0..limit
}

#[trace_fn(group::AGENT, "never")]
fn never(message: &'static str) -> ! {
    panic!("{message}")
}

#[trace_fn(group::AGENT, "never")]
async fn never_async(message: &'static str) -> ! {
    yield_once().await;
    panic!("{message}")
}

#[test]
fn return_types_infer_and_coerce_as_before() {
    assert_eq!(format!("{:?}", block_on(coerce(true))), "\"text\"");
    assert_eq!(format!("{:?}", block_on(coerce(false))), "1");
    assert_eq!(format!("{:?}", coerce_err(true).expect("text")), "\"text\"");
    assert!(coerce_err(false).is_err());
    assert_eq!(opaque(3).map(Iterator::count), Ok(3));
    assert_eq!(block_on(opaque_async(3)).sum::<u32>(), 3);
    let panic = std::panic::catch_unwind(|| never("sync")).expect_err("it panics");
    assert_eq!(
        panic.downcast_ref::<String>().map(String::as_str),
        Some("sync")
    );
    assert!(std::panic::catch_unwind(|| block_on(never_async("async"))).is_err());
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

#[test]
fn a_future_runs_only_when_it_is_polled_and_can_be_cancelled() {
    let log = Log::default();
    let make = |name| log.noisy(name);
    let future = traced::order_async(
        &log,
        make("first"),
        make("second"),
        (make("third"), make("fourth")),
        make("fifth"),
    );
    assert_eq!(log.take(), [""; 0]);
    let mut future = Box::pin(future);
    assert!(poll(future.as_mut()).is_pending());
    assert_eq!(log.take(), ["fifth"]);
    drop(future);
    assert_eq!(
        log.take(),
        ["local", "new fifth", "fourth", "third", "second", "first"]
    );
}

#[test]
fn futures_of_traced_functions_can_be_sent() {
    fn assert_send<T: Send>(_: &T) {}
    let future = parse_async("1");
    assert_send(&future);
    let mut account = Account::default();
    let future = account.total_mut_async(1);
    assert_send(&future);
    drop(future);
}
