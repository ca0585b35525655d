//! Who is whose child, and what is sampled.

use gym_telemetry_core::SpanContext;
use opentelemetry::trace::{Link, SpanId, SpanKind, TraceId};
use opentelemetry::{Context as OtelContext, KeyValue};
use opentelemetry_sdk::trace::{
    Sampler as OtelSampler, SamplingDecision, SamplingResult, ShouldSample, SpanData,
};

use super::Rig;
use crate::context::Context;
use crate::options::{Parent, SpanOptions};
use crate::recorder::{RecorderSettings, Sampling};
use crate::settings::Sampler;
use crate::span::Span;

fn remote(flags: &str) -> SpanContext {
    let text = format!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-{flags}");
    SpanContext::from_traceparent(&text).expect("is valid")
}

fn sampled_by(sampling: Sampling) -> Rig {
    Rig::with(RecorderSettings {
        sampling,
        ..RecorderSettings::default()
    })
}

fn outgoing() -> Option<String> {
    Context::current()
        .span_context()
        .map(|context| context.to_traceparent().to_string())
}

fn is_child(child: &SpanData, parent: &SpanData) -> bool {
    child.parent_span_id == parent.span_context.span_id()
        && child.span_context.trace_id() == parent.span_context.trace_id()
}

#[test]
fn a_span_is_the_child_of_the_current_one_and_lies_within_it() {
    let rig = Rig::new();
    {
        let _root = rig.start("root").entered();
        let _child = rig.start("child").entered();
        drop(rig.start("grandchild"));
    }
    rig.flush();
    let [root, child, grandchild] =
        ["root", "child", "grandchild"].map(|name| rig.memory.span(name));
    assert_eq!(root.parent_span_id, SpanId::INVALID);
    assert!(is_child(&child, &root) && is_child(&grandchild, &child));
    assert!(root.start_time <= child.start_time && child.end_time <= root.end_time);
    assert!(!child.parent_span_is_remote);
}

#[test]
fn a_span_that_was_not_entered_is_nobodys_parent() {
    let rig = Rig::new();
    let value = rig.start("value");
    drop(rig.start("other"));
    drop(value);
    rig.flush();
    let [value, other] = ["value", "other"].map(|name| rig.memory.span(name));
    assert_ne!(value.span_context.trace_id(), other.span_context.trace_id());
}

#[test]
fn new_traces_are_sampled_and_their_ids_are_random() {
    let rig = Rig::new();
    let context = rig.start("root").context().expect("has ids");
    assert!(context.to_traceparent().ends_with("-03"));
    assert!(!context.is_remote());
    rig.flush();
    assert_eq!(
        rig.memory.span("root").span_context.trace_flags().to_u8(),
        3
    );
}

#[test]
fn children_of_a_span_that_is_off_hang_on_the_nearest_recorded_ancestor() {
    let rig = Rig::new();
    {
        let server = rig.start("server").entered();
        let _off = Span::none().entered();
        assert_eq!(Context::current().span_context(), server.context());
        drop(rig.start("client"));
    }
    rig.flush();
    assert!(is_child(
        &rig.memory.span("client"),
        &rig.memory.span("server")
    ));
}

#[test]
fn the_parent_can_be_none_another_processes_or_a_contexts() {
    let rig = Rig::new();
    let kept = {
        let _root = rig.start("root").entered();
        rig.start_with(
            "own",
            SpanOptions {
                parent: Parent::Root,
                ..SpanOptions::default()
            },
        )
        .end();
        let far = remote("03").with_trace_state("rojo=1".parse().expect("is valid"));
        rig.start_with(
            "far",
            SpanOptions {
                parent: Parent::Remote(&far),
                ..SpanOptions::default()
            },
        )
        .run(|| drop(rig.start("below")));
        Context::current()
    };
    rig.start_with(
        "late",
        SpanOptions {
            parent: Parent::Context(&kept),
            ..SpanOptions::default()
        },
    )
    .end();
    kept.run(|| drop(rig.start("carried")));
    rig.flush();
    let root = rig.memory.span("root");
    assert!(is_child(&rig.memory.span("carried"), &root));
    assert_eq!(rig.memory.span("own").parent_span_id, SpanId::INVALID);
    assert_ne!(
        rig.memory.span("own").span_context.trace_id(),
        root.span_context.trace_id()
    );
    assert!(is_child(&rig.memory.span("late"), &root));
    let far = rig.memory.span("far");
    assert_eq!(far.parent_span_id.to_string(), "b7ad6b7169203331");
    assert!(far.parent_span_is_remote);
    assert_eq!(far.span_context.trace_state().header(), "rojo=1");
    let below = rig.memory.span("below");
    assert!(is_child(&below, &far));
    assert!(!below.parent_span_is_remote);
    assert_eq!(below.span_context.trace_state().header(), "rojo=1");
}

#[test]
fn flags_of_a_remote_parent_go_on_unchanged() {
    for flags in ["00", "01", "02", "03"] {
        let rig = Rig::new();
        let far = remote(flags);
        let options = SpanOptions {
            parent: Parent::Remote(&far),
            ..SpanOptions::default()
        };
        let server = rig.start_with("server", options).entered();
        let traceparent = outgoing().expect("has ids");
        assert!(
            traceparent.starts_with("00-0af7651916cd43dd8448eb211c80319c-"),
            "{traceparent}"
        );
        assert!(traceparent.ends_with(flags), "{traceparent}");
        let inner = rig.start("inner").entered();
        assert!(outgoing().expect("has ids").ends_with(flags));
        let is_sampled = far.flags().is_sampled();
        assert_eq!(
            (server.is_recording(), inner.is_recording()),
            (is_sampled, is_sampled)
        );
        drop((inner, server));
        rig.flush();
        assert_eq!(rig.memory.names().len(), if is_sampled { 2 } else { 0 });
        let receipt = rig.shut_down();
        assert_eq!(receipt.unsampled, if is_sampled { 0 } else { 2 });
        rig.assert_accounted(&receipt);
    }
}

#[test]
fn a_root_that_is_not_sampled_has_ids_and_silences_everything_below() {
    let rig = sampled_by(
        Sampler {
            parent_based: true,
            ratio: 0.0,
        }
        .into(),
    );
    let root = rig.start("root").entered();
    let traceparent = outgoing().expect("has ids");
    assert!(traceparent.ends_with("-02"), "{traceparent}");
    let child = rig.start("child").entered();
    assert_eq!(outgoing(), Some(traceparent.clone()));
    let context = Context::current();
    drop((child, root));
    let _elsewhere = context.attach();
    let late = rig.start("late").entered();
    assert_eq!(outgoing(), Some(traceparent));
    drop(late);
    let options = SpanOptions {
        parent: Parent::Context(&context),
        ..SpanOptions::default()
    };
    let explicit = rig.start_with("explicit", options);
    assert_eq!(explicit.context(), context.span_context());
    rig.flush();
    assert!(rig.memory.names().is_empty());
}

#[test]
fn samplers_of_the_sdk_decide_where_a_trace_enters_the_process() {
    let on = remote("01");
    let off = remote("00");
    let cases: [(Sampler, [bool; 3]); 5] = [
        (
            Sampler {
                parent_based: true,
                ratio: 1.0,
            },
            [true, true, false],
        ),
        (
            Sampler {
                parent_based: true,
                ratio: 0.0,
            },
            [false, true, false],
        ),
        (
            Sampler {
                parent_based: false,
                ratio: 1.0,
            },
            [true, true, true],
        ),
        (
            Sampler {
                parent_based: false,
                ratio: 0.0,
            },
            [false, false, false],
        ),
        // By trace id: this one's is above the middle.
        (
            Sampler {
                parent_based: false,
                ratio: 0.01,
            },
            [false, false, false],
        ),
    ];
    for (sampler, expected) in cases {
        let rig = sampled_by(sampler.into());
        let by_root = if (0.001..0.1).contains(&sampler.ratio) {
            // A new trace has one chance in a hundred: any of a few is surely not sampled.
            (0..20).all(|_| rig.start("root").is_recording())
        } else {
            rig.start("root").is_recording()
        };
        let by_remote = |parent| {
            rig.start_with(
                "far",
                SpanOptions {
                    parent: Parent::Remote(parent),
                    ..SpanOptions::default()
                },
            )
            .is_recording()
        };
        assert_eq!(
            [by_root, by_remote(&on), by_remote(&off)],
            expected,
            "{sampler:?}"
        );
    }
}

/// Sees what a sampler sees, and samples what has the attribute `keep`.
#[derive(Clone, Debug)]
struct Picky;

impl ShouldSample for Picky {
    fn should_sample(
        &self,
        parent: Option<&OtelContext>,
        _: TraceId,
        name: &str,
        kind: &SpanKind,
        attributes: &[KeyValue],
        links: &[Link],
    ) -> SamplingResult {
        assert!(name != "panic", "as the test wants");
        assert_eq!(
            (kind, links.len(), parent.is_none()),
            (&SpanKind::Internal, 1, true)
        );
        let decision = if attributes.iter().any(|item| item.key.as_str() == "keep") {
            SamplingDecision::RecordAndSample
        } else {
            SamplingDecision::RecordOnly
        };
        SamplingResult {
            decision,
            attributes: vec![KeyValue::new("sampler", "picky")],
            trace_state: "vendor=1".parse().expect("is valid"),
        }
    }
}

#[test]
fn a_sampler_of_the_hosts_own_sees_the_span_and_adds_to_it() {
    let rig = sampled_by(Sampling::Custom(Box::new(Picky)));
    let links = [remote("01")];
    let options = SpanOptions {
        links: &links,
        ..SpanOptions::default()
    };
    let kept = Span::start_on(rig.recorder, "kept", options, |attributes| {
        attributes.set("keep", &true);
    })
    .entered();
    // Spans below follow without being asked about.
    drop(rig.start("below"));
    drop(kept);
    let refused = rig.start_with("refused", options);
    assert!(!refused.is_recording() && refused.context().is_some());
    assert!(rig.start_with("panic", options).is_recording());
    rig.flush();
    let kept = rig.memory.span("kept");
    assert!(kept.attributes.contains(&KeyValue::new("sampler", "picky")));
    assert_eq!(kept.span_context.trace_state().header(), "vendor=1");
    assert_eq!(rig.memory.names(), ["below", "kept", "panic"]);
    assert_eq!(rig.recorder.counts.panics.get(), 1);
}

#[test]
fn the_standard_ratio_sampler_keeps_about_its_share() {
    let sampling = Sampling::Custom(Box::new(OtelSampler::TraceIdRatioBased(0.25)));
    let rig = sampled_by(sampling);
    let kept = (0..4_000)
        .filter(|_| rig.start("root").is_recording())
        .count();
    assert!((800..1_200).contains(&kept), "{kept}");
}
