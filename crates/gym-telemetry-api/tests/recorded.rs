//! What the macros record when telemetry is compiled in and on.

#![allow(
    clippy::items_after_statements,
    reason = "each test begins by starting telemetry"
)]

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::LazyLock;

use gym_telemetry_api::__private::testing::{Capture, CapturedSpan};
use gym_telemetry_api::{
    Context, FutureExt, Parent, SpanContext, SpanGroup, SpanKind, TELEMETRY_COMPILED_IN, add_event,
    attribute, carry, enter, group, in_span, is_span_group_enabled, managed_span,
    set_span_attributes, span, stopwatch, trace_fn,
};
use support::{Counter, block_on, poll, yield_once};

/// One for all tests of the process: each looks for spans of names that no other test uses.
static CAPTURE: LazyLock<Capture> = LazyLock::new(Capture::install);

/// A group that nobody switches on.
static OFF: SpanGroup = SpanGroup::new("off");

fn start() {
    LazyLock::force(&CAPTURE);
}

fn recorded(name: &str) -> CapturedSpan {
    let spans = CAPTURE.spans();
    let mut named = spans.iter().filter(|span| span.name == name);
    let span = named
        .next()
        .unwrap_or_else(|| panic!("no span {name:?} was recorded"))
        .clone();
    assert!(named.next().is_none(), "{name:?} was recorded twice");
    span
}

fn is_recorded(name: &str) -> bool {
    CAPTURE.spans().iter().any(|span| span.name == name)
}

fn attributes(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

#[derive(Debug, PartialEq)]
struct Refused(&'static str);

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

#[test]
fn a_span_has_what_the_macro_says() {
    start();
    const { assert!(TELEMETRY_COMPILED_IN) }
    assert!(is_span_group_enabled(&group::ROLLOUT));
    let id = String::from("3-1");
    let linked = managed_span!(group::ROLLOUT, "linked");
    let links = [linked.context().expect("it is recorded")];
    let span = managed_span!(
        group::ROLLOUT,
        format!("all {}", "options"),
        kind: SpanKind::Client,
        scope: "my.scope",
        links: &links,
        attribute::ROLLOUT_ID => id,
        "literal" => "text",
        "number" => 7,
        "none" => None::<&str>,
        "list" => [1_i64, 2],
        "prompt" => "secret",
    );
    set_span_attributes!(span; "late" => true, "number" => 8);
    add_event!(span; "event", "attempt" => 2);
    drop(span);
    let span = recorded("all options");
    assert_eq!(
        (span.kind.as_str(), span.scope.as_str()),
        ("Client", "my.scope")
    );
    let expected = [
        (attribute::ROLLOUT_ID, "3-1"),
        ("literal", "text"),
        ("number", "8"),
        ("list", "[1,2]"),
        ("prompt", "[REDACTED]"),
        ("late", "true"),
    ];
    assert_eq!(span.attributes, attributes(&expected));
    assert_eq!(
        span.events,
        [("event".to_owned(), attributes(&[("attempt", "2")]))]
    );
    assert_eq!(span.links, [links[0].span_id().to_string()]);
    assert_eq!(span.error, None);
}

#[test]
fn arguments_are_evaluated_once() {
    start();
    let counter = Counter::default();
    let span = managed_span!(
        group::ROLLOUT,
        { counter.value(); "evaluated once" },
        scope: { counter.value(); "scope" },
        "value" => counter.value(),
    );
    assert_eq!(counter.count(), 3);
    set_span_attributes!(span; "value" => counter.value());
    add_event!(span; { counter.value(); "event" }, "value" => counter.value());
    assert_eq!(counter.count(), 6);
}

#[test]
fn a_group_that_is_off_evaluates_nothing_and_leaves_the_tree_whole() {
    start();
    fn bomb() -> u32 {
        panic!("evaluated although the group is off")
    }
    let parent = enter!(group::ROLLOUT, "above the gap");
    let gap = enter!(OFF, "in the gap", "bomb" => bomb());
    set_span_attributes!(gap; "bomb" => bomb());
    add_event!(gap; "event", "bomb" => bomb());
    drop(enter!(group::AGENT, "below the gap"));
    let future = in_span!(OFF, "in the gap", "bomb" => bomb(); async {
        drop(enter!(group::AGENT, "below the gap, later"));
    });
    block_on(future);
    drop(gap);
    let id = parent
        .context()
        .expect("it is recorded")
        .span_id()
        .to_string();
    drop(parent);
    assert!(!is_recorded("in the gap"));
    assert_eq!(recorded("below the gap").parent_id, id);
    assert_eq!(recorded("below the gap, later").parent_id, id);
}

#[test]
fn spans_without_a_group_and_traced_functions_have_their_scopes() {
    start();
    #[trace_fn(group::AGENT, "scope of a function")]
    fn traced() {}
    drop(span!("scope of a span"));
    drop(managed_span!(group::AGENT, "scope of a managed span"));
    traced();
    assert_eq!(recorded("scope of a span").scope, "nemo.lens.helpers");
    assert_eq!(
        recorded("scope of a managed span").scope,
        "nemo.lens.helpers"
    );
    assert_eq!(recorded("scope of a function").scope, "nemo.lens");
}

#[test]
fn an_error_is_a_failure_where_err_is_given() {
    start();
    #[trace_fn(group::AGENT, "sync failure", err)]
    fn sync() -> Result<(), Refused> {
        Err(Refused("sync"))
    }
    #[trace_fn(group::AGENT, "async failure", err, record_exception: false)]
    async fn asynchronous() -> Result<(), Refused> {
        yield_once().await;
        Err(Refused("async"))
    }
    #[trace_fn(group::AGENT, "boxed failure", err)]
    fn boxed() -> Pin<Box<dyn Future<Output = Result<(), Refused>>>> {
        Box::pin(async move {
            yield_once().await;
            Err(Refused("boxed"))
        })
    }
    #[trace_fn(group::AGENT, "no failure")]
    fn ignored() -> Result<(), Refused> {
        Err(Refused("ignored"))
    }
    assert_eq!(sync(), Err(Refused("sync")));
    assert_eq!(block_on(asynchronous()), Err(Refused("async")));
    assert_eq!(block_on(boxed()), Err(Refused("boxed")));
    assert_eq!(ignored(), Err(Refused("ignored")));
    let wrapped =
        in_span!(group::AGENT, "wrapped failure", err; async { Err::<(), _>(Refused("wrapped")) });
    assert_eq!(block_on(wrapped), Err(Refused("wrapped")));

    let span = recorded("sync failure");
    assert_eq!(span.error.as_deref(), Some("Refused: sync"));
    assert_eq!(span.events.len(), 1);
    assert_eq!(span.events[0].0, "exception");
    let span = recorded("async failure");
    assert_eq!(span.error.as_deref(), Some("Refused: async"));
    assert!(span.events.is_empty(), "record_exception: false");
    assert_eq!(
        recorded("boxed failure").error.as_deref(),
        Some("Refused: boxed")
    );
    let span = recorded("wrapped failure");
    assert_eq!(span.error.as_deref(), Some("wrapped"), "the message only");
    assert_eq!(span.events.len(), 1);
    assert_eq!(recorded("no failure").error, None);
}

#[test]
fn a_panic_is_a_failure() {
    start();
    #[trace_fn(group::AGENT, "panicking function")]
    async fn panicking() {
        yield_once().await;
        panic!("of the body")
    }
    #[trace_fn(group::AGENT, "panicking result", err)]
    fn panicking_result() -> Result<(), Refused> {
        panic!("of the body")
    }
    let guarded = || {
        let _entered = enter!(group::AGENT, "panicking guard");
        panic!("of the body")
    };
    assert!(catch_unwind(|| block_on(panicking())).is_err());
    assert!(catch_unwind(panicking_result).is_err());
    assert!(catch_unwind(AssertUnwindSafe(guarded)).is_err());
    for name in ["panicking function", "panicking result", "panicking guard"] {
        let span = recorded(name);
        assert!(span.error.is_some(), "{name}");
        assert_eq!(span.events.len(), 1, "{name}");
    }
}

#[test]
fn a_cancelled_future_leaves_the_status_unset() {
    start();
    let mut future = Box::pin(in_span!(group::AGENT, "cancelled", err; async {
        yield_once().await;
        Err::<(), _>(Refused("never reached"))
    }));
    assert!(poll(future.as_mut()).is_pending());
    assert!(!is_recorded("cancelled"));
    drop(future);
    let span = recorded("cancelled");
    assert_eq!((span.error, span.events.len()), (None, 0));
}

#[test]
fn a_panic_in_an_argument_stays_in_it() {
    start();
    fn bomb<T>() -> T {
        panic!("in an argument")
    }
    #[trace_fn(group::AGENT, "function with a bomb", "bomb" => bomb::<u32>())]
    fn traced() -> u32 {
        1
    }
    let span = managed_span!(group::AGENT, "attribute with a bomb", "before" => 1, "bomb" => bomb::<u32>());
    set_span_attributes!(span; "late" => bomb::<u32>());
    add_event!(span; bomb::<&str>());
    add_event!(span; "event", "bomb" => bomb::<u32>());
    assert!(span.is_recording());
    drop(span);
    let span = managed_span!(group::AGENT, bomb::<&str>());
    assert!(!span.is_recording());
    drop(managed_span!(group::AGENT, "option with a bomb", scope: bomb()));
    assert_eq!(traced(), 1);
    let span = recorded("attribute with a bomb");
    assert_eq!(span.attributes, attributes(&[("before", "1")]));
    assert_eq!(span.events, [("event".to_owned(), Vec::new())]);
    assert!(!is_recorded("option with a bomb"));
    assert!(is_recorded("function with a bomb"));
}

#[test]
fn the_current_span_is_the_one_that_was_entered() {
    start();
    #[trace_fn(group::AGENT, "current in a function")]
    async fn traced() {
        yield_once().await;
        set_span_attributes!("where" => "in the function");
        add_event!("event");
    }
    let outer = enter!(group::AGENT, "current outside");
    block_on(traced());
    set_span_attributes!("where" => "outside");
    let outer_id = outer
        .context()
        .expect("it is recorded")
        .span_id()
        .to_string();
    drop(outer);
    let inner = recorded("current in a function");
    assert_eq!(inner.attribute("where"), Some("in the function"));
    assert_eq!(inner.events.len(), 1);
    assert_eq!(inner.parent_id, outer_id);
    let outer = recorded("current outside");
    assert_eq!(
        (outer.attribute("where"), outer.events.len()),
        (Some("outside"), 0)
    );
}

#[test]
fn a_parent_can_be_chosen() {
    start();
    let remote =
        SpanContext::from_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03");
    let remote = remote.expect("a valid header");
    let current = enter!(group::AGENT, "current parent");
    let context = Context::root().with_remote(Some(remote.clone()), None);
    drop(managed_span!(group::AGENT, "child of a remote", parent: Parent::Remote(&remote)));
    drop(managed_span!(group::AGENT, "child of a context", parent: Parent::Context(&context)));
    drop(managed_span!(group::AGENT, "child of none", parent: Parent::Root));
    drop(span!("child of the current", parent: Parent::Current));
    drop(current);
    for name in ["child of a remote", "child of a context"] {
        let span = recorded(name);
        assert_eq!(span.parent_id, "b7ad6b7169203331", "{name}");
        assert_eq!(span.trace_id, "0af7651916cd43dd8448eb211c80319c", "{name}");
    }
    assert_eq!(recorded("child of none").parent_id, "0000000000000000");
    assert_eq!(
        recorded("child of the current").parent_id,
        recorded("current parent").span_id
    );
}

#[test]
fn context_follows_the_work_into_threads_and_tasks() {
    start();
    let parent = enter!(group::AGENT, "parent of a thread");
    std::thread::spawn(carry(|| drop(managed_span!(group::AGENT, "carried"))))
        .join()
        .expect("no panic");
    let future =
        async { drop(managed_span!(group::AGENT, "in the current context")) }.in_current_context();
    std::thread::spawn(|| block_on(future))
        .join()
        .expect("no panic");
    drop(parent);
    let parent = recorded("parent of a thread");
    assert_eq!(recorded("carried").parent_id, parent.span_id);
    assert_eq!(recorded("in the current context").parent_id, parent.span_id);
}

#[test]
fn the_span_of_a_boxed_future_belongs_to_the_caller_and_covers_the_future() {
    start();
    #[trace_fn(group::AGENT, "boxed whole")]
    fn boxed() -> Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(async move {
            yield_once().await;
            drop(managed_span!(group::AGENT, "inside the box"));
        })
    }
    #[trace_fn(group::AGENT, "boxed and returned")]
    #[allow(clippy::needless_return, reason = "this form is recognised too")]
    fn returned() -> Pin<Box<dyn Future<Output = ()>>> {
        return Box::pin(async {
            drop(managed_span!(group::AGENT, "inside the returned box"));
        });
    }
    let caller = enter!(group::AGENT, "caller of the box");
    let future = boxed();
    drop(caller);
    assert!(!is_recorded("boxed whole"));
    block_on(future);
    let whole = recorded("boxed whole");
    assert_eq!(whole.parent_id, recorded("caller of the box").span_id);
    assert_eq!(recorded("inside the box").parent_id, whole.span_id);
    block_on(returned());
    assert_eq!(
        recorded("inside the returned box").parent_id,
        recorded("boxed and returned").span_id
    );
}

#[test]
fn a_stopwatch_runs_while_the_process_exports() {
    start();
    let watch = stopwatch!();
    let first = watch.elapsed().expect("it runs");
    assert!(watch.elapsed().expect("it runs") >= first);
}
