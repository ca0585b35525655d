//! OTLP over gRPC.

use std::error::Error;

use bytes::{Buf, BufMut, Bytes};
use http::HeaderMap;
use http::uri::{PathAndQuery, Scheme, Uri};
use parking_lot::Mutex;
use tonic::codec::{Codec, CompressionEncoding, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::metadata::MetadataMap;
use tonic::transport::{Channel, Endpoint as TonicEndpoint};
use tonic::{Code, Request, Status};
use tonic_types::StatusExt;

use super::super::connect::Connector;
use super::super::endpoint::Endpoint;
use super::super::report::Cause;
use super::classify::transport_failure;
use super::retry::{Failure, Retry};
use crate::settings::{Compression, SignalKind};

/// A client of one service.
pub(super) struct Grpc {
    endpoint: TonicEndpoint,
    connector: Connector,
    channel: Mutex<Channel>,
    metadata: MetadataMap,
    path: PathAndQuery,
    compression: Compression,
}

impl Grpc {
    /// Makes a client that connects when it is first used. Call it inside a tokio runtime.
    pub(super) fn new(
        endpoint: &Endpoint,
        mut headers: HeaderMap,
        kind: SignalKind,
        compression: Compression,
        connector: Connector,
    ) -> Self {
        let mut endpoint = TonicEndpoint::from(plain(endpoint)).origin(endpoint.origin());
        if let Some(agent) = headers.remove(http::header::USER_AGENT) {
            // tonic has the last word on this header and takes it from the endpoint only.
            endpoint = endpoint
                .user_agent(agent)
                .expect("the value was one already");
        }
        let path = match kind {
            SignalKind::Traces => "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
            SignalKind::Metrics => {
                "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
            }
            SignalKind::Logs => "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
        };
        Self {
            channel: Mutex::new(endpoint.connect_with_connector_lazy(connector.clone())),
            endpoint,
            connector,
            metadata: MetadataMap::from_headers(headers),
            path: PathAndQuery::from_static(path),
            compression,
        }
    }

    /// Gives the connection up.
    pub(super) fn reconnect(&self) {
        *self.channel.lock() = self
            .endpoint
            .connect_with_connector_lazy(self.connector.clone());
    }

    pub(super) async fn send(&self, request: Bytes) -> Result<Bytes, Failure> {
        let mut client = tonic::client::Grpc::new(self.channel.lock().clone());
        if self.compression == Compression::Gzip {
            client = client.send_compressed(CompressionEncoding::Gzip);
        }
        client
            .ready()
            .await
            .map_err(|error| transport_failure(&error, true))?;
        let request = Request::from_parts(self.metadata.clone(), http::Extensions::new(), request);
        let answer = client.unary(request, self.path.clone(), Encoded).await;
        answer
            .map(tonic::Response::into_inner)
            .map_err(|status| failure(&status))
    }
}

/// The endpoint as tonic sees it: should another crate have switched tonic's own TLS on, it would insist on that for
/// `https`. The connector makes the connection as it is.
fn plain(endpoint: &Endpoint) -> Uri {
    let mut parts = endpoint.origin().into_parts();
    parts.scheme = Some(Scheme::HTTP);
    Uri::from_parts(parts).expect("another scheme leaves it a URI")
}

fn failure(status: &Status) -> Failure {
    // A status with a source was made by the transport, not sent by the collector.
    if let Some(source) = status.source() {
        return transport_failure(source, status.code() == Code::Unavailable);
    }
    if is_too_large(status) {
        return Failure {
            cause: Cause::TooLarge,
            retry: Retry::Never,
        };
    }
    Failure {
        cause: Cause::GrpcStatus(status.code()),
        retry: retry(status),
    }
}

/// Whether the request is more than the server takes. There is no code for that: implementations use one of these
/// two, which also stand for something that passes, and say so in words of their own (Rust; Go; Java; Python and C++).
fn is_too_large(status: &Status) -> bool {
    let words = [
        "message length too large",
        "message larger than max",
        "message exceeds maximum size",
        "message exceeds the maximum",
    ];
    let message = status.message().to_ascii_lowercase();
    matches!(status.code(), Code::OutOfRange | Code::ResourceExhausted)
        && words.iter().any(|words| message.contains(words))
}

/// The table of the OTLP specification.
fn retry(status: &Status) -> Retry {
    let delay = status
        .get_details_retry_info()
        .and_then(|info| info.retry_delay);
    match (status.code(), delay) {
        (Code::Unavailable | Code::ResourceExhausted, Some(delay)) => Retry::After(delay),
        (
            Code::Unavailable
            | Code::Cancelled
            | Code::DeadlineExceeded
            | Code::Aborted
            | Code::OutOfRange
            | Code::DataLoss,
            _,
        ) => Retry::Soon,
        _ => Retry::Never,
    }
}

/// Messages that are encoded already.
#[derive(Clone, Copy)]
struct Encoded;

impl Codec for Encoded {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Encoded {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(message);
        Ok(())
    }
}

impl Decoder for Encoded {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}
