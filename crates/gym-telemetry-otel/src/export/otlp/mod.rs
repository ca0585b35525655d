//! Sends encoded OTLP requests to a collector.
//!
//! The maintained OTLP exporter crate is not used: it reads the `OTEL_*` environment on its own, behind the back of
//! our settings, hides partial success of gRPC, encodes again on each retry, and its errors cannot be told apart.
//! Encoding is that of `opentelemetry-proto`, the transports are tonic and hyper.

mod classify;
mod grpc;
mod http;
mod retry;

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message;
use tokio::time::Instant;

use self::grpc::Grpc;
use self::http::Http;
use self::retry::{Backoff, Failure};
use super::endpoint::{Endpoint, headers};
use super::report::{BuildError, Cause, ExportReport};
use crate::settings::{Protocol, Signal, SignalKind};

/// A sender for one signal.
pub(crate) struct Otlp {
    transport: Transport,
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
        let transport = match signal.protocol {
            Protocol::Grpc => Transport::Grpc(Box::new(Grpc::new(&endpoint, headers, kind))),
            Protocol::HttpProtobuf | Protocol::HttpJson => {
                Transport::Http(Box::new(Http::new(endpoint.uri, headers)))
            }
        };
        Ok(Self {
            transport,
            timeout: signal.timeout,
            destination,
        })
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
    pub(crate) async fn send(&self, request: Vec<u8>, items: u64) -> ExportReport {
        let deadline = (!self.timeout.is_zero()).then(|| Instant::now() + self.timeout);
        let sent = self.send_until_done(Bytes::from(request), deadline);
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
            Ok(body) => report(&body, items),
            Err(cause) => ExportReport::lost(items, cause),
        }
    }

    async fn send_until_done(
        &self,
        request: Bytes,
        deadline: Option<Instant>,
    ) -> Result<Bytes, Cause> {
        let mut backoff = Backoff::new(deadline);
        loop {
            let answer = match &self.transport {
                Transport::Grpc(grpc) => grpc.send(request.clone()).await,
                Transport::Http(http) => http.send(request.clone()).await,
            };
            let Failure { cause, retry } = match answer {
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

/// What the collector says about a request that it took.
///
/// The responses of all services have the fields of the trace service's. The collector's message is not kept: it
/// may repeat a secret.
fn report(body: &[u8], items: u64) -> ExportReport {
    let partial = ExportTraceServiceResponse::decode(body)
        .ok()
        .and_then(|response| response.partial_success);
    let Some(partial) = partial else {
        return ExportReport::delivered(items);
    };
    let rejected = u64::try_from(partial.rejected_spans)
        .unwrap_or(0)
        .min(items);
    let cause = match (rejected, partial.error_message.is_empty()) {
        (0, true) => None,
        (0, false) => Some(Cause::CollectorWarning),
        _ => Some(Cause::PartlyRejected),
    };
    ExportReport {
        exported: items - rejected,
        failed: rejected,
        cause,
    }
}
