//! The stacks that others use.

mod fast;
mod sdk;
mod tokio_tracing;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider, SpanData, SpanExporter,
};

use crate::Stack;

/// Large enough for what is recorded between two flushes.
const QUEUE: usize = 65_536;

/// Every peer, ready to record.
#[must_use]
pub fn stacks() -> Vec<Stack> {
    vec![sdk::stack(), tokio_tracing::stack(), fast::stack()]
}

/// Counts spans and drops them.
#[derive(Debug)]
struct CountingExporter(&'static AtomicU64);

impl SpanExporter for CountingExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = u64::try_from(batch.len()).unwrap_or(u64::MAX);
        self.0.fetch_add(spans, Ordering::Relaxed);
        Ok(())
    }
}

/// One provider for the SDK alone and one for the bridge from `tracing`: a queue is not shared.
fn provider(exported: &'static AtomicU64) -> SdkTracerProvider {
    let processor = BatchSpanProcessor::builder(CountingExporter(exported))
        .with_batch_config(
            BatchConfigBuilder::default()
                .with_max_queue_size(QUEUE)
                .build(),
        )
        .build();
    SdkTracerProvider::builder()
        .with_span_processor(processor)
        .build()
}

fn flush(provider: &OnceLock<SdkTracerProvider>) {
    if let Some(provider) = provider.get() {
        // Whoever measures compares what was exported with what was recorded.
        let _ = provider.force_flush();
    }
}
