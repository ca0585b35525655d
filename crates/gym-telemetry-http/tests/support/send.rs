//! Clients with `TelemetryMiddleware`, and a server that shows what they send.

use axum::Router;
use axum::http::HeaderMap;
use axum::routing::any;
use gym_telemetry_http::{PropagationPolicy, TelemetryMiddleware};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};

use super::serve;

/// Answers with the trace headers it was sent, one per line.
pub fn echo() -> Router {
    let handler = |headers: HeaderMap| async move {
        let line = |name| {
            headers
                .get_all(name)
                .iter()
                .map(move |value| format!("{name}: {value:?}\n"))
        };
        ["traceparent", "tracestate", "baggage"]
            .into_iter()
            .flat_map(line)
            .collect::<String>()
    };
    Router::new().fallback(any(handler))
}

/// A client that hands the trace on.
pub fn client() -> ClientWithMiddleware {
    with(serve::plain_client(), PropagationPolicy::default())
}

/// A client with a policy of its own.
pub fn with(client: reqwest::Client, policy: PropagationPolicy) -> ClientWithMiddleware {
    ClientBuilder::new(client)
        .with(TelemetryMiddleware::new(policy))
        .build()
}

/// The whole answer.
pub async fn body_of(request: reqwest_middleware::RequestBuilder) -> String {
    request
        .send()
        .await
        .expect("an answer")
        .text()
        .await
        .expect("text")
}
