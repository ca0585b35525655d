//! Telemetry whose spans go nowhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};

use super::install;
use crate::handle::TelemetryHandle;

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
