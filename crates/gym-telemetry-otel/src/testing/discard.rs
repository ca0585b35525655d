//! Telemetry whose spans go nowhere.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use parking_lot::Mutex;

use super::{install, settle, start_through};
use crate::handle::TelemetryHandle;
use crate::recorder::{Encoder, RecorderSettings};
use crate::thread::{Batch, Delivery, Job, Schedule, SpanSink};

/// Counts exported spans and drops them: for measuring what recording costs.
#[derive(Clone, Debug)]
pub struct Discard {
    handle: TelemetryHandle,
    exported: Arc<AtomicU64>,
}

impl Discard {
    /// Settles this process on recording its spans and dropping them, all span groups on. Returns `None` if the
    /// process is settled already.
    #[must_use]
    pub fn install() -> Option<Self> {
        let exported = Arc::new(AtomicU64::new(0));
        let handle = install(Counter(Arc::clone(&exported)))?;
        Some(Self { handle, exported })
    }

    /// Like [`install`](Self::install); the spans are written as OTLP requests before they are dropped.
    #[must_use]
    pub fn install_encoding() -> Option<Self> {
        let exported = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&exported);
        let handle = settle(move || {
            let count = Arc::clone(&count);
            start_through(
                || {
                    Box::new(Encoding {
                        encoder: Mutex::new(Encoder::new(&[], None)),
                        count,
                    })
                },
                RecorderSettings::default(),
                Schedule::default(),
            )
        })?;
        Some(Self { handle, exported })
    }

    /// The process's telemetry.
    pub fn handle(&self) -> &TelemetryHandle {
        &self.handle
    }

    /// How many spans have been exported.
    #[must_use]
    pub fn exported(&self) -> u64 {
        self.exported.load(Ordering::Relaxed)
    }
}

#[derive(Clone, Debug)]
struct Counter(Arc<AtomicU64>);

impl SpanExporter for Counter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = u64::try_from(batch.len()).unwrap_or(u64::MAX);
        self.0.fetch_add(spans, Ordering::Relaxed);
        Ok(())
    }
}

struct Encoding {
    encoder: Mutex<Encoder>,
    count: Arc<AtomicU64>,
}

impl SpanSink for Encoding {
    fn export<'a>(&'a self, batch: &Batch<'_>) -> Job<'a, Delivery> {
        black_box(batch.to_request(&mut self.encoder.lock()));
        let exported = batch.len() as u64;
        self.count.fetch_add(exported, Ordering::Relaxed);
        Box::pin(async move {
            Delivery {
                exported,
                ..Delivery::default()
            }
        })
    }

    fn shut_down(&self, _budget: Duration) -> Result<(), String> {
        Ok(())
    }
}
