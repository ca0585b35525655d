//! The model server: two endpoints, one script.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::routing::post;
use axum::{Extension, Json, Router};
use gym_concurrency::OwnedPermit;
use gym_telemetry_api::in_span;
use gym_telemetry_core::{RolloutId, attribute, group, span};
use tokio::time::sleep;

use super::chat::{ChatMessage, ChatReply, ChatRequest};
use super::error::HandlerError;
use super::script;
use super::wire::{Item, ResponsesReply, ResponsesRequest};
use crate::limits::Limit;

/// What the handlers know.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) name: String,
    /// Bounds the generations.
    pub(crate) slots: Arc<Limit>,
    /// How long a generation takes.
    pub(crate) latency: Duration,
    /// Generations that have yet to keep their slot for good.
    pub(crate) leaks: AtomicU32,
}

impl Model {
    /// One generation: in a slot, and not faster than a model is.
    async fn generate(&self, conversation: &[Item]) -> Item {
        if !self.latency.is_zero() {
            sleep(self.latency).await;
        }
        script::answer(conversation)
    }

    /// Gives the slot back, unless this is a generation that leaks it.
    fn end(&self, slot: OwnedPermit) {
        let left = |leaks: u32| leaks.checked_sub(1);
        let leaked = self
            .leaks
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, left);
        match leaked {
            Ok(_) => std::mem::forget(slot),
            Err(_) => drop(slot),
        }
    }
}

/// `/v1/responses` and `/v1/chat/completions`.
pub(crate) fn router(model: Model) -> Router {
    Router::new()
        .route("/v1/responses", post(responses))
        .route("/v1/chat/completions", post(chat_completions))
        .with_state(Arc::new(model))
}

async fn responses(
    State(model): State<Arc<Model>>,
    rollout: Option<Extension<RolloutId>>,
    Json(request): Json<ResponsesRequest>,
) -> Result<Json<ResponsesReply>, HandlerError> {
    let conversation = request.input.into_items();
    let slot = model.slots.admit().await?;
    let answer = model.generate(&conversation);
    let answer = in_span!(
        group::MODEL_CALL,
        span::MODEL_RESPONSES,
        attribute::SERVER_NAME => model.name,
        attribute::ROLLOUT_ID => rollout.as_deref();
        answer
    );
    let reply = ResponsesReply::new(&model.name, vec![answer.await]);
    model.end(slot);
    Ok(Json(reply))
}

async fn chat_completions(
    State(model): State<Arc<Model>>,
    rollout: Option<Extension<RolloutId>>,
    Json(request): Json<ChatRequest>,
) -> Result<Json<ChatReply>, HandlerError> {
    let conversation: Vec<_> = request
        .messages
        .into_iter()
        .flat_map(ChatMessage::into_items)
        .collect();
    let slot = model.slots.admit().await?;
    let answer = model.generate(&conversation);
    let answer = in_span!(
        group::MODEL_CALL,
        span::MODEL_CHAT_COMPLETIONS,
        attribute::SERVER_NAME => model.name,
        attribute::ROLLOUT_ID => rollout.as_deref();
        answer
    );
    let reply = ChatReply::new(&model.name, answer.await);
    model.end(slot);
    Ok(Json(reply))
}
