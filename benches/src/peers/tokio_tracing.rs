//! `tracing` with `tracing-opentelemetry`, as it comes.

use std::hint::black_box;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::{Instrument as _, info_span};
use tracing_subscriber::layer::SubscriberExt as _;

use crate::executor::{Yield, block_on};
use crate::{CHILDREN, Stack};

static EXPORTED: AtomicU64 = AtomicU64::new(0);
static PROVIDER: OnceLock<SdkTracerProvider> = OnceLock::new();

pub(super) fn stack() -> Stack {
    let tracer = PROVIDER
        .get_or_init(|| super::provider(&EXPORTED))
        .tracer("bench");
    let layer = tracing_opentelemetry::layer().with_tracer(tracer);
    let subscriber = tracing_subscriber::registry().with(layer);
    tracing::subscriber::set_global_default(subscriber).expect("nothing else sets one");
    Stack {
        name: "tracing-opentelemetry",
        sequential,
        asynchronous,
        empty,
        flush: || super::flush(&PROVIDER),
        exported: Some(|| EXPORTED.load(Ordering::Relaxed)),
    }
}

#[inline(never)]
fn child(number: i64) {
    let _entered = info_span!("child", bench.word = "measured", bench.number = number).entered();
    black_box(number);
}

fn sequential() {
    let _root = info_span!("root").entered();
    for number in 0..CHILDREN {
        child(number);
    }
}

#[inline(never)]
async fn child_async(number: i64) {
    let span = info_span!("child", bench.word = "measured", bench.number = number);
    async {
        Yield::default().await;
        black_box(number);
    }
    .instrument(span)
    .await;
}

fn asynchronous() {
    let work = async {
        for number in 0..CHILDREN {
            child_async(number).await;
        }
    };
    block_on(work.instrument(info_span!("root")));
}

fn empty() {
    drop(black_box(info_span!("child")));
}
