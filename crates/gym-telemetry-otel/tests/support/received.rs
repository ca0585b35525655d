//! What the collector has received.

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::Span;

/// One request.
#[derive(Clone, Debug)]
pub struct Request<B> {
    /// The path of the URL.
    pub path: String,
    /// Names in lower case, in the order of arrival, equal names included.
    pub headers: Vec<(String, String)>,
    /// The decoded body.
    pub body: B,
}

impl<B> Request<B> {
    /// All values of one header.
    pub fn header(&self, name: &str) -> Vec<&str> {
        self.headers
            .iter()
            .filter(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
            .collect()
    }
}

/// The accepted requests in order of arrival.
#[derive(Clone, Debug, Default)]
pub struct Received {
    pub traces: Vec<Request<ExportTraceServiceRequest>>,
    pub metrics: Vec<Request<ExportMetricsServiceRequest>>,
    pub logs: Vec<Request<ExportLogsServiceRequest>>,
}

impl Received {
    /// All spans.
    pub fn spans(&self) -> impl Iterator<Item = &Span> {
        self.scoped_spans().map(|(_, _, span)| span)
    }

    /// All spans with their resources and scopes.
    pub fn scoped_spans(&self) -> impl Iterator<Item = (&Resource, &InstrumentationScope, &Span)> {
        let resources = self
            .traces
            .iter()
            .flat_map(|request| &request.body.resource_spans);
        resources.flat_map(|spans| {
            let resource = spans.resource.as_ref().expect("spans come with a resource");
            spans.scope_spans.iter().flat_map(move |spans| {
                let scope = spans.scope.as_ref().expect("spans come with a scope");
                spans.spans.iter().map(move |span| (resource, scope, span))
            })
        })
    }

    /// The metrics of each request: later ones repeat earlier ones with new values.
    pub fn metrics(&self) -> impl Iterator<Item = &Metric> {
        let resources = self
            .metrics
            .iter()
            .flat_map(|request| &request.body.resource_metrics);
        resources
            .flat_map(|metrics| &metrics.scope_metrics)
            .flat_map(|metrics| &metrics.metrics)
    }

    /// All log records with their resources and scopes.
    pub fn scoped_logs(
        &self,
    ) -> impl Iterator<Item = (&Resource, &InstrumentationScope, &LogRecord)> {
        let resources = self
            .logs
            .iter()
            .flat_map(|request| &request.body.resource_logs);
        resources.flat_map(|logs| {
            let resource = logs.resource.as_ref().expect("logs come with a resource");
            logs.scope_logs.iter().flat_map(move |logs| {
                let scope = logs.scope.as_ref().expect("logs come with a scope");
                logs.log_records
                    .iter()
                    .map(move |record| (resource, scope, record))
            })
        })
    }

    /// All log records.
    pub fn log_records(&self) -> impl Iterator<Item = &LogRecord> {
        self.scoped_logs().map(|(_, _, record)| record)
    }

    /// The newest metric with this name.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics().filter(|metric| metric.name == name).last()
    }
}

/// The attribute `key` as text; `None` if it is absent.
pub fn text(attributes: &[KeyValue], key: &str) -> Option<String> {
    let attribute = attributes.iter().find(|attribute| attribute.key == key)?;
    match attribute.value.as_ref()?.value.as_ref()? {
        Value::StringValue(value) => Some(value.clone()),
        Value::BoolValue(value) => Some(value.to_string()),
        Value::IntValue(value) => Some(value.to_string()),
        Value::DoubleValue(value) => Some(value.to_string()),
        other => Some(format!("{other:?}")),
    }
}

/// The message of a log record.
pub fn body(record: &LogRecord) -> &str {
    match record.body.as_ref().and_then(|body| body.value.as_ref()) {
        Some(Value::StringValue(text)) => text,
        other => panic!("no text: {other:?}"),
    }
}
