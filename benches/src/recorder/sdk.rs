//! The workloads through `opentelemetry_sdk` with its batch processor.

use std::hint::black_box;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use opentelemetry::trace::{Status, TraceContextExt as _, Tracer as _, TracerProvider as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, SdkTracer, SdkTracerProvider, SpanData, SpanExporter,
};
use prost::Message as _;

use super::{ERROR, EVENTS, TEXTS, keys};
use crate::names::{CHILD, NUMBER, ROOT, WORD};

/// Large enough for what is recorded between two flushes.
const QUEUE: usize = 65_536;

static SDK: OnceLock<(SdkTracerProvider, SdkTracer)> = OnceLock::new();
static ENCODED: AtomicU64 = AtomicU64::new(0);

/// Turns spans into the bytes of a request and drops them.
#[derive(Debug, Default)]
pub struct Encoding(ResourceAttributesWithSchema);

impl SpanExporter for Encoding {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = u64::try_from(batch.len()).unwrap_or(u64::MAX);
        let request = ExportTraceServiceRequest {
            resource_spans: group_spans_by_resource_and_scope(batch, &self.0),
        };
        black_box(request.encode_to_vec());
        ENCODED.fetch_add(spans, Ordering::Relaxed);
        Ok(())
    }
}

/// Makes the workloads export through `exporter`.
///
/// # Panics
///
/// If they do already.
pub fn install(exporter: impl SpanExporter + 'static) {
    let config = BatchConfigBuilder::default()
        .with_max_queue_size(QUEUE)
        .build();
    let processor = BatchSpanProcessor::builder(exporter)
        .with_batch_config(config)
        .build();
    let provider = SdkTracerProvider::builder()
        .with_span_processor(processor)
        .build();
    let tracer = provider.tracer("bench");
    assert!(
        SDK.set((provider, tracer)).is_ok(),
        "the SDK is set up once"
    );
}

/// Exports what was recorded. Whoever measures compares what was exported with what was recorded.
pub fn flush() {
    if let Some((provider, _)) = SDK.get() {
        let _ = provider.force_flush();
    }
}

/// Exports what was recorded and stops. Whoever measures compares what was exported with what was recorded.
pub fn shut_down() {
    if let Some((provider, _)) = SDK.get() {
        let _ = provider.shutdown();
    }
}

/// How many spans [`Encoding`] got.
#[must_use]
pub fn exported() -> u64 {
    ENCODED.load(Ordering::Relaxed)
}

fn tracer() -> &'static SdkTracer {
    let (_, tracer) = SDK.get().expect("the SDK is set up first");
    tracer
}

#[inline(never)]
fn child(number: i64) {
    let span = tracer().span_builder(CHILD).with_attributes([
        KeyValue::new(WORD, "measured"),
        KeyValue::new(NUMBER, number),
    ]);
    let _entered = Context::current_with_span(tracer().build(span)).attach();
    black_box(number);
}

/// A root and so many children.
///
/// # Panics
///
/// If nothing was [installed](install).
pub fn root(children: i64) {
    let _root = Context::current_with_span(tracer().start(ROOT)).attach();
    for number in 0..children {
        child(number);
    }
}

/// Workload (e).
pub(super) fn rich() {
    let [rollout, model, path] = TEXTS.map(String::from);
    let number = black_box(7_i64);
    let builder = tracer().span_builder(CHILD).with_attributes([
        KeyValue::new(WORD, "measured"),
        KeyValue::new(NUMBER, number),
        KeyValue::new(keys::TEXTS[0], rollout),
        KeyValue::new(keys::TEXTS[1], model),
        KeyValue::new(keys::TEXTS[2], path),
    ]);
    let context = Context::current_with_span(tracer().build(builder));
    let _entered = context.clone().attach();
    let span = context.span();
    span.set_attributes([
        KeyValue::new(keys::SHARE, 0.5),
        KeyValue::new(keys::IS_FIRST, true),
        KeyValue::new(keys::COUNT, number),
    ]);
    for name in EVENTS {
        let attributes = vec![KeyValue::new(NUMBER, number), KeyValue::new(WORD, "event")];
        span.add_event(name, attributes);
    }
    span.set_status(Status::error(ERROR));
}
