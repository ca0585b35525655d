//! OTLP over HTTP/1.1.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::super::connect::Connector;
use super::super::report::Cause;
use super::classify::transport_failure;
use super::encoding::Encoding;
use super::retry::{Failure, Retry};
use crate::settings::Compression;

/// An answer says at most how many items were rejected and why.
const LARGEST_ANSWER: usize = 64 * 1024;

/// A client of one URL.
pub(super) struct Http {
    client: Client<Connector, Full<Bytes>>,
    uri: Uri,
    headers: HeaderMap,
}

impl Http {
    pub(super) fn new(
        uri: Uri,
        mut headers: HeaderMap,
        encoding: Encoding,
        compression: Compression,
        connector: Connector,
    ) -> Self {
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static(encoding.content_type()),
        );
        if compression == Compression::Gzip {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        let mut builder = Client::builder(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_max_idle_per_host(1);
        Self {
            client: builder.build(connector),
            uri,
            headers,
        }
    }

    pub(super) async fn send(&self, body: Bytes) -> Result<Bytes, Failure> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        let response = self
            .client
            .request(request)
            .await
            .map_err(|error| transport_failure(&error, error.is_connect()))?;
        if !response.status().is_success() {
            return Err(failure(&response));
        }
        // The items have arrived: an answer that cannot be read loses nothing but its remarks.
        let answer = Limited::new(response.into_body(), LARGEST_ANSWER)
            .collect()
            .await;
        Ok(answer
            .map(http_body_util::Collected::to_bytes)
            .unwrap_or_default())
    }
}

/// The table of the OTLP specification. Redirects are not followed: they could carry the headers elsewhere.
fn failure<B>(response: &Response<B>) -> Failure {
    let status = response.status();
    let retry = match status {
        StatusCode::TOO_MANY_REQUESTS
        | StatusCode::BAD_GATEWAY
        | StatusCode::SERVICE_UNAVAILABLE
        | StatusCode::GATEWAY_TIMEOUT => {
            retry_after(response.headers()).map_or(Retry::Soon, Retry::After)
        }
        _ => Retry::Never,
    };
    let cause = match status {
        StatusCode::PAYLOAD_TOO_LARGE => Cause::TooLarge,
        _ => Cause::HttpStatus(status.as_u16()),
    };
    Failure { cause, retry }
}

/// The pause that the collector asks for in seconds; the form with a date is not worth a parser.
fn retry_after(headers: &HeaderMap) -> Option<std::time::Duration> {
    let seconds = headers
        .get(header::RETRY_AFTER)?
        .to_str()
        .ok()?
        .trim()
        .parse()
        .ok()?;
    Some(std::time::Duration::from_secs(seconds))
}
