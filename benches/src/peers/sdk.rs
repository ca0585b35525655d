//! `opentelemetry_sdk` with its batch processor.

use std::hint::black_box;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use opentelemetry::trace::{
    FutureExt as _, SpanBuilder, TraceContextExt as _, Tracer as _, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};

use crate::executor::{Yield, block_on};
use crate::names::{CHILD, NUMBER, ROOT, WORD};
use crate::{CHILDREN, Stack};

static EXPORTED: AtomicU64 = AtomicU64::new(0);
static PROVIDER: OnceLock<SdkTracerProvider> = OnceLock::new();
static TRACER: OnceLock<SdkTracer> = OnceLock::new();

pub(super) fn stack() -> Stack {
    Stack {
        name: "opentelemetry_sdk",
        sequential,
        asynchronous,
        empty,
        flush: || super::flush(&PROVIDER),
        exported: Some(|| EXPORTED.load(Ordering::Relaxed)),
    }
}

fn tracer() -> &'static SdkTracer {
    TRACER.get_or_init(|| {
        PROVIDER
            .get_or_init(|| super::provider(&EXPORTED))
            .tracer("bench")
    })
}

fn child_span(number: i64) -> SpanBuilder {
    SpanBuilder::from_name(CHILD).with_attributes([
        KeyValue::new(WORD, "measured"),
        KeyValue::new(NUMBER, number),
    ])
}

#[inline(never)]
fn child(number: i64) {
    let span = tracer().build(child_span(number));
    let _entered = Context::current_with_span(span).attach();
    black_box(number);
}

fn sequential() {
    let root = tracer().start(ROOT);
    let _root = Context::current_with_span(root).attach();
    for number in 0..CHILDREN {
        child(number);
    }
}

#[inline(never)]
async fn child_async(number: i64) {
    let span = tracer().build(child_span(number));
    async {
        Yield::default().await;
        black_box(number);
    }
    .with_context(Context::current_with_span(span))
    .await;
}

fn asynchronous() {
    let root = tracer().start(ROOT);
    let work = async {
        for number in 0..CHILDREN {
            child_async(number).await;
        }
    };
    block_on(work.with_context(Context::current_with_span(root)));
}

fn empty() {
    drop(black_box(tracer().start(CHILD)));
}
