//! `#[trace_fn]` leaves a function as it was, in both builds.

#![allow(
    clippy::needless_pass_by_value,
    clippy::unused_async,
    reason = "the forms of parameters and results are what is tested"
)]

mod support;

use std::fmt::Debug;

use gym_telemetry_api::{SpanKind, group, trace_fn};
use support::{Failed, Log, Noisy, block_on, poll, yield_once};

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
