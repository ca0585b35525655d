//! Where batches of spans go.

use std::time::Duration;

use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SpanData;

use super::console::Console;
use super::otlp::{Otlp, OtlpSpans};
use super::readable::ReadableSpans;
use super::report::{BuildError, ExportReport};
use crate::health::{Component, component};
use crate::settings::{ExporterKind, Protocol, Settings, SignalKind};
use crate::thread::{Batch, Delivery, Job, SpanSink};

/// The exporter of spans.
pub(crate) struct SpanPipe {
    sink: Sink,
}

enum Sink {
    Otlp(Box<OtlpSpans>),
    Console(Console),
    Readable(Box<ReadableSpans>),
}

impl SpanPipe {
    /// Makes the exporter that `settings` ask for, if they ask for one. It connects when it first exports.
    ///
    /// # Errors
    ///
    /// If an endpoint or header cannot be used, or outside a tokio runtime.
    pub(crate) fn build(
        settings: &Settings,
        resource: &Resource,
    ) -> Result<Option<Self>, BuildError> {
        let sink = match settings.traces.exporter {
            ExporterKind::Otlp => {
                let otlp = Otlp::build(&settings.traces, SignalKind::Traces)?;
                Sink::Otlp(Box::new(OtlpSpans::build(otlp, resource)?))
            }
            ExporterKind::Console => Sink::Console(Console::new(resource)),
            ExporterKind::Stdout => Sink::Readable(Box::new(ReadableSpans::new(resource))),
            ExporterKind::None => return Ok(None),
        };
        Ok(Some(Self { sink }))
    }

    /// Where spans go, for messages; without credentials.
    pub(crate) fn destination(&self) -> &str {
        match &self.sink {
            Sink::Otlp(otlp) => otlp.destination(),
            Sink::Console(_) | Sink::Readable(_) => "standard output",
        }
    }

    /// Exports `batch`. It takes no longer than the configured timeout.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives the batch up; it may have arrived.
    pub(crate) async fn export(&self, batch: Vec<SpanData>) -> ExportReport {
        match &self.sink {
            Sink::Otlp(otlp) => otlp.export(batch).await,
            Sink::Console(console) => console.spans(&batch),
            Sink::Readable(readable) => readable.export(batch).await,
        }
    }
}

impl SpanSink for SpanPipe {
    fn export<'a>(&'a self, batch: &Batch<'_>) -> Job<'a, Delivery> {
        if let Sink::Otlp(otlp) = &self.sink
            && let Some(request) = otlp.encode(batch)
        {
            let items = batch.len() as u64;
            return Box::pin(async move {
                let report = otlp.export_encoded(request, items).await;
                report.to(self.destination())
            });
        }
        let batch = batch.to_span_data();
        Box::pin(async { self.export(batch).await.to(self.destination()) })
    }

    fn component(&self) -> Component {
        match &self.sink {
            Sink::Otlp(otlp) => match otlp.protocol() {
                Protocol::Grpc => component!("otlp_grpc_span_exporter"),
                Protocol::HttpProtobuf => component!("otlp_http_span_exporter"),
                Protocol::HttpJson => component!("otlp_http_json_span_exporter"),
            },
            Sink::Console(_) => component!("console_span_exporter"),
            Sink::Readable(_) => component!("stdout_span_exporter"),
        }
    }

    fn shut_down(&self, _budget: Duration) -> Result<(), String> {
        // Nothing is kept back, and connections close when this is dropped.
        Ok(())
    }
}
