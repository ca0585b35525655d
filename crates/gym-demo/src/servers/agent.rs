//! The agent server: asks the model, calls the tools that the model wants, looks at the answer in a sandbox, has it
//! judged.

use std::sync::Arc;

use axum::extract::State;
use axum::routing::post;
use axum::{Extension, Json, Router};
use gym_telemetry_api::in_span;
use gym_telemetry_core::{RolloutId, attribute, group, span};

use super::chat::{ChatMessage, ChatReply, ChatRequest};
use super::error::HandlerError;
use super::messages::{Message, MessagesReply, MessagesRequest};
use super::sandbox::Sandbox;
use super::script::{WEATHER_TOOL, city_of_call};
use super::wire::{
    Input, Item, ModelApi, ResponsesReply, ResponsesRequest, RunRequest, VerifyReply,
    VerifyRequest, WeatherReply, WeatherRequest,
};
use crate::client::Client;
use crate::limits::Limit;

/// A model that still wants tools after so many turns is not going to answer.
const MAX_TURNS: usize = 8;

/// What `/v1/messages` wants to be told; the answers are far shorter.
const MAX_TOKENS: u32 = 1024;

/// Whether an answer is about the weather. What comes of it is on record and decides nothing.
const LOOK: &str = "grep -q weather";

/// What the handlers know.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) name: String,
    pub(crate) client: Client,
    /// Where this server is reached: `/run` goes through its own `/v1/responses`.
    pub(crate) own_url: String,
    pub(crate) model_url: String,
    pub(crate) resources_url: String,
    /// Bounds the requests to the model server.
    pub(crate) upstream: Arc<Limit>,
}

/// `/run` and `/v1/responses`.
pub(crate) fn router(agent: Agent) -> Router {
    Router::new()
        .route("/run", post(run))
        .route("/v1/responses", post(responses))
        .with_state(Arc::new(agent))
}

/// The rollout that a request belongs to, if any.
type Rollout = Option<Extension<RolloutId>>;

async fn run(
    State(agent): State<Arc<Agent>>,
    rollout: Rollout,
    Json(request): Json<RunRequest>,
) -> Result<Json<VerifyReply>, HandlerError> {
    let rollout = rollout.as_deref();
    let reply = in_span!(
        group::AGENT,
        span::AGENT_RUN,
        attribute::SERVER_NAME => agent.name,
        attribute::ROLLOUT_ID => rollout,
        err;
        agent.run(rollout, request)
    );
    reply.await.map(Json)
}

async fn responses(
    State(agent): State<Arc<Agent>>,
    rollout: Rollout,
    Json(request): Json<ResponsesRequest>,
) -> Result<Json<ResponsesReply>, HandlerError> {
    let rollout = rollout.as_deref();
    let reply = in_span!(
        group::AGENT,
        span::AGENT_RESPONSES,
        attribute::SERVER_NAME => agent.name,
        attribute::ROLLOUT_ID => rollout,
        err;
        agent.responses(rollout, request)
    );
    reply.await.map(Json)
}

impl Agent {
    /// One rollout: the agent's answer and its reward. Its sandbox lives until the answer is there.
    async fn run(
        &self,
        rollout: Option<&RolloutId>,
        request: RunRequest,
    ) -> Result<VerifyReply, HandlerError> {
        let RunRequest {
            responses_create_params,
            verifier_metadata,
            model_api,
        } = request;
        let question = ResponsesRequest {
            model_api,
            ..responses_create_params
        };
        let sandbox = Sandbox::start().await?;
        let response = self.answer(rollout, &question, &sandbox).await;
        sandbox.stop().await?;
        let verify = VerifyRequest {
            responses_create_params: question,
            response: response?,
            verifier_metadata,
        };
        Ok(self
            .client
            .post(&self.resources_url, rollout, "/verify", &verify)
            .await?)
    }

    async fn answer(
        &self,
        rollout: Option<&RolloutId>,
        question: &ResponsesRequest,
        sandbox: &Sandbox,
    ) -> Result<ResponsesReply, HandlerError> {
        let response: ResponsesReply = self
            .client
            .post(&self.own_url, rollout, "/v1/responses", question)
            .await?;
        let answers: Vec<_> = response.output.iter().map(Item::text).collect();
        sandbox.exec(LOOK, &answers.join("\n")).await?;
        Ok(response)
    }

    /// Model and tools in turn until the model answers. The output is all that came after the question.
    async fn responses(
        &self,
        rollout: Option<&RolloutId>,
        request: ResponsesRequest,
    ) -> Result<ResponsesReply, HandlerError> {
        let mut conversation = request.input.into_items();
        let question_length = conversation.len();
        for _ in 0..MAX_TURNS {
            let (model, output) = self
                .ask_model(rollout, request.model_api, &conversation)
                .await?;
            let calls: Vec<_> = output
                .iter()
                .filter(|item| item.kind == Item::CALL)
                .cloned()
                .collect();
            conversation.extend(output);
            if calls.is_empty() {
                return Ok(ResponsesReply::new(
                    &model,
                    conversation.split_off(question_length),
                ));
            }
            for call in &calls {
                conversation.push(self.call_tool(rollout, call).await?);
            }
        }
        Err(HandlerError::internal(format!(
            "no answer from the model after {MAX_TURNS} turns"
        )))
    }

    /// Name of the model and what it adds to the conversation.
    async fn ask_model(
        &self,
        rollout: Option<&RolloutId>,
        api: ModelApi,
        conversation: &[Item],
    ) -> Result<(String, Vec<Item>), HandlerError> {
        let _slot = self.upstream.admit().await?;
        match api {
            ModelApi::Responses => {
                let request = ResponsesRequest {
                    input: Input::Items(conversation.to_vec()),
                    model_api: ModelApi::default(),
                };
                let reply: ResponsesReply = self
                    .client
                    .post(&self.model_url, rollout, "/v1/responses", &request)
                    .await?;
                Ok((reply.model, reply.output))
            }
            ModelApi::ChatCompletions => {
                let request = ChatRequest {
                    messages: conversation
                        .iter()
                        .cloned()
                        .map(ChatMessage::from)
                        .collect(),
                };
                let reply: ChatReply = self
                    .client
                    .post(&self.model_url, rollout, "/v1/chat/completions", &request)
                    .await?;
                let choice = reply.choices.into_iter().next();
                let choice =
                    choice.ok_or_else(|| HandlerError::internal("the model gave no choice"))?;
                Ok((reply.model, choice.message.into_items()))
            }
            ModelApi::Messages => {
                let messages = conversation.iter().cloned().map(Message::from);
                let request = MessagesRequest {
                    max_tokens: MAX_TOKENS,
                    messages: messages.collect(),
                };
                let reply: MessagesReply = self
                    .client
                    .post(&self.model_url, rollout, "/v1/messages", &request)
                    .await?;
                Ok((reply.model, reply.message.into_items()))
            }
        }
    }

    async fn call_tool(
        &self,
        rollout: Option<&RolloutId>,
        call: &Item,
    ) -> Result<Item, HandlerError> {
        if call.name.as_deref() != Some(WEATHER_TOOL) {
            return Err(HandlerError::internal(
                "the model wants a tool that does not exist",
            ));
        }
        let city =
            city_of_call(call).ok_or_else(|| HandlerError::internal("the model named no city"))?;
        let weather: WeatherReply = self
            .client
            .post(
                &self.resources_url,
                rollout,
                "/get_weather",
                &WeatherRequest { city },
            )
            .await?;
        let output = serde_json::to_string(&weather).expect("strings always serialize");
        Ok(Item::call_output(
            call.call_id.as_deref().unwrap_or_default(),
            output,
        ))
    }
}
