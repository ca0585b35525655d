//! The model server: three endpoints, one script.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::routing::post;
use axum::{Extension, Json, Router};
use gym_concurrency::{AcquireError, OwnedPermit};
use gym_telemetry_api::{Stopwatch, in_span, record_model_call, stopwatch};
use gym_telemetry_core::outcome::{CallOutcome, Dialect, ModelCall, TokenUsage};
use gym_telemetry_core::{RolloutId, attribute, group, span};
use tokio::time::sleep;

use super::chat::{ChatMessage, ChatReply, ChatRequest};
use super::error::HandlerError;
use super::messages::{Message, MessagesReply, MessagesRequest};
use super::script;
use super::wire::{Item, ResponsesReply, ResponsesRequest, Usage};
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
    /// Takes a slot for a call; one without a slot has failed and is on record.
    async fn admit(
        &self,
        call: ModelCall<'_>,
        watch: &Stopwatch,
    ) -> Result<OwnedPermit, AcquireError> {
        let slot = self.slots.admit().await;
        if let Err(error) = &slot {
            let category = if error.is_timeout() {
                "admission_timeout"
            } else {
                "not_admitted"
            };
            record_model_call(&ModelCall {
                outcome: CallOutcome::Error(category),
                duration: watch.elapsed(),
                ..call
            });
        }
        slot
    }

    /// What is known of a call before its answer.
    fn call(&self, dialect: Dialect) -> ModelCall<'_> {
        ModelCall {
            server: Some(&self.name),
            dialect: Some(dialect),
            ..ModelCall::default()
        }
    }

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

impl From<Usage> for TokenUsage {
    fn from(usage: Usage) -> Self {
        Self {
            input: Some(usage.input_tokens),
            output: Some(usage.output_tokens),
            // The script does not think.
            reasoning: None,
        }
    }
}

/// `/v1/responses`, `/v1/chat/completions` and `/v1/messages`.
pub(crate) fn router(model: Model) -> Router {
    Router::new()
        .route("/v1/responses", post(responses))
        .route("/v1/chat/completions", post(chat_completions))
        .route("/v1/messages", post(messages))
        .with_state(Arc::new(model))
}

async fn responses(
    State(model): State<Arc<Model>>,
    rollout: Option<Extension<RolloutId>>,
    Json(request): Json<ResponsesRequest>,
) -> Result<Json<ResponsesReply>, HandlerError> {
    let watch = stopwatch!();
    let call = model.call(Dialect::Responses);
    let conversation = request.input.into_items();
    let slot = model.admit(call, &watch).await?;
    let answer = model.generate(&conversation);
    let answer = in_span!(
        group::MODEL_CALL,
        span::MODEL_RESPONSES,
        attribute::SERVER_NAME => model.name,
        attribute::ROLLOUT_ID => rollout.as_deref();
        answer
    );
    let answer = answer.await;
    model.end(slot);
    let usage = Usage::of(&conversation, &answer);
    let reply = ResponsesReply {
        status: Some("completed".to_owned()),
        usage: Some(usage),
        ..ResponsesReply::new(&model.name, vec![answer])
    };
    record_model_call(&ModelCall {
        duration: watch.elapsed(),
        tokens: usage.into(),
        finish_reason: reply.status.as_deref(),
        ..call
    });
    Ok(Json(reply))
}

async fn chat_completions(
    State(model): State<Arc<Model>>,
    rollout: Option<Extension<RolloutId>>,
    Json(request): Json<ChatRequest>,
) -> Result<Json<ChatReply>, HandlerError> {
    let watch = stopwatch!();
    let call = model.call(Dialect::Chat);
    let conversation: Vec<_> = request
        .messages
        .into_iter()
        .flat_map(ChatMessage::into_items)
        .collect();
    let slot = model.admit(call, &watch).await?;
    let answer = model.generate(&conversation);
    let answer = in_span!(
        group::MODEL_CALL,
        span::MODEL_CHAT_COMPLETIONS,
        attribute::SERVER_NAME => model.name,
        attribute::ROLLOUT_ID => rollout.as_deref();
        answer
    );
    let answer = answer.await;
    model.end(slot);
    let usage = Usage::of(&conversation, &answer);
    let reply = ChatReply::new(&model.name, answer, usage);
    let finish_reason = reply.choices.first().map(|choice| &*choice.finish_reason);
    record_model_call(&ModelCall {
        duration: watch.elapsed(),
        tokens: usage.into(),
        finish_reason,
        ..call
    });
    Ok(Json(reply))
}

async fn messages(
    State(model): State<Arc<Model>>,
    rollout: Option<Extension<RolloutId>>,
    Json(request): Json<MessagesRequest>,
) -> Result<Json<MessagesReply>, HandlerError> {
    let watch = stopwatch!();
    let call = model.call(Dialect::Messages);
    let messages = request.messages.into_iter();
    let conversation: Vec<_> = messages.flat_map(Message::into_items).collect();
    let slot = model.admit(call, &watch).await?;
    let answer = model.generate(&conversation);
    let answer = in_span!(
        group::MODEL_CALL,
        span::MODEL_MESSAGES,
        attribute::SERVER_NAME => model.name,
        attribute::ROLLOUT_ID => rollout.as_deref();
        answer
    );
    let answer = answer.await;
    model.end(slot);
    let usage = Usage::of(&conversation, &answer);
    let reply = MessagesReply::new(&model.name, answer, usage);
    record_model_call(&ModelCall {
        duration: watch.elapsed(),
        tokens: usage.into(),
        finish_reason: Some(&reply.stop_reason),
        ..call
    });
    Ok(Json(reply))
}
