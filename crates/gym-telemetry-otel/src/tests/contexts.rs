//! What is current where.

use std::cell::RefCell;
use std::sync::Arc;

use gym_telemetry_core::{Baggage, SpanContext};

use super::Rig;
use crate::context::{Context, carry};
use crate::span::{Span, set_current_attributes, with_current_span};

fn current() -> Option<SpanContext> {
    Context::current().span_context()
}

fn rollout() -> Option<String> {
    Context::current().rollout_id().map(ToString::to_string)
}

#[test]
fn guards_dropped_in_any_order_leave_no_stale_context() {
    let rig = Rig::new();
    // All orders of leaving three spans.
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let mut guards: Vec<_> = ["a", "b", "c"]
            .map(|name| Some(rig.start(name).entered()))
            .into();
        for left in order {
            drop(guards[left].take());
            let innermost = guards.iter().rev().flatten().next();
            assert_eq!(
                current(),
                innermost.and_then(|guard| guard.context()),
                "{order:?}"
            );
        }
        assert_eq!(current(), None);
    }
}

#[test]
fn guards_of_any_depth_are_left_in_any_order() {
    let rig = Rig::new();
    let mut guards: Vec<_> = (0..40).map(|_| rig.start("deep").entered()).collect();
    while let Some(last) = guards.last() {
        assert_eq!(current(), last.context());
        // From below, from above, and from in between.
        let place = [0, guards.len() - 1, guards.len() / 2][guards.len() % 3];
        drop(guards.remove(place));
    }
    assert_eq!(current(), None);
    let _root = rig.start("root").entered();
    assert!(current().is_some());
}

#[test]
fn contexts_nest_and_hide_what_is_below() {
    let rig = Rig::new();
    let span = rig.start("span").entered();
    let outer = Context::current().with_rollout_id("1-1").attach();
    assert_eq!(
        (rollout().as_deref(), current()),
        (Some("1-1"), span.context())
    );
    Context::root().run(|| assert_eq!((rollout(), current()), (None, None)));
    let inner = rig.start("inner").entered();
    assert_eq!(
        (rollout().as_deref(), current()),
        (Some("1-1"), inner.context())
    );
    drop(outer);
    assert_eq!((rollout(), current()), (None, inner.context()));
    drop(inner);
    assert_eq!(current(), span.context());
}

#[test]
fn remote_contexts_bring_parent_and_baggage() {
    let rig = Rig::new();
    let far =
        SpanContext::from_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03")
            .expect("is valid");
    let baggage: Baggage = "team=rl".parse().expect("is valid");
    let context = Context::root().with_remote(Some(far.clone()), Some(baggage.clone()));
    let _attached = context.attach();
    assert_eq!(current(), Some(far.clone()));
    let span = rig.start("work").entered();
    assert_eq!(
        span.context().map(|context| context.trace_id()),
        Some(far.trace_id())
    );
    assert_eq!(Context::current().baggage(), Some(&baggage));
    // Without a caller all spans of a request still share one trace, which their root starts.
    let none = Context::current().with_remote(None, None);
    none.run(|| {
        let root = rig.start("root").entered();
        let child = rig.start("child");
        let trace = |span: &Span| span.context().map(|context| context.trace_id());
        assert_eq!(trace(&root), trace(&child));
        assert_ne!(trace(&root), Some(far.trace_id()));
    });
}

#[test]
fn a_span_can_be_carried_without_being_entered() {
    let rig = Rig::new();
    let span = rig.start("span");
    let context = Context::root().with_span(&span).with_span(&Span::none());
    assert_eq!(context.span_context(), span.context());
    assert_eq!(current(), None);
}

#[test]
fn attributes_reach_the_current_span_only_where_it_was_entered() {
    let rig = Rig::new();
    let set = |key: &'static str| set_current_attributes(|attributes| attributes.set(key, &true));
    set("nowhere");
    {
        let _span = rig.start("span").entered();
        let _off = Span::none().entered();
        set("below a span that is off");
        let context = Context::current().with_rollout_id("1-1");
        context.run(|| set("in a context with the same span"));
        Context::root().run(|| set("nowhere"));
        let other = Context::root().with_span(&rig.start("other"));
        other.run(|| set("nowhere"));
        with_current_span(|span| span.update_name("renamed"));
        std::thread::spawn(carry(move || set("carried")))
            .join()
            .expect("does not panic");
        assert!(with_current_span(Span::is_recording));
    }
    rig.flush();
    let span = rig.memory.span("renamed");
    let keys: Vec<_> = span
        .attributes
        .iter()
        .map(|item| item.key.as_str())
        .collect();
    assert_eq!(
        keys,
        [
            "below a span that is off",
            "in a context with the same span"
        ]
    );
}

#[test]
fn work_on_other_threads_is_carried_there() {
    let rig = Rig::new();
    let recorder = rig.recorder;
    let root = rig.start("root").entered();
    let context = Context::current().with_rollout_id("3-1");
    let work = context.run(|| {
        carry(move || {
            Span::start_on(recorder, "there", crate::SpanOptions::default(), |_| {}).end();
            rollout()
        })
    });
    let seen = std::thread::spawn(move || {
        let seen = work();
        assert!(current().is_none() && rollout().is_none());
        seen
    });
    assert_eq!(seen.join().expect("does not panic").as_deref(), Some("3-1"));
    drop(root);
    rig.flush();
    let [root, there] = ["root", "there"].map(|name| rig.memory.span(name));
    assert_eq!(there.parent_span_id, root.span_context.span_id());
}

#[test]
fn a_forgotten_guard_ends_with_the_scope_around_it() {
    let rig = Rig::new();
    Context::root().run(|| std::mem::forget(rig.start("forgotten").entered()));
    assert_eq!(current(), None);
}

#[test]
fn a_panic_inside_restores_the_context() {
    let outcome = std::panic::catch_unwind(|| {
        Context::root()
            .with_rollout_id("1-1")
            .run(|| panic!("as the test wants"));
    });
    assert!(outcome.is_err());
    assert_eq!(rollout(), None);
}

#[test]
fn spans_in_destructors_of_thread_locals_neither_panic_nor_get_lost() {
    struct Late(&'static crate::recorder::Recorder);
    impl Drop for Late {
        fn drop(&mut self) {
            let span = Span::start_on(self.0, "late", crate::SpanOptions::default(), |_| {});
            let entered = span.entered();
            entered.set_attribute("n", 1_i64);
            set_current_attributes(|_| {});
            let _inner = Context::current().with_rollout_id("1-1").attach();
        }
    }
    thread_local! {
        static FIRST: RefCell<Option<Late>> = const { RefCell::new(None) };
        static LAST: RefCell<Option<Late>> = const { RefCell::new(None) };
    }
    let rig = Rig::new();
    let recorder = rig.recorder;
    std::thread::spawn(move || {
        // One is registered before the recorder's own thread locals, one after: one of them goes last.
        FIRST.with(|slot| *slot.borrow_mut() = Some(Late(recorder)));
        Span::start_on(recorder, "early", crate::SpanOptions::default(), |_| {})
            .entered()
            .end();
        LAST.with(|slot| *slot.borrow_mut() = Some(Late(recorder)));
    })
    .join()
    .expect("does not panic");
    let receipt = rig.shut_down();
    assert_eq!(
        rig.memory
            .names()
            .iter()
            .filter(|name| *name == "late")
            .count(),
        2
    );
    assert_eq!(receipt.exported, 3);
    rig.assert_accounted(&receipt);
}

#[test]
fn contexts_are_shared_between_threads_and_guards_are_not() {
    fn is_send<T: Send>() {}
    fn is_sync<T: Sync>() {}
    is_send::<Context>();
    is_sync::<Context>();
    is_send::<Span>();
    let shared: Arc<Context> = Arc::new(Context::current());
    assert!(shared.span_context().is_none());
}
