//! The workloads of the `recorder` bench: ours, and the SDK's as the last one.
//!
//! - (a) a root and 100 children, each with a static string and an integer as attributes;
//! - (e) a span with eight attributes, three of them owned strings, two events and an error;
//! - (p) 21 spans as in (a), then a sleep of a millisecond: what is in the processor's caches is gone by then.

use std::hint::black_box;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Duration;

use gym_telemetry_api::__private::testing::Discard;
use gym_telemetry_api::{Status, add_event, enter, set_span_attributes};
use gym_telemetry_core::group;
use opentelemetry::trace::{
    Status as OtelStatus, TraceContextExt as _, Tracer as _, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, SdkTracer, SdkTracerProvider, SpanData, SpanExporter,
};
use prost::Message as _;

use crate::names::{CHILD, NUMBER, ROOT, WORD};

/// One way to record the workloads.
#[derive(Clone, Copy, Debug)]
pub struct Stack {
    /// How reports call it.
    pub name: &'static str,
    /// Workload (a).
    pub sequential: fn(),
    /// Workload (e).
    pub rich: fn(),
    /// Workload (p).
    pub paused: fn(),
    /// Exports what was recorded.
    pub flush: fn(),
    /// How many spans were exported.
    pub exported: fn() -> u64,
}

/// Both stacks, ready to record.
///
/// # Panics
///
/// If this process records already.
#[must_use]
pub fn stacks() -> Vec<Stack> {
    let telemetry = Discard::install_encoding().expect("nothing was set up before");
    assert!(OURS.set(telemetry).is_ok(), "the stacks are made once");
    vec![
        Stack {
            name: "gym-telemetry",
            sequential: || ours(100),
            rich: ours_rich,
            paused: || {
                ours(20);
                sleep(Duration::from_millis(1));
            },
            flush: || {
                if let Some(ours) = OURS.get() {
                    let _ = ours.handle().flush(Duration::from_secs(30));
                }
            },
            exported: || OURS.get().map_or(0, Discard::exported),
        },
        Stack {
            name: "opentelemetry_sdk",
            sequential: || sdk(100),
            rich: sdk_rich,
            paused: || {
                sdk(20);
                sleep(Duration::from_millis(1));
            },
            flush: || {
                // Whoever measures compares what was exported with what was recorded.
                let _ = provider().force_flush();
            },
            exported: || EXPORTED.load(Ordering::Relaxed),
        },
    ]
}

static OURS: OnceLock<Discard> = OnceLock::new();

#[inline(never)]
fn child(number: i64) {
    let _entered = enter!(group::ROLLOUT, CHILD, WORD => "measured", NUMBER => number);
    black_box(number);
}

fn ours(children: i64) {
    let _root = enter!(group::ROLLOUT, ROOT);
    for number in 0..children {
        child(number);
    }
}

/// What the owned strings are made of.
const TEXTS: [&str; 3] = [
    "rollout-0123456789",
    "a-model-of-some-size",
    "/a/path/to/something",
];

fn ours_rich() {
    let [rollout, model, path] = TEXTS.map(String::from);
    let number = black_box(7_i64);
    let span = enter!(group::ROLLOUT, CHILD,
        WORD => "measured", NUMBER => number, "rollout" => rollout, "model" => model, "path" => path);
    set_span_attributes!(span; "share" => 0.5, "is_first" => true, "count" => number);
    add_event!(span; "first", NUMBER => number, WORD => "event");
    add_event!(span; "second", NUMBER => number, WORD => "event");
    span.set_status(Status::Error("it did not work".into()));
}

static EXPORTED: AtomicU64 = AtomicU64::new(0);

/// Turns spans into the bytes of a request and drops them.
#[derive(Debug, Default)]
struct Encoding(ResourceAttributesWithSchema);

impl SpanExporter for Encoding {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = u64::try_from(batch.len()).unwrap_or(u64::MAX);
        let request = ExportTraceServiceRequest {
            resource_spans: group_spans_by_resource_and_scope(batch, &self.0),
        };
        black_box(request.encode_to_vec());
        EXPORTED.fetch_add(spans, Ordering::Relaxed);
        Ok(())
    }
}

fn provider() -> &'static SdkTracerProvider {
    static PROVIDER: OnceLock<SdkTracerProvider> = OnceLock::new();
    PROVIDER.get_or_init(|| {
        let config = BatchConfigBuilder::default()
            .with_max_queue_size(65_536)
            .build();
        let processor = BatchSpanProcessor::builder(Encoding::default())
            .with_batch_config(config)
            .build();
        SdkTracerProvider::builder()
            .with_span_processor(processor)
            .build()
    })
}

fn tracer() -> &'static SdkTracer {
    static TRACER: OnceLock<SdkTracer> = OnceLock::new();
    TRACER.get_or_init(|| provider().tracer("bench"))
}

#[inline(never)]
fn sdk_child(number: i64) {
    let span = tracer().span_builder(CHILD).with_attributes([
        KeyValue::new(WORD, "measured"),
        KeyValue::new(NUMBER, number),
    ]);
    let _entered = Context::current_with_span(tracer().build(span)).attach();
    black_box(number);
}

fn sdk(children: i64) {
    let _root = Context::current_with_span(tracer().start(ROOT)).attach();
    for number in 0..children {
        sdk_child(number);
    }
}

fn sdk_rich() {
    let [rollout, model, path] = TEXTS.map(String::from);
    let number = black_box(7_i64);
    let builder = tracer().span_builder(CHILD).with_attributes([
        KeyValue::new(WORD, "measured"),
        KeyValue::new(NUMBER, number),
        KeyValue::new("rollout", rollout),
        KeyValue::new("model", model),
        KeyValue::new("path", path),
    ]);
    let context = Context::current_with_span(tracer().build(builder));
    let _entered = context.clone().attach();
    let span = context.span();
    span.set_attributes([
        KeyValue::new("share", 0.5),
        KeyValue::new("is_first", true),
        KeyValue::new("count", number),
    ]);
    for name in ["first", "second"] {
        let attributes = vec![KeyValue::new(NUMBER, number), KeyValue::new(WORD, "event")];
        span.add_event(name, attributes);
    }
    span.set_status(OtelStatus::error("it did not work"));
}
