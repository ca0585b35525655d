//! `fastrace` with `fastrace-opentelemetry`. Its properties are text, so the integer is written out as it has to be.

use std::borrow::Cow;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use fastrace::Span;
use fastrace::collector::{Config, SpanContext};
use fastrace::future::FutureExt as _;
use fastrace::local::LocalSpan;
use fastrace_opentelemetry::OpenTelemetryReporter;
use opentelemetry::InstrumentationScope;
use opentelemetry_sdk::Resource;

use super::CountingExporter;
use crate::executor::{Yield, block_on};
use crate::names::{CHILD, NUMBER, ROOT, WORD};
use crate::{CHILDREN, Stack};

static EXPORTED: AtomicU64 = AtomicU64::new(0);

pub(super) fn stack() -> Stack {
    let reporter = OpenTelemetryReporter::new(
        CountingExporter(&EXPORTED),
        Cow::Owned(Resource::builder_empty().build()),
        InstrumentationScope::builder("bench").build(),
    );
    fastrace::set_reporter(reporter, Config::default());
    Stack {
        name: "fastrace-opentelemetry",
        sequential,
        asynchronous,
        empty,
        flush: fastrace::flush,
        exported: Some(|| EXPORTED.load(Ordering::Relaxed)),
    }
}

fn properties(number: i64) -> [(&'static str, Cow<'static, str>); 2] {
    [
        (WORD, Cow::Borrowed("measured")),
        (NUMBER, Cow::Owned(number.to_string())),
    ]
}

#[inline(never)]
fn child(number: i64) {
    let _entered = LocalSpan::enter_with_local_parent(CHILD).with_properties(|| properties(number));
    black_box(number);
}

fn sequential() {
    let root = Span::root(ROOT, SpanContext::random());
    let _root = root.set_local_parent();
    for number in 0..CHILDREN {
        child(number);
    }
}

#[inline(never)]
async fn child_async(number: i64) {
    let span = Span::enter_with_local_parent(CHILD).with_properties(|| properties(number));
    async {
        Yield::default().await;
        black_box(number);
    }
    .in_span(span)
    .await;
}

fn asynchronous() {
    let work = async {
        for number in 0..CHILDREN {
            child_async(number).await;
        }
    };
    block_on(work.in_span(Span::root(ROOT, SpanContext::random())));
}

fn empty() {
    drop(black_box(Span::root(CHILD, SpanContext::random())));
}
