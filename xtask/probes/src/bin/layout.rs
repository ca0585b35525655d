//! Prints what telemetry adds to the layout of types; fails if it adds anything.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "what it prints is its result")]

use std::any::TypeId;
use std::collections::VecDeque;
use std::future::Ready;
use std::mem::{needs_drop, size_of, size_of_val};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::time::Duration;

use gym_concurrency::{ConcurrencyComponent, MeteredSemaphore};
use gym_telemetry_api::{
    Attributes, Context, ContextGuard, Entered, InContext, InSpan, InSpanErr, Span, Stopwatch,
};
use noop_probes::twins::{attribute, macros, wrappers};
use tokio::sync::{Notify, Semaphore};

/// Counts what does not hold.
#[derive(Debug, Default)]
struct Report {
    failures: usize,
}

impl Report {
    fn line(&mut self, holds: bool, what: &str) {
        println!("{} {what}", if holds { "ok  " } else { "FAIL" });
        self.failures += usize::from(!holds);
    }

    fn zero_sized<T>(&mut self, name: &str) {
        let (size, drops) = (size_of::<T>(), needs_drop::<T>());
        self.line(
            size == 0 && !drops,
            &format!("{name}: {size} bytes, needs drop: {drops}"),
        );
    }

    fn same_type<T: 'static, U: 'static>(&mut self, name: &str) {
        let same = TypeId::of::<T>() == TypeId::of::<U>();
        self.line(same, &format!("{name} is its future: {same}"));
    }

    fn same_size<T, U>(&mut self, name: &str, instrumented: &T, plain: &U) {
        let (one, other) = (size_of_val(instrumented), size_of_val(plain));
        self.line(
            one == other,
            &format!("future of {name}: {one} bytes, plain {other}"),
        );
    }

    fn counters_only(&mut self) {
        let semaphore = MeteredSemaphore::new(1, ConcurrencyComponent::ModelServer, "probe")
            .expect("one is a limit")
            .with_server_name("probe");
        let (size, most) = (size_of_val(&semaphore), size_of::<Counters>());
        let names = semaphore.attributes().len();
        self.line(
            size <= most && names == 0,
            &format!("MeteredSemaphore: {size} bytes, its counters {most}, {names} names"),
        );
    }
}

/// What a semaphore cannot do without: it limits, times out, shrinks and answers what it is doing.
type Counters = (
    Semaphore,
    // The limit, and what a smaller one still has to take back.
    [AtomicUsize; 2],
    // Callers, and whether they are listed.
    (AtomicU64, AtomicBool),
    // Callers that wait for several slots, the number of the next, and how many there are.
    Mutex<(VecDeque<(u64, u32)>, u64, usize)>,
    // Tells them of a smaller limit.
    Notify,
    // The admission timeout.
    Option<Duration>,
);

fn main() -> ExitCode {
    let mut report = Report::default();
    report.zero_sized::<Span>("Span");
    report.zero_sized::<Entered>("Entered");
    report.zero_sized::<Attributes<'static>>("Attributes");
    report.zero_sized::<Context>("Context");
    report.zero_sized::<ContextGuard>("ContextGuard");
    report.zero_sized::<Stopwatch>("Stopwatch");
    report.counters_only();
    report.same_type::<InSpan<Ready<u8>>, Ready<u8>>("InSpan");
    report.same_type::<InSpanErr<Ready<Result<u8, u8>>>, Ready<Result<u8, u8>>>("InSpanErr");
    report.same_type::<InContext<Ready<u8>>, Ready<u8>>("InContext");

    macro_rules! futures {
        ($($module:ident::$function:ident($($argument:expr),*);)*) => {$(
            report.same_size(
                concat!(stringify!($module), "::", stringify!($function)),
                &$module::instrumented::$function($($argument),*),
                &$module::plain::$function($($argument),*),
            );
        )*};
    }
    futures! {
        attribute::drop_order_async(String::new(), Vec::new(), Vec::new());
        attribute::early_return_async(&[1]);
        attribute::generic_async_instances(1);
        attribute::large_parameter([1; 64]);
        attribute::nested_async(1);
        attribute::question_mark_async(1);
        attribute::send_future(1);
        attribute::simple_async(1);
        macros::block_async(1);
        macros::clock_async(1);
        macros::generic_async_instances(1);
        macros::guard_over_await(1);
        macros::large_local(1);
        macros::large_local_in_event(1);
        macros::loops_async(&[1]);
        macros::nested_async(1);
        macros::owned_local(1);
        macros::question_mark_async(1);
        macros::send_future(1);
        macros::simple_async(1);
        wrappers::dropped_between_awaits(1);
        wrappers::in_context(1);
        wrappers::in_span(1);
        wrappers::in_span_err(1);
        wrappers::large_local(1);
    }
    if report.failures == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
