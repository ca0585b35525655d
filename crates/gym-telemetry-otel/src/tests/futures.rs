//! Spans and contexts that go with futures.

use std::pin::pin;
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

use gym_telemetry_core::attribute;
use opentelemetry::trace::{SpanId, Status as OtelStatus};
use tokio::task::{JoinSet, yield_now};

use super::{PATIENCE, Rig};
use crate::context::{Context, carry};
use crate::future::FutureExt;
use crate::options::SpanOptions;
use crate::recorder::Recorder;
use crate::span::Span;

fn start(recorder: &'static Recorder, name: &'static str) -> Span {
    Span::start_on(recorder, name, SpanOptions::default(), |_| {})
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(async {
        tokio::time::timeout(PATIENCE, future)
            .await
            .expect("in time")
    })
}

fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    std::pin::Pin::new(future).poll(&mut TaskContext::from_waker(Waker::noop()))
}

/// Something that records where it is dropped.
struct Witness(&'static Recorder);

impl Drop for Witness {
    fn drop(&mut self) {
        start(self.0, "witness").end();
    }
}

#[test]
fn a_span_is_current_in_each_poll_and_ends_with_the_future() {
    let rig = Rig::new();
    let recorder = rig.recorder;
    let result = block_on(
        async {
            yield_now().await;
            start(recorder, "inner").end();
            yield_now().await;
            7
        }
        .in_span(rig.start("work")),
    );
    assert_eq!(result, 7);
    assert!(Context::current().span_context().is_none());
    rig.flush();
    let work = rig.memory.span("work");
    assert_eq!(
        rig.memory.span("inner").parent_span_id,
        work.span_context.span_id()
    );
    assert_eq!(work.status, OtelStatus::Unset);
}

#[test]
fn two_requests_interleaved_on_one_thread_never_mix() {
    let rig = Rig::new();
    let recorder = rig.recorder;
    let request = |id: &'static str| {
        async move {
            for _ in 0..1_000 {
                let expected = Context::current();
                async {
                    yield_now().await;
                    start(recorder, id).entered().end();
                }
                .in_span(start(recorder, id))
                .await;
                assert_eq!(Context::current().span_context(), expected.span_context());
                assert_eq!(Context::current().rollout_id().map(|id| &**id), Some(id));
            }
        }
        .in_span(rig.start(id))
        .in_context(Context::root().with_rollout_id(id))
    };
    let (a, b) = (request("a"), request("b"));
    block_on(async {
        let mut tasks = JoinSet::new();
        tasks.spawn(a);
        tasks.spawn(b);
        while let Some(done) = tasks.join_next().await {
            done.expect("does not panic");
        }
    });
    rig.flush();
    let spans = rig.memory.spans();
    assert_eq!(spans.len(), 2 * 2_001);
    let traces = |name: &str| {
        let ids = spans.iter().filter(|span| span.name == name);
        ids.map(|span| span.span_context.trace_id())
            .collect::<std::collections::HashSet<_>>()
    };
    assert_eq!((traces("a").len(), traces("b").len()), (1, 1));
    assert!(traces("a").is_disjoint(&traces("b")));
}

#[test]
fn one_trace_follows_tasks_join_sets_blocking_work_and_threads() {
    let rig = Rig::new();
    let recorder = rig.recorder;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build();
    let runtime = runtime.expect("a runtime");
    let work = async move {
        let spawned =
            tokio::spawn(async move { start(recorder, "task").end() }.in_current_context());
        let blocking =
            tokio::task::spawn_blocking(carry(move || start(recorder, "blocking").end()));
        let thread = std::thread::spawn(carry(move || start(recorder, "thread").end()));
        let mut set = JoinSet::new();
        for _ in 0..3 {
            set.spawn(async move { start(recorder, "set").end() }.in_current_context());
        }
        spawned.await.expect("does not panic");
        blocking.await.expect("does not panic");
        thread.join().expect("does not panic");
        while let Some(done) = set.join_next().await {
            done.expect("does not panic");
        }
    };
    let span = rig.start("root");
    let done =
        runtime.block_on(runtime.spawn(async move { tokio::spawn(work.in_span(span)).await }));
    done.expect("does not panic").expect("does not panic");
    rig.flush();
    let spans = rig.memory.spans();
    let root = rig.memory.span("root");
    assert_eq!(spans.len(), 7);
    for span in spans.iter().filter(|span| span.name != "root") {
        assert_eq!(span.span_context.trace_id(), root.span_context.trace_id());
        assert_eq!(span.parent_span_id, root.span_context.span_id());
    }
    assert_eq!(root.parent_span_id, SpanId::INVALID);
}

#[test]
fn a_cancelled_future_is_dropped_inside_its_span_which_does_not_fail() {
    let rig = Rig::new();
    let witness = Witness(rig.recorder);
    let mut future = Box::pin(
        async move {
            let _witness = witness;
            std::future::pending::<()>().await;
        }
        .in_span(rig.start("work")),
    );
    assert!(poll_once(&mut future).is_pending());
    drop(future);
    // One that was never polled is cancelled too.
    let witness = Witness(rig.recorder);
    drop(async move { drop(witness) }.in_span(rig.start("never polled")));
    rig.flush();
    let work = rig.memory.span("work");
    assert_eq!(work.status, OtelStatus::Unset);
    assert!(work.events.events.is_empty());
    let parents: Vec<_> = rig
        .memory
        .spans()
        .iter()
        .filter(|span| span.name == "witness")
        .map(|span| span.parent_span_id)
        .collect();
    let never = rig.memory.span("never polled");
    assert_eq!(
        parents,
        [work.span_context.span_id(), never.span_context.span_id()]
    );
}

#[test]
fn a_timeout_around_a_span_is_a_cancellation() {
    let rig = Rig::new();
    block_on(async {
        let work = std::future::pending::<()>().in_span(rig.start("work"));
        tokio::time::timeout(Duration::from_millis(1), work)
            .await
            .expect_err("never ends");
    });
    rig.flush();
    assert_eq!(rig.memory.span("work").status, OtelStatus::Unset);
}

#[test]
fn a_panic_makes_the_span_fail_with_its_message_and_goes_on() {
    let rig = Rig::new();
    let task = async {
        yield_now().await;
        panic!("number {}", std::hint::black_box(7));
    }
    .in_span(rig.start("work"));
    let error = block_on(async { tokio::spawn(task).await }).expect_err("panics");
    let payload = error.into_panic();
    assert_eq!(
        payload.downcast_ref::<String>().map(String::as_str),
        Some("number 7")
    );
    rig.flush();
    let work = rig.memory.span("work");
    assert_eq!(work.status, OtelStatus::error("number 7"));
    assert_eq!(work.events.events.len(), 1);
    let attributes = &work.events.events[0].attributes;
    let text = |key| {
        attributes
            .iter()
            .find(|item| item.key.as_str() == key)
            .map(|item| item.value.to_string())
    };
    assert_eq!(text(attribute::EXCEPTION_TYPE).as_deref(), Some("panic"));
    assert_eq!(
        text(attribute::EXCEPTION_MESSAGE).as_deref(),
        Some("number 7")
    );
}

#[test]
fn an_error_makes_the_span_fail_only_where_that_was_asked_for() {
    let rig = Rig::new();
    let work = |result: Result<u8, &'static str>| async move { result };
    assert_eq!(
        block_on(work(Err("broken")).in_span(rig.start("silent"))),
        Err("broken")
    );
    assert_eq!(
        block_on(work(Err("broken")).in_span_err(rig.start("told"))),
        Err("broken")
    );
    assert_eq!(block_on(work(Ok(7)).in_span_err(rig.start("fine"))), Ok(7));
    rig.flush();
    assert_eq!(rig.memory.span("silent").status, OtelStatus::Unset);
    assert_eq!(rig.memory.span("told").status, OtelStatus::error("broken"));
    assert_eq!(rig.memory.span("told").events.events.len(), 1);
    assert_eq!(rig.memory.span("fine").status, OtelStatus::Unset);
}

#[test]
fn a_guard_held_over_an_await_does_not_reach_other_tasks() {
    let rig = Rig::new();
    let recorder = rig.recorder;
    let mut misused = Box::pin(
        async move {
            let _held = start(recorder, "held").entered();
            yield_now().await;
        }
        .in_span(rig.start("work")),
    );
    assert!(poll_once(&mut misused).is_pending());
    assert!(Context::current().span_context().is_none());
    let other = rig.start("other").entered();
    // The guard is dropped in this poll and must not take the other task's span away.
    assert!(poll_once(&mut misused).is_ready());
    assert_eq!(Context::current().span_context(), other.context());
}

#[test]
fn a_finished_future_can_still_be_asked_if_it_allows_that() {
    let rig = Rig::new();
    let mut polls = 0;
    let fused = std::future::poll_fn(|_| {
        polls += 1;
        if polls == 1 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    });
    let mut future = pin!(fused.in_span(rig.start("work")));
    let mut context = TaskContext::from_waker(Waker::noop());
    assert!(future.as_mut().poll(&mut context).is_ready());
    assert!(future.as_mut().poll(&mut context).is_pending());
    rig.flush();
    assert_eq!(rig.memory.names(), ["work"]);
}

#[test]
fn a_span_that_is_off_leaves_the_context_of_its_future_alone() {
    let rig = Rig::new();
    let root = rig.start("root").entered();
    let seen = block_on(async { Context::current().span_context() }.in_span(Span::none()));
    assert_eq!(seen, root.context());
}

#[test]
fn wrapped_futures_can_be_sent_between_threads() {
    fn is_send<T: Send>(_: &T) {}
    let rig = Rig::new();
    is_send(&async { 1 }.in_span(rig.start("work")));
    is_send(&async { Ok::<_, String>(1) }.in_span_err(rig.start("work")));
    is_send(&async { 1 }.in_current_context());
}
