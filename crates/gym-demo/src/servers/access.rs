//! A log line for each request.

use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::Response;
use gym_telemetry_core::attribute;

/// Says what was asked and how it was answered, in the span of the request.
pub(super) async fn log(request: Request, next: Next) -> Response {
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let response = next.run(request).await;
    let status = response.status().as_u16();
    let route = route.as_ref().map_or("", MatchedPath::as_str);
    tracing::info!(
        { attribute::HTTP_REQUEST_METHOD } = method.as_str(),
        { attribute::HTTP_ROUTE } = route,
        { attribute::HTTP_RESPONSE_STATUS_CODE } = status,
        "{method} {route} {status}"
    );
    response
}
