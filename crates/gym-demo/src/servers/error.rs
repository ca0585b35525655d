//! How a handler fails: a status and one JSON object that says why.

use std::fmt::{self, Display};

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use gym_concurrency::AcquireError;
use serde_json::json;

use crate::client::ClientError;

/// An answer that is an error.
#[derive(Debug)]
pub(crate) struct HandlerError {
    status: StatusCode,
    message: String,
}

impl HandlerError {
    /// This server could not do it: 500.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            message: message.into(),
        }
    }
}

/// Another server did not do its part: 502.
impl From<ClientError> for HandlerError {
    fn from(error: ClientError) -> Self {
        Self {
            status: StatusCode::BAD_GATEWAY,
            message: error.to_string(),
        }
    }
}

/// There was no room for the request in time: 503.
impl From<AcquireError> for HandlerError {
    fn from(error: AcquireError) -> Self {
        Self {
            status: StatusCode::SERVICE_UNAVAILABLE,
            message: error.to_string(),
        }
    }
}

impl Display for HandlerError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for HandlerError {}

impl IntoResponse for HandlerError {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.message }))).into_response()
    }
}
