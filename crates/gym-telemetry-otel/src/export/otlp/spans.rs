//! Spans to a collector, over a transport of ours.
//!
//! In protocol buffers, requests are written straight from the records. In JSON, `opentelemetry-otlp` turns spans into
//! requests. What it would do with them on its own it leaves to the client it is given: so the endpoint, headers, timeout
//! and retries are those of our settings, whatever it finds in the environment, and a collector that takes only a part is
//! heard.

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
use crate::recorder::Encoder;
use crate::settings::Protocol;
use crate::thread::Batch as SpanBatch;

/// An exporter of spans.
#[derive(Debug)]
pub(crate) struct OtlpSpans {
    exporter: SpanExporter,
    courier: Arc<Courier>,
    /// Writes requests in protocol buffers.
    encoder: Mutex<Encoder>,
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
        let attributes = opentelemetry_proto::tonic::resource::v1::Resource::from(resource);
        let encoder = Encoder::new(&attributes.encode_to_vec(), resource.schema_url());
        Ok(Self {
            exporter,
            courier,
            encoder: Mutex::new(encoder),
        })
    }

    /// The endpoint as it may be shown.
    pub(crate) fn destination(&self) -> &str {
        self.courier.otlp.destination()
    }

    /// What the collector is spoken to in.
    pub(crate) fn protocol(&self) -> Protocol {
        self.courier.otlp.protocol()
    }

    /// The request with a batch; `None` if it is not to be in protocol buffers.
    pub(crate) fn encode(&self, batch: &SpanBatch<'_>) -> Option<Bytes> {
        match self.courier.otlp.encoding {
            Encoding::Protobuf => Some(batch.to_request(&mut self.encoder.lock()).into()),
            Encoding::Json => None,
        }
    }

    /// Exports a request with `items` spans.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives the batch up; it may have arrived.
    pub(crate) async fn export_encoded(&self, request: Bytes, items: u64) -> ExportReport {
        self.courier.otlp.send_encoded(request, items).await
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
