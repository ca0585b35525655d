//! The macros, in both builds, in a process that records nothing.

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};

use gym_telemetry_api::{
    Context, FutureExt, Parent, Span, SpanContext, SpanKind, add_event, attribute, carry, enter,
    group, if_telemetry, in_span, is_span_group_enabled, managed_span, set_span_attributes, span,
    stopwatch,
};
use support::{Counter, block_on, yield_once};

fn bomb() -> u32 {
    panic!("an argument was evaluated")
}

fn bomb_name() -> &'static str {
    panic!("a name was evaluated")
}

fn bomb_parent<'a>() -> Parent<'a> {
    panic!("an option was evaluated")
}

#[test]
fn arguments_are_not_evaluated_while_nothing_is_recorded() {
    let counter = Counter::default();
    let span = managed_span!(group::ROLLOUT, bomb_name(), parent: bomb_parent(), bomb_name() => counter.value());
    let ungated = span!(bomb_name(), "a" => counter.value(), "b" => bomb());
    let entered = enter!(group::ROLLOUT, bomb_name(), "a" => counter.value());
    set_span_attributes!("a" => bomb(), "b" => counter.value());
    set_span_attributes!(span; bomb_name() => bomb());
    set_span_attributes!(entered; "a" => counter.value());
    add_event!(bomb_name(), "a" => bomb());
    add_event!(ungated; bomb_name(), "a" => counter.value());
    let done = block_on(
        in_span!(group::ROLLOUT, bomb_name(), "a" => counter.value(), err; async {
            Ok::<_, String>(7)
        }),
    );
    assert_eq!(done, Ok(7));
    assert_eq!(counter.count(), 0);
}

#[test]
fn nothing_is_recorded_unless_telemetry_is_started() {
    assert!(!is_span_group_enabled(&group::ROLLOUT));
    let span = managed_span!(group::ROLLOUT, "rollout");
    assert!(!span.is_recording());
    assert_eq!(span.context(), None);
    assert!(!span!("span").is_recording());
    assert_eq!(stopwatch!().elapsed(), None);
    assert_eq!(Context::current().span_context(), None);
}

#[test]
fn arguments_are_borrowed() {
    let name = String::from("3-1");
    let list = vec![1_i64, 2];
    let span =
        managed_span!(group::ROLLOUT, "rollout", attribute::ROLLOUT_ID => name, "list" => list);
    set_span_attributes!(span; attribute::ROLLOUT_ID => name, "list" => list);
    add_event!(span; "event", attribute::ROLLOUT_ID => name);
    assert_eq!((name.as_str(), list.len()), ("3-1", 2));
}

#[test]
fn arguments_of_every_kind_are_accepted() {
    struct Verdict;
    impl gym_telemetry_api::ToValue for Verdict {
        fn to_value(&self) -> Option<gym_telemetry_api::Value<'_>> {
            None
        }
    }
    const KEY: &str = "key";
    let text = String::from("text");
    let remote =
        SpanContext::from_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03");
    let remote = remote.expect("a valid header");
    let context = Context::root();
    let links = [remote.clone()];
    let span = managed_span!(
        &group::ROLLOUT,
        format!("{text} as a name"),
        kind: SpanKind::Client,
        parent: Parent::Remote(&remote),
        scope: "nemo.gym",
        record_exception: false,
        links: &links,
        KEY => "literal",
        "integer" => 1,
        "negative" => -1,
        "float" => 1.5,
        "bool" => true,
        "text" => text,
        "str" => &*text,
        "owned" => format!("{text}!"),
        "none" => None::<i64>,
        "some" => Some(&text),
        "texts" => ["a", "b"],
        "numbers" => vec![1_i64],
        "own type" => Verdict,
        "block" => {
            let mut sum = 0;
            for n in 0..3 {
                if n == 2 {
                    break;
                }
                sum += n;
            }
            sum
        },
        "closure" => [1_i64, 2].iter().map(|n| n.checked_add(1).ok_or(()).unwrap_or(0)).sum::<i64>(),
        format!("owned {KEY}") => 1,
    );
    drop(span);
    drop(managed_span!(group::ROLLOUT, "no attributes"));
    drop(managed_span!(group::ROLLOUT, "a comma",));
    drop(managed_span!(group::ROLLOUT, "an option only", parent: Parent::Context(&context)));
    drop(span!("no attributes"));
    drop(span!("an option only", kind: SpanKind::Server,));
    add_event!("no attributes");
    set_span_attributes!();
}

#[test]
fn a_group_may_be_chosen_at_run_time() {
    for group in [&group::ROLLOUT, &group::AGENT] {
        drop(managed_span!(group, group.name()));
        drop(managed_span!(*group, group.name()));
    }
}

#[test]
fn the_attributes_of_a_wrapped_future_may_borrow_what_the_future_moves() {
    let id = String::from("3-1");
    let length = block_on(
        in_span!(group::ROLLOUT, "rollout", attribute::ROLLOUT_ID => id; async move { id.len() }),
    );
    assert_eq!(length, 3);
}

#[test]
fn a_future_expression_is_evaluated_once_and_may_leave_the_function() {
    fn wrapped(input: Option<&Counter>) -> Option<impl Future<Output = u32>> {
        Some(in_span!(group::ROLLOUT, "rollout"; std::future::ready(input?.value())))
    }
    let counter = Counter::default();
    assert!(wrapped(None).is_none());
    assert_eq!(wrapped(Some(&counter)).map(block_on), Some(1));
    assert_eq!(counter.count(), 1);
}

#[test]
fn a_wrapped_future_returns_what_it_returns() {
    block_on(async {
        let span = managed_span!(group::ROLLOUT, "rollout");
        assert_eq!(in_span!(span; async { 1 }).await, 1);
        let failed = in_span!(span!("failing"), err; async {
            yield_once().await;
            "x".parse::<u8>()
        })
        .await;
        assert!(failed.is_err());
        let span = managed_span!(group::ROLLOUT, "rollout");
        assert_eq!(async { 2 }.in_span(span).await, 2);
        assert_eq!(
            async { Ok::<_, String>(3) }.in_span_err(Span::none()).await,
            Ok(3)
        );
        assert_eq!(async { 4 }.in_current_context().await, 4);
        assert_eq!(async { 5 }.in_context(Context::root()).await, 5);
    });
}

#[test]
fn wrapped_futures_nest_and_can_be_sent() {
    fn assert_send<T: Send>(value: T) -> T {
        value
    }
    let local = 5;
    let future = assert_send(
        in_span!(group::ROLLOUT, "outer", "local" => local; async move {
            let span = managed_span!(group::ROLLOUT, "held over an await", "local" => local);
            yield_once().await;
            set_span_attributes!(span; "local" => local);
            in_span!(group::AGENT, "inner", "local" => local; async move { local * 2 }).await
        }),
    );
    assert_eq!(
        std::thread::spawn(|| block_on(future))
            .join()
            .expect("no panic"),
        10
    );
}

#[test]
fn a_guard_can_be_dropped_ended_and_left() {
    let first = enter!(group::ROLLOUT, "first");
    let second = enter!(group::ROLLOUT, "second");
    drop(first);
    let span = second.exit();
    let third = enter!(span);
    third.set_attribute("key", 1);
    third.end();
    managed_span!(group::ROLLOUT, "fourth").end();
}

#[test]
fn a_panic_in_the_body_passes_through() {
    let result = catch_unwind(AssertUnwindSafe(|| {
        let _entered = enter!(group::ROLLOUT, "rollout");
        panic!("of the body");
    }));
    let panic = result.expect_err("it panicked");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"of the body"));
}

#[test]
fn carried_work_runs_and_returns() {
    let text = String::from("carried");
    let work = carry(move || text.len());
    assert_eq!(std::thread::spawn(work).join().expect("no panic"), 7);
    assert_eq!(Context::current().run(|| 8), 8);
    let _guard = Context::root().attach();
}

#[test]
fn the_build_is_chosen_by_the_facade_alone() {
    if_telemetry!(items {
        fn build() -> &'static str {
            "on"
        }
    } else {
        fn build() -> &'static str {
            "off"
        }
    });
    if_telemetry!(items {
        const ONLY_ON: bool = true;
    });
    let chosen = if_telemetry!({ "on" } else { "off" });
    assert_eq!(chosen, build());
    assert_eq!(chosen == "on", gym_telemetry_api::TELEMETRY_COMPILED_IN);
    if_telemetry!({ const { assert!(ONLY_ON) } });
}

#[test]
fn a_process_without_telemetry_shuts_down_at_once() {
    use std::time::Duration;
    assert!(gym_telemetry_api::get_telemetry().is_none());
    let receipt = gym_telemetry_api::shutdown_telemetry(Duration::from_secs(1));
    assert!(receipt.is_complete());
    let receipt = block_on(gym_telemetry_api::shutdown_telemetry_async(
        Duration::from_secs(1),
    ));
    assert!(receipt.is_complete());
}

/// Nothing that the macros name can be shadowed.
#[allow(
    clippy::no_effect_underscore_binding,
    dead_code,
    reason = "the names stand in the way, that is all"
)]
mod hostile {
    #![no_implicit_prelude]

    mod core {}
    mod std {}
    mod gym_telemetry_core {}
    struct Option;
    struct Result;
    struct Span;
    fn drop() {}
    fn attributes() {}
    fn span() {}
    #[::gym_telemetry_api::trace_fn(::gym_telemetry_api::group::ROLLOUT, "traced", "value" => value)]
    fn traced(value: u64) -> u64 {
        value
    }

    #[::gym_telemetry_api::trace_fn(::gym_telemetry_api::group::ROLLOUT, "traced", err)]
    async fn traced_async(value: u64) -> ::std::result::Result<u64, u64> {
        ::std::future::ready(::std::result::Result::Ok(value)).await
    }

    #[test]
    fn names_around_a_macro_do_not_matter() {
        let attributes = 1;
        let span = 2;
        let future = 3;
        let entered = ::gym_telemetry_api::enter!(::gym_telemetry_api::group::ROLLOUT, "name", "a" => attributes);
        ::gym_telemetry_api::set_span_attributes!(entered; "a" => attributes, "b" => span, "c" => future);
        ::gym_telemetry_api::add_event!("name", "a" => attributes);
        let sum = super::block_on(::gym_telemetry_api::in_span!(
            ::gym_telemetry_api::group::ROLLOUT, "name", "a" => span;
            async { attributes + span + future }
        ));
        ::std::assert_eq!(sum, 6);
        ::std::assert_eq!(traced(sum), 6);
        ::std::assert_eq!(
            super::block_on(traced_async(sum)),
            ::std::result::Result::Ok(6)
        );
    }
}
