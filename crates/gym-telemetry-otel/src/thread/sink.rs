//! What the telemetry thread exports through.

use std::pin::Pin;
use std::time::Duration;

use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};

use crate::health::{Component, component};
use crate::logs::Record as LogRecord;
use crate::recorder::{Anchor, Encoder, Record, SpanLimits, span_data};

/// A future of the telemetry thread.
pub(crate) type Job<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// What became of the items of one export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Delivery {
    /// Items that the destination accepted.
    pub exported: u64,
    /// Items that are lost.
    pub failed: u64,
    /// What a person should know, without secrets; worth one warning.
    pub trouble: Option<String>,
}

/// Spans to export.
#[derive(Debug)]
pub(crate) struct Batch<'a> {
    pub records: &'a [Record],
    pub anchor: &'a Anchor,
    pub limits: &'a SpanLimits,
}

impl Batch<'_> {
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// The spans in the form of the SDK. Their contents are moved out of the records.
    pub(crate) fn to_span_data(&self) -> Vec<SpanData> {
        let convert = |record| span_data(record, self.anchor, self.limits);
        self.records.iter().map(convert).collect()
    }

    /// The spans as an OTLP request.
    pub(crate) fn to_request(&self, encoder: &mut Encoder) -> Vec<u8> {
        encoder.request(self.records, self.anchor, self.limits)
    }
}

/// A destination of spans. All of it is called on the telemetry thread, one call at a time.
pub(crate) trait SpanSink {
    /// Exports a batch, of which the future keeps what it needs. Dropping the future gives the batch up.
    fn export<'a>(&'a self, batch: &Batch<'_>) -> Job<'a, Delivery>;

    /// What it is called where telemetry tells about itself.
    fn component(&self) -> Component {
        component!("custom_span_exporter")
    }

    /// Lets go of what it holds; nothing is exported afterwards. `budget` is what is left of the shutdown's time.
    fn shut_down(&self, budget: Duration) -> Result<(), String>;
}

/// A destination of log records, called like a [`SpanSink`].
pub(crate) trait LogSink {
    /// Exports records. Dropping the future gives them up.
    fn export(&self, records: Vec<LogRecord>) -> Job<'_, Delivery>;

    /// What it is called where telemetry tells about itself.
    fn component(&self) -> Component {
        component!("custom_log_exporter")
    }

    /// Lets go of what it holds; nothing is exported afterwards. `budget` is what is left of the shutdown's time.
    fn shut_down(&self, budget: Duration) -> Result<(), String>;
}

/// A source of metrics with its destination, called like a [`SpanSink`].
pub(crate) trait MetricSink {
    /// Reads all instruments and exports what they show.
    fn collect_and_export(&self) -> Job<'_, Delivery>;

    /// What it is called where telemetry tells about itself; `None` if it exports nothing itself.
    fn component(&self) -> Option<Component> {
        None
    }

    /// Ends when there is something to do before the next export is due. Dropping it loses nothing.
    fn stirred(&self) -> Job<'_, ()> {
        Box::pin(std::future::pending())
    }

    /// Lets go of what it holds; instruments record nothing afterwards.
    fn shut_down(&self, budget: Duration) -> Result<(), String>;
}

/// Any exporter of the OpenTelemetry SDK as a sink.
#[derive(Debug)]
pub(crate) struct SdkSpanSink<E>(pub E);

impl<E: SpanExporter> SpanSink for SdkSpanSink<E> {
    fn export<'a>(&'a self, batch: &Batch<'_>) -> Job<'a, Delivery> {
        let count = batch.len() as u64;
        let batch = batch.to_span_data();
        Box::pin(async move {
            match self.0.export(batch).await {
                Ok(()) => Delivery {
                    exported: count,
                    ..Delivery::default()
                },
                Err(error) => Delivery {
                    exported: 0,
                    failed: count,
                    trouble: Some(error.to_string()),
                },
            }
        })
    }

    fn shut_down(&self, budget: Duration) -> Result<(), String> {
        let result: OTelSdkResult = self.0.shutdown_with_timeout(budget);
        result.map_err(|error| error.to_string())
    }
}
