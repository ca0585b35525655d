//! Exported spans as plain data, for the tests of crates that name no OpenTelemetry type.

use std::sync::Arc;
use std::time::Duration;

use gym_telemetry_core::receipt::Outcome;
use opentelemetry::KeyValue;
use opentelemetry::trace::Status;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use parking_lot::Mutex;

use super::install;
use crate::handle::TelemetryHandle;

/// How long a flush may take before a test counts as hung.
const PATIENCE: Duration = Duration::from_secs(30);

/// The exported spans of this process.
#[derive(Debug)]
pub struct Capture {
    handle: TelemetryHandle,
    spans: Spans,
}

/// A span as it was exported.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it all")]
pub struct CapturedSpan {
    pub name: String,
    /// The name of the instrumentation scope.
    pub scope: String,
    /// Such as `Internal`.
    pub kind: String,
    pub trace_id: String,
    pub span_id: String,
    /// All zeros for a root.
    pub parent_id: String,
    /// In the order in which they were set; values as they print.
    pub attributes: Vec<(String, String)>,
    pub events: Vec<(String, Vec<(String, String)>)>,
    /// The span ids of the links.
    pub links: Vec<String>,
    /// The description of an error status; `None` without one.
    pub error: Option<String>,
}

impl CapturedSpan {
    /// The value of an attribute.
    #[must_use]
    pub fn attribute(&self, key: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(known, _)| known == key)
            .map(|(_, value)| value.as_str())
    }
}

impl Capture {
    /// Settles this process on keeping its spans in memory, all span groups on.
    ///
    /// # Panics
    ///
    /// If the process is settled already.
    #[must_use]
    pub fn install() -> Self {
        let spans = Spans::default();
        let handle = install(spans.clone()).expect("the process has no telemetry yet");
        Self { handle, spans }
    }

    /// The spans that have ended so far, in the order in which they ended on each thread.
    ///
    /// # Panics
    ///
    /// If they are not exported within half a minute.
    #[must_use]
    pub fn spans(&self) -> Vec<CapturedSpan> {
        assert_eq!(self.handle.flush(PATIENCE), Outcome::Complete);
        self.spans.0.lock().clone()
    }
}

#[derive(Clone, Debug, Default)]
struct Spans(Arc<Mutex<Vec<CapturedSpan>>>);

impl SpanExporter for Spans {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        self.0.lock().extend(batch.iter().map(captured));
        Ok(())
    }
}

fn captured(span: &SpanData) -> CapturedSpan {
    CapturedSpan {
        name: span.name.to_string(),
        scope: span.instrumentation_scope.name().to_owned(),
        kind: format!("{:?}", span.span_kind),
        trace_id: span.span_context.trace_id().to_string(),
        span_id: span.span_context.span_id().to_string(),
        parent_id: span.parent_span_id.to_string(),
        attributes: plain(&span.attributes),
        events: span
            .events
            .iter()
            .map(|event| (event.name.to_string(), plain(&event.attributes)))
            .collect(),
        links: span
            .links
            .iter()
            .map(|link| link.span_context.span_id().to_string())
            .collect(),
        error: match &span.status {
            Status::Error { description } => Some(description.to_string()),
            Status::Unset | Status::Ok => None,
        },
    }
}

fn plain(attributes: &[KeyValue]) -> Vec<(String, String)> {
    attributes
        .iter()
        .map(|attribute| (attribute.key.to_string(), attribute.value.to_string()))
        .collect()
}
