//! What the facade's types are made of.

mod support;

use std::mem::{needs_drop, size_of_val};
use std::panic::{RefUnwindSafe, UnwindSafe};

use gym_telemetry_api::{
    Attributes, Context, ContextGuard, Entered, FutureExt, Parent, Span, SpanOptions, Status,
    Stopwatch, TELEMETRY_COMPILED_IN, TelemetryHandle, add_event, enter, group, if_telemetry,
    in_span, managed_span, set_span_attributes, stopwatch, trace_fn,
};
use support::yield_once;

/// The answer for types that do not implement the trait in question.
trait No {
    const ANSWER: bool = false;
}

impl<T: ?Sized> No for T {}

/// Whether a type implements a trait, as a value.
macro_rules! implements {
    ($type:ty: $trait:path) => {{
        struct Question<T: ?Sized>(std::marker::PhantomData<T>);
        #[allow(dead_code, reason = "of use for types that do implement it")]
        impl<T: ?Sized + $trait> Question<T> {
            const ANSWER: bool = true;
        }
        <Question<$type>>::ANSWER
    }};
}

macro_rules! assert_implements {
    ($($type:ty: $($trait:ident = $expected:literal)+;)*) => {$($(
        assert_eq!(implements!($type: $trait), $expected, "{}: {}", stringify!($type), stringify!($trait));
    )+)*};
}

#[test]
fn both_builds_agree_on_what_can_be_sent_shared_and_copied() {
    assert_implements! {
        Span: Send = true Sync = false Unpin = true Clone = false Copy = false Default = true;
        Entered: Send = false Sync = false Unpin = true Clone = false Copy = false Default = false;
        Context: Send = true Sync = true Unpin = true Clone = true Copy = false Default = true;
        ContextGuard: Send = false Sync = false Unpin = true Clone = false Copy = false Default = false;
        Parent<'static>: Send = true Sync = true Unpin = true Clone = true Copy = true Default = true;
        SpanOptions<'static>: Send = true Sync = true Unpin = true Clone = true Copy = true Default = true;
        Status: Send = true Sync = true Unpin = true Clone = true Copy = false Default = true;
        Attributes<'static>: Send = false Sync = false Unpin = true Clone = false Copy = false Default = false;
        Stopwatch: Send = true Sync = true Unpin = true Clone = true Copy = false Default = false;
        TelemetryHandle: Send = true Sync = true Unpin = true Clone = true Copy = true Default = false;
        Span: UnwindSafe = true RefUnwindSafe = true;
        Entered: UnwindSafe = true RefUnwindSafe = true;
        Context: UnwindSafe = true RefUnwindSafe = true;
        ContextGuard: UnwindSafe = true RefUnwindSafe = true;
        Parent<'static>: UnwindSafe = true RefUnwindSafe = true;
        SpanOptions<'static>: UnwindSafe = true RefUnwindSafe = true;
        Status: UnwindSafe = true RefUnwindSafe = true;
        Attributes<'static>: UnwindSafe = false RefUnwindSafe = true;
        Stopwatch: UnwindSafe = true RefUnwindSafe = true;
        TelemetryHandle: UnwindSafe = true RefUnwindSafe = true;
    }
}

#[test]
fn compiled_out_the_types_are_nothing() {
    if TELEMETRY_COMPILED_IN {
        return;
    }
    assert_eq!(
        size_of::<(
            Span,
            Entered,
            Context,
            ContextGuard,
            Stopwatch,
            Attributes<'_>
        )>(),
        0
    );
    assert_eq!(size_of::<Option<TelemetryHandle>>(), 0);
    assert!(!needs_drop::<Span>());
    assert!(!needs_drop::<Entered>());
    assert!(!needs_drop::<Context>());
    assert!(!needs_drop::<ContextGuard>());
    assert!(!needs_drop::<Stopwatch>());
    assert!(!needs_drop::<(Parent<'_>, SpanOptions<'_>)>());
}

// Only a build in which a wrapped future is the future itself accepts this.
if_telemetry!(items {} else {
    #[allow(dead_code, reason = "it is enough that it compiles")]
    fn a_wrapped_future_is_the_future_itself<F>(
        in_span: gym_telemetry_api::InSpan<F>,
        in_span_err: gym_telemetry_api::InSpanErr<F>,
        in_context: gym_telemetry_api::InContext<F>,
    ) -> [F; 3] {
        [in_span, in_span_err, in_context]
    }
});

async fn plain(seed: u8) -> u64 {
    let big = [seed; 512];
    yield_once().await;
    u64::from(big[7])
}

async fn with_macros(seed: u8) -> u64 {
    let watch = stopwatch!();
    let big = [seed; 512];
    let span =
        managed_span!(group::ROLLOUT, "rollout", "big" => big[3], "first" => u64::from(big[0]));
    {
        let _entered = enter!(group::AGENT, "agent", "big" => big[1]);
    }
    yield_once().await;
    set_span_attributes!(span; "took" => watch.elapsed().map(|time| time.as_secs_f64()), "big" => big[2]);
    add_event!(span; "event", "big" => big[4]);
    u64::from(big[7])
}

#[trace_fn(group::AGENT, "traced", "seed" => seed)]
async fn with_attribute(seed: u8) -> u64 {
    let big = [seed; 512];
    yield_once().await;
    u64::from(big[7])
}

#[trace_fn(group::AGENT, "traced", err, "seed" => seed)]
async fn with_fallible_attribute(seed: u8) -> Result<u64, std::fmt::Error> {
    let big = [seed; 512];
    yield_once().await;
    Ok(u64::from(big[7]))
}

/// The local serves telemetry only, and is borrowed by it across the await.
async fn plain_and_short(seed: u8) -> u64 {
    let big = [seed; 512];
    let first = u64::from(big[0]);
    yield_once().await;
    first
}

async fn borrowed_across_the_await(seed: u8) -> u64 {
    let big = [seed; 512];
    let first = u64::from(big[0]);
    let span = managed_span!(group::ROLLOUT, "rollout", "big" => big.map(i64::from));
    yield_once().await;
    set_span_attributes!(span; "big" => big.map(i64::from));
    first
}

#[test]
fn compiled_out_futures_are_as_large_as_without() {
    if TELEMETRY_COMPILED_IN {
        return;
    }
    let size = size_of_val(&plain(1));
    assert_eq!(size_of_val(&with_macros(1)), size);
    assert_eq!(size_of_val(&with_attribute(1)), size);
    assert_eq!(
        size_of_val(&in_span!(group::ROLLOUT, "wrapped", "one" => 1; plain(1))),
        size
    );
    assert_eq!(
        size_of_val(&in_span!(group::ROLLOUT, "wrapped"; with_macros(1)).in_current_context()),
        size
    );

    let size = size_of_val(&plain_and_short(1));
    assert!(size < 512, "the local is not needed after the await");
    assert_eq!(size_of_val(&borrowed_across_the_await(1)), size);
}

#[test]
fn a_future_in_a_span_is_held_once() {
    let alone = size_of_val(&plain(1));
    for wrapped in [
        size_of_val(&in_span!(group::ROLLOUT, "wrapped", "one" => 1; plain(1))),
        size_of_val(&in_span!(group::ROLLOUT, "wrapped", err; with_fallible_attribute(1))),
        size_of_val(&with_attribute(1)),
        size_of_val(&with_fallible_attribute(1)),
    ] {
        assert!(wrapped < alone + 256, "{wrapped} bytes around {alone}");
    }
}

#[test]
fn twins_return_the_same() {
    assert_eq!(
        support::block_on(with_macros(5)),
        support::block_on(plain(5))
    );
    assert_eq!(
        support::block_on(with_attribute(5)),
        support::block_on(plain(5))
    );
    assert_eq!(
        support::block_on(borrowed_across_the_await(5)),
        support::block_on(plain_and_short(5))
    );
}
