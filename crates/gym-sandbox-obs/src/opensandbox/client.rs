//! Requests that answer with little, or not at all.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::sync::OnceLock;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Empty};
use hyper::body::{Body as _, Incoming};
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::tls::{Connector, TlsFailure};
use crate::unavailable::Unavailable;

/// The control plane closes a connection that has been idle for thirty seconds.
const LONGEST_IDLE: Duration = Duration::from_secs(20);
const MOST_IDLE: usize = 64;

/// Whether it matters that nothing is missing at the end of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// A body that ends with its connection is taken as whole.
    Any,
    /// Only a body that says where it ends is taken.
    Certain,
}

/// Sends requests over connections that are kept.
#[derive(Default)]
pub(super) struct Client(OnceLock<legacy::Client<Connector, Empty<Bytes>>>);

impl Client {
    /// Returns the body of a good answer of at most `limit` bytes, as a whole.
    pub(super) async fn get(
        &self,
        url: Uri,
        headers: HeaderMap,
        limit: usize,
        framing: Framing,
    ) -> Result<Bytes, Unavailable> {
        let mut request = Request::new(Empty::new());
        *request.uri_mut() = url;
        *request.headers_mut() = headers;
        let response = self.client().request(request).await;
        let response = response.map_err(|error| head_failure(&error))?;
        let status = response.status();
        if status.is_redirection() {
            return Err(Unavailable::Redirect);
        }
        if status != StatusCode::OK {
            return Err(Unavailable::HttpStatus(status.as_u16()));
        }
        let is_chunked = response.headers().contains_key(header::TRANSFER_ENCODING);
        let body = response.into_body();
        if framing == Framing::Certain && !is_chunked && body.size_hint().exact().is_none() {
            return Err(Unavailable::Truncated);
        }
        whole(body, limit).await
    }

    fn client(&self) -> &legacy::Client<Connector, Empty<Bytes>> {
        self.0.get_or_init(|| {
            legacy::Client::builder(TokioExecutor::new())
                .timer(TokioTimer::new())
                .pool_timer(TokioTimer::new())
                .pool_idle_timeout(LONGEST_IDLE)
                .pool_max_idle_per_host(MOST_IDLE)
                .build(Connector::new())
        })
    }
}

async fn whole(mut body: Incoming, limit: usize) -> Result<Bytes, Unavailable> {
    let announced = body.size_hint().lower();
    if usize::try_from(announced).is_ok_and(|announced| announced > limit) {
        return Err(Unavailable::TooLarge);
    }
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| body_failure(&error))?;
        // Anything but data is a trailer, which nobody asked for.
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if data.len() > limit - bytes.len() {
            return Err(Unavailable::TooLarge);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.freeze())
}

/// Everything that an error was caused by, itself first.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (*error).source())
}

fn head_failure(error: &legacy::Error) -> Unavailable {
    if chain(error).any(<dyn Error>::is::<TlsFailure>) {
        return Unavailable::Tls;
    }
    let is_no_http = |cause: &(dyn Error + 'static)| {
        cause
            .downcast_ref::<hyper::Error>()
            .is_some_and(hyper::Error::is_parse)
    };
    if chain(error).any(is_no_http) {
        Unavailable::UnrecognizedResponse
    } else {
        Unavailable::Connection
    }
}

fn body_failure(error: &hyper::Error) -> Unavailable {
    let kind =
        |cause: &(dyn Error + 'static)| cause.downcast_ref::<io::Error>().map(std::io::Error::kind);
    match chain(error).find_map(kind) {
        Some(ErrorKind::UnexpectedEof) => Unavailable::Truncated,
        Some(ErrorKind::InvalidData | ErrorKind::InvalidInput) => Unavailable::UnrecognizedResponse,
        None if error.is_incomplete_message() => Unavailable::Truncated,
        None if error.is_parse() => Unavailable::UnrecognizedResponse,
        Some(_) | None => Unavailable::Connection,
    }
}
