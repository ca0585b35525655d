//! The JSON that the servers of the fleet exchange.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The endpoint of a model server that an agent uses.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ModelApi {
    /// `/v1/responses`
    #[default]
    Responses,
    /// `/v1/chat/completions`
    ChatCompletions,
    /// `/v1/messages`
    Messages,
}

/// Body of the agent's `/run`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct RunRequest {
    pub(crate) responses_create_params: ResponsesRequest,
    #[serde(default)]
    pub(crate) verifier_metadata: Value,
    #[serde(default)]
    pub(crate) model_api: ModelApi,
}

/// Body of `/v1/responses`, of agents and models alike.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ResponsesRequest {
    pub(crate) input: Input,
    /// Read by the agent only: which endpoint of the model server it uses.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) model_api: ModelApi,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_default(api: &ModelApi) -> bool {
    *api == ModelApi::default()
}

/// The conversation so far: a question alone, or items.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub(crate) enum Input {
    Question(String),
    Items(Vec<Item>),
}

impl Input {
    pub(crate) fn into_items(self) -> Vec<Item> {
        match self {
            Self::Question(text) => vec![Item::message("user", text)],
            Self::Items(items) => items,
        }
    }
}

/// One item of a conversation. The API has a type for each kind; one with optional fields is
/// enough here and lets through what this fleet does not read.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Item {
    #[serde(rename = "type", default = "message_kind")]
    pub(crate) kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) role: Option<String>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(crate) content: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) call_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// JSON text, as the API has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) arguments: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<String>,
}

fn message_kind() -> String {
    Item::MESSAGE.to_owned()
}

impl Item {
    pub(crate) const MESSAGE: &'static str = "message";
    pub(crate) const CALL: &'static str = "function_call";
    pub(crate) const CALL_OUTPUT: &'static str = "function_call_output";

    pub(crate) fn message(role: &str, text: impl Into<String>) -> Self {
        Self {
            kind: message_kind(),
            role: Some(role.to_owned()),
            content: Value::String(text.into()),
            ..Self::default()
        }
    }

    pub(crate) fn call(call_id: &str, name: &str, arguments: &Value) -> Self {
        Self {
            kind: Self::CALL.to_owned(),
            call_id: Some(call_id.to_owned()),
            name: Some(name.to_owned()),
            arguments: Some(arguments.to_string()),
            ..Self::default()
        }
    }

    pub(crate) fn call_output(call_id: &str, output: String) -> Self {
        Self {
            kind: Self::CALL_OUTPUT.to_owned(),
            call_id: Some(call_id.to_owned()),
            output: Some(output),
            ..Self::default()
        }
    }

    /// The text of a message: its content, or the texts of its content parts one after the other.
    pub(crate) fn text(&self) -> String {
        match &self.content {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts
                .iter()
                .filter_map(|part| part["text"].as_str())
                .collect(),
            _ => String::new(),
        }
    }

    /// How many words are in it.
    fn words(&self) -> u64 {
        let parts = [&self.arguments, &self.output];
        let others = parts.into_iter().flatten().map(String::as_str);
        let words = |text: &str| text.split_whitespace().count() as u64;
        words(&self.text()) + others.map(words).sum::<u64>()
    }

    pub(crate) fn is_answer(&self) -> bool {
        self.kind == Self::MESSAGE && self.role.as_deref() == Some("assistant")
    }
}

/// Answer of `/v1/responses`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ResponsesReply {
    pub(crate) id: String,
    pub(crate) object: String,
    pub(crate) model: String,
    pub(crate) output: Vec<Item>,
    /// Of a model's answer only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<String>,
    /// Of a model's answer only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<Usage>,
}

/// The tokens of one answer.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Usage {
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
}

impl Usage {
    /// Counts words, which are the tokens of this model.
    pub(crate) fn of(conversation: &[Item], answer: &Item) -> Self {
        Self {
            input_tokens: conversation.iter().map(Item::words).sum(),
            output_tokens: answer.words(),
        }
    }
}

impl ResponsesReply {
    pub(crate) fn new(model: &str, output: Vec<Item>) -> Self {
        Self {
            id: "resp_demo".to_owned(),
            object: "response".to_owned(),
            model: model.to_owned(),
            output,
            status: None,
            usage: None,
        }
    }
}

/// Body of the weather tool.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct WeatherRequest {
    pub(crate) city: String,
}

/// Answer of the weather tool.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct WeatherReply {
    pub(crate) city: String,
    pub(crate) weather_description: String,
}

/// Body of `/verify`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct VerifyRequest {
    pub(crate) responses_create_params: ResponsesRequest,
    pub(crate) response: ResponsesReply,
    #[serde(default)]
    pub(crate) verifier_metadata: Value,
}

/// Answer of `/verify`, and of the agent's `/run`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct VerifyReply {
    pub(crate) reward: f64,
    pub(crate) response: ResponsesReply,
}
