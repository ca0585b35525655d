//! The model server: two endpoints, one script.

use std::sync::Arc;

use axum::extract::State;
use axum::routing::post;
use axum::{Extension, Json, Router};
use gym_telemetry_api::in_span;
use gym_telemetry_core::{RolloutId, attribute, group, span};

use super::chat::{ChatMessage, ChatReply, ChatRequest};
use super::script;
use super::wire::{ResponsesReply, ResponsesRequest};

/// What the handlers know.
#[derive(Debug)]
pub(crate) struct Model {
    name: String,
}

/// `/v1/responses` and `/v1/chat/completions`.
pub(crate) fn router(name: String) -> Router {
    Router::new()
        .route("/v1/responses", post(responses))
        .route("/v1/chat/completions", post(chat_completions))
        .with_state(Arc::new(Model { name }))
}

async fn responses(
    State(model): State<Arc<Model>>,
    rollout: Option<Extension<RolloutId>>,
    Json(request): Json<ResponsesRequest>,
) -> Json<ResponsesReply> {
    let answer = async { script::answer(&request.input.into_items()) };
    let answer = in_span!(
        group::MODEL_CALL,
        span::MODEL_RESPONSES,
        attribute::SERVER_NAME => model.name,
        attribute::ROLLOUT_ID => rollout.as_deref();
        answer
    );
    Json(ResponsesReply::new(&model.name, vec![answer.await]))
}

async fn chat_completions(
    State(model): State<Arc<Model>>,
    rollout: Option<Extension<RolloutId>>,
    Json(request): Json<ChatRequest>,
) -> Json<ChatReply> {
    let conversation: Vec<_> = request
        .messages
        .into_iter()
        .flat_map(ChatMessage::into_items)
        .collect();
    let answer = async { script::answer(&conversation) };
    let answer = in_span!(
        group::MODEL_CALL,
        span::MODEL_CHAT_COMPLETIONS,
        attribute::SERVER_NAME => model.name,
        attribute::ROLLOUT_ID => rollout.as_deref();
        answer
    );
    Json(ChatReply::new(&model.name, answer.await))
}
