//! Where batches of log records go.

use std::collections::HashMap;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
use opentelemetry_proto::tonic::resource::v1::Resource as ProtoResource;
use opentelemetry_sdk::Resource;

use super::console::{Console, unix_nanos};
use super::otlp::Otlp;
use super::readable::ReadableLogs;
use super::report::{BuildError, ExportReport};
use crate::health::{Component, component};
use crate::logs::Record;
use crate::settings::{ExporterKind, Protocol, Settings, SignalKind};
use crate::thread::{Delivery, Job, LogSink};

/// The exporter of log records.
pub(crate) struct LogPipe {
    sink: Sink,
}

enum Sink {
    Otlp(Box<OtlpLogs>),
    Console(Console),
    Readable(ReadableLogs),
}

struct OtlpLogs {
    otlp: Otlp,
    resource: ProtoResource,
    schema_url: String,
}

impl LogPipe {
    /// Makes the exporter that `settings` ask for, if they ask for one. It connects when it first exports.
    ///
    /// # Errors
    ///
    /// If an endpoint or header cannot be used, or outside a tokio runtime.
    pub(crate) fn build(
        settings: &Settings,
        resource: &Resource,
    ) -> Result<Option<Self>, BuildError> {
        let sink = match settings.logs.exporter {
            ExporterKind::Otlp => Sink::Otlp(Box::new(OtlpLogs {
                otlp: Otlp::build(&settings.logs, SignalKind::Logs)?,
                resource: resource.into(),
                schema_url: resource.schema_url().unwrap_or_default().to_owned(),
            })),
            ExporterKind::Console => Sink::Console(Console::new(resource)),
            ExporterKind::Stdout => Sink::Readable(ReadableLogs::new(resource)),
            ExporterKind::None => return Ok(None),
        };
        Ok(Some(Self { sink }))
    }

    /// Where log records go, for messages; without credentials.
    pub(crate) fn destination(&self) -> &str {
        match &self.sink {
            Sink::Otlp(logs) => logs.otlp.destination(),
            Sink::Console(_) | Sink::Readable(_) => "standard output",
        }
    }

    /// Exports `records`. It takes no longer than the configured timeout.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives the records up; they may have arrived.
    pub(crate) async fn export(&self, records: Vec<Record>) -> ExportReport {
        match &self.sink {
            Sink::Otlp(logs) => {
                let items = records.len() as u64;
                logs.otlp.send(&logs.request(records), items).await
            }
            Sink::Console(console) => console.logs(&records),
            Sink::Readable(readable) => readable.export(records).await,
        }
    }
}

impl LogSink for LogPipe {
    fn export(&self, records: Vec<Record>) -> Job<'_, Delivery> {
        Box::pin(async { self.export(records).await.to(self.destination()) })
    }

    fn component(&self) -> Component {
        match &self.sink {
            Sink::Otlp(logs) => match logs.otlp.protocol() {
                Protocol::Grpc => component!("otlp_grpc_log_exporter"),
                Protocol::HttpProtobuf => component!("otlp_http_log_exporter"),
                Protocol::HttpJson => component!("otlp_http_json_log_exporter"),
            },
            Sink::Console(_) => component!("console_log_exporter"),
            Sink::Readable(_) => component!("stdout_log_exporter"),
        }
    }

    fn shut_down(&self, _budget: Duration) -> Result<(), String> {
        // Nothing is kept back, and connections close when this is dropped.
        Ok(())
    }
}

impl OtlpLogs {
    /// The target of a record is its scope.
    fn request(&self, records: Vec<Record>) -> ExportLogsServiceRequest {
        let mut scope_logs: Vec<ScopeLogs> = Vec::new();
        let mut places = HashMap::new();
        for record in records {
            let place = *places.entry(record.target.clone()).or_insert_with(|| {
                scope_logs.push(ScopeLogs {
                    scope: Some(InstrumentationScope {
                        name: record.target.clone().into_owned(),
                        ..InstrumentationScope::default()
                    }),
                    ..ScopeLogs::default()
                });
                scope_logs.len() - 1
            });
            scope_logs[place].log_records.push(convert(record));
        }
        ExportLogsServiceRequest {
            resource_logs: vec![ResourceLogs {
                resource: Some(self.resource.clone()),
                scope_logs,
                schema_url: self.schema_url.clone(),
            }],
        }
    }
}

fn convert(record: Record) -> LogRecord {
    let at = unix_nanos(record.at);
    LogRecord {
        time_unix_nano: at,
        observed_time_unix_nano: at,
        severity_number: record.severity.map_or(0, |severity| severity as i32),
        severity_text: record.severity_text.to_owned(),
        body: record.body.map(Into::into),
        attributes: record
            .attributes
            .into_iter()
            .map(|(key, value)| KeyValue {
                key: key.into(),
                value: Some(value.into()),
                ..KeyValue::default()
            })
            .collect(),
        dropped_attributes_count: record.dropped,
        flags: record.span.map_or(0, |span| span.flags.into()),
        trace_id: record
            .span
            .map_or_else(Vec::new, |span| span.trace_id.into()),
        span_id: record
            .span
            .map_or_else(Vec::new, |span| span.span_id.into()),
        event_name: record.event_name.unwrap_or_default().to_owned(),
    }
}
