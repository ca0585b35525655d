//! Sends OTLP requests to a collector.
//!
//! Spans are turned into requests by `opentelemetry-otlp`, metrics by `opentelemetry-proto`: their resource is known
//! only after the first of them are recorded, and the exporter crate takes it from the provider. The transports are
//! tonic and hyper.

mod classify;
mod encoding;
mod grpc;
mod http;
mod json;
mod retry;
mod spans;

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use prost::Message;
use serde::Serialize;
use tokio::time::Instant;

use self::encoding::{Answer, Encoding, gzip};
use self::grpc::Grpc;
use self::http::Http;
use self::retry::{Backoff, Failure, Retry};
pub(crate) use self::spans::OtlpSpans;
use super::connect::Connector;
use super::endpoint::{Endpoint, headers};
use super::report::{BuildError, Cause, ExportReport};
use super::tls::{Inner, Tls, Trouble};
use crate::settings::{Compression, Protocol, Signal, SignalKind};

/// A sender for one signal.
pub(crate) struct Otlp {
    transport: Transport,
    /// What goes wrong inside TLS, where there is any.
    trouble: Option<Trouble>,
    encoding: Encoding,
    compression: Compression,
    timeout: Duration,
    destination: String,
}

enum Transport {
    Grpc(Box<Grpc>),
    Http(Box<Http>),
}

impl Otlp {
    /// Makes a sender from nothing but `signal`; no environment is read and no connection made.
    pub(crate) fn build(signal: &Signal, kind: SignalKind) -> Result<Self, BuildError> {
        // tonic would panic instead.
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(BuildError::NoRuntime);
        }
        let endpoint = Endpoint::parse(&signal.endpoint)?;
        let headers = headers(&signal.headers, &endpoint)?;
        let destination = endpoint.to_string();
        let compression = signal.compression;
        let encoding = match signal.protocol {
            Protocol::Grpc | Protocol::HttpProtobuf => Encoding::Protobuf,
            Protocol::HttpJson => Encoding::Json,
        };
        let inner = match signal.protocol {
            Protocol::Grpc => Inner::Http2,
            Protocol::HttpProtobuf | Protocol::HttpJson => Inner::Http1,
        };
        let host = endpoint.uri.host().unwrap_or_default();
        let tls = endpoint
            .is_tls()
            .then(|| Tls::build(&signal.tls, host, inner))
            .transpose()?;
        let trouble = tls.as_ref().map(|tls| tls.trouble().clone());
        let connector = Connector::new(endpoint.uri.clone(), tls);
        let transport =
            match signal.protocol {
                Protocol::Grpc => Transport::Grpc(Box::new(Grpc::new(
                    &endpoint,
                    headers,
                    kind,
                    compression,
                    connector,
                ))),
                Protocol::HttpProtobuf | Protocol::HttpJson => Transport::Http(Box::new(
                    Http::new(endpoint.uri, headers, encoding, compression, connector),
                )),
            };
        Ok(Self {
            transport,
            trouble,
            encoding,
            compression,
            timeout: signal.timeout,
            destination,
        })
    }

    /// What it speaks.
    pub(crate) fn protocol(&self) -> Protocol {
        match (&self.transport, &self.encoding) {
            (Transport::Grpc(_), _) => Protocol::Grpc,
            (Transport::Http(_), Encoding::Protobuf) => Protocol::HttpProtobuf,
            (Transport::Http(_), Encoding::Json) => Protocol::HttpJson,
        }
    }

    /// The endpoint as it may be shown.
    pub(crate) fn destination(&self) -> &str {
        &self.destination
    }

    /// Sends `request`, which holds `items` items, with retries, all within the timeout; a timeout of zero is none.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives the request up; the collector may have got it.
    pub(crate) async fn send(
        &self,
        request: &(impl Message + Serialize),
        items: u64,
    ) -> ExportReport {
        match self.encoding.encode(request) {
            Ok(request) => self.send_encoded(Bytes::from(request), items).await,
            Err(_) => ExportReport::lost(items, Cause::NotEncoded),
        }
    }

    /// As [`Otlp::send`], of a request in the bytes of [`Encoding`].
    async fn send_encoded(&self, request: Bytes, items: u64) -> ExportReport {
        let Some(request) = self.compress(request) else {
            return ExportReport::lost(items, Cause::NotEncoded);
        };
        let deadline = (!self.timeout.is_zero()).then(|| Instant::now() + self.timeout);
        let sent = self.send_until_done(request, deadline);
        let answer = match deadline {
            None => sent.await,
            Some(deadline) => tokio::time::timeout_at(deadline, sent)
                .await
                .unwrap_or_else(|_| {
                    // The connection may be dead without a sign; the next request gets a new one.
                    if let Transport::Grpc(grpc) = &self.transport {
                        grpc.reconnect();
                    }
                    Err(Cause::TimedOut)
                }),
        };
        match answer {
            Ok(body) => report(self.encoding.decode(&body), items),
            Err(cause) => ExportReport::lost(items, cause),
        }
    }

    fn compress(&self, request: Bytes) -> Option<Bytes> {
        match (&self.transport, self.compression) {
            (Transport::Http(_), Compression::Gzip) => gzip(&request).ok().map(Bytes::from),
            // tonic compresses on its own.
            _ => Some(request),
        }
    }

    async fn send_once(&self, request: Bytes) -> Result<Bytes, Failure> {
        // What is left was about an earlier request.
        let _ = self.trouble.as_ref().and_then(Trouble::take);
        let answer = match &self.transport {
            Transport::Grpc(grpc) => grpc.send(request).await,
            Transport::Http(http) => http.send(request).await,
        };
        answer.map_err(|failure| {
            let noted = self.trouble.as_ref().and_then(Trouble::take);
            match noted.filter(|_| tells_less_than_tls(failure.cause)) {
                // Certificates do not change while a request waits.
                Some(cause) => Failure {
                    cause,
                    retry: Retry::Never,
                },
                None => failure,
            }
        })
    }

    async fn send_until_done(
        &self,
        request: Bytes,
        deadline: Option<Instant>,
    ) -> Result<Bytes, Cause> {
        let mut backoff = Backoff::new(deadline);
        loop {
            let Failure { cause, retry } = match self.send_once(request.clone()).await {
                Ok(body) => return Ok(body),
                Err(failure) => failure,
            };
            let Some(delay) = backoff.next(retry) else {
                return Err(cause);
            };
            tokio::time::sleep(delay).await;
        }
    }
}

impl fmt::Debug for Otlp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Otlp")
            .field("destination", &self.destination)
            .finish_non_exhaustive()
    }
}

/// Whether a failure may have come from inside TLS.
fn tells_less_than_tls(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::ConnectionLost | Cause::OtherProtocol | Cause::Unreachable
    )
}

fn report(answer: Answer, items: u64) -> ExportReport {
    let rejected = answer.rejected.min(items);
    let cause = match (rejected, answer.has_message) {
        (0, false) => None,
        (0, true) => Some(Cause::CollectorWarning),
        _ => Some(Cause::PartlyRejected),
    };
    ExportReport {
        exported: items - rejected,
        failed: rejected,
        cause,
    }
}
