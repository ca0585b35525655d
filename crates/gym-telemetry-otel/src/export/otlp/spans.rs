//! Spans through the maintained OTLP exporter, over a transport of ours.
//!
//! `opentelemetry-otlp` turns spans into requests. What it would do with them on its own it leaves to the client it
//! is given: so the endpoint, headers, timeout and retries are those of our settings, whatever it finds in the
//! environment, gRPC gets the same bytes as HTTP, and a collector that takes only a part is heard.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanExporter as _};
use parking_lot::Mutex;
use prost::Message;

use super::Otlp;
use super::encoding::Encoding;
use crate::export::report::{BuildError, Cause, ExportReport};

/// An exporter of spans.
#[derive(Debug)]
pub(crate) struct OtlpSpans {
    exporter: SpanExporter,
    courier: Arc<Courier>,
}

impl OtlpSpans {
    /// Makes an exporter that sends with `otlp`.
    pub(crate) fn build(otlp: Otlp, resource: &Resource) -> Result<Self, BuildError> {
        let courier = Arc::new(Courier {
            otlp,
            batch: Mutex::default(),
        });
        let mut exporter = SpanExporter::builder()
            .with_http()
            .with_shared_http_client(Arc::clone(&courier) as Arc<dyn HttpClient>)
            // Its JSON has no room for NaN; the courier writes JSON that has.
            .with_protocol(opentelemetry_otlp::Protocol::HttpBinary)
            // Given, so that none is taken from the environment; the courier knows where to go.
            .with_endpoint("http://localhost")
            .with_retry_policy(RetryPolicy::disabled())
            .build()
            .map_err(|_| BuildError::Exporter)?;
        exporter.set_resource(resource);
        Ok(Self { exporter, courier })
    }

    /// The endpoint as it may be shown.
    pub(crate) fn destination(&self) -> &str {
        self.courier.otlp.destination()
    }

    /// Exports `batch`.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives the batch up; it may have arrived.
    pub(crate) async fn export(&self, batch: Vec<SpanData>) -> ExportReport {
        let items = batch.len() as u64;
        *self.courier.batch.lock() = Batch {
            items,
            report: None,
        };
        // The courier knows more than this says.
        let _ = self.exporter.export(batch).await;
        let report = self.courier.batch.lock().report.take();
        report.unwrap_or_else(|| ExportReport::lost(items, Cause::NotEncoded))
    }
}

/// Takes the exporter's requests to the collector, one at a time.
struct Courier {
    otlp: Otlp,
    batch: Mutex<Batch>,
}

#[derive(Default)]
struct Batch {
    items: u64,
    report: Option<ExportReport>,
}

impl HttpClient for Courier {
    fn send_bytes<'client, 'sending>(
        &'client self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'sending>>
    where
        'client: 'sending,
        Self: 'sending,
    {
        Box::pin(async move {
            let items = self.batch.lock().items;
            let report = match self.otlp.encoding {
                Encoding::Protobuf => self.otlp.send_encoded(request.into_body(), items).await,
                Encoding::Json => match ExportTraceServiceRequest::decode(request.into_body()) {
                    Ok(request) => self.otlp.send(&request, items).await,
                    Err(_) => ExportReport::lost(items, Cause::NotEncoded),
                },
            };
            self.batch.lock().report = Some(report);
            Ok(Response::new(Bytes::new()))
        })
    }
}

impl fmt::Debug for Courier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.otlp.fmt(f)
    }
}
