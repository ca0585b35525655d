//! Conversations as `/v1/chat/completions` has them, to and from the items of `/v1/responses`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::wire::{Item, Usage};

/// Body of `/v1/chat/completions`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ChatRequest {
    pub(crate) messages: Vec<ChatMessage>,
}

/// Answer of `/v1/chat/completions`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ChatReply {
    pub(crate) id: String,
    pub(crate) object: String,
    pub(crate) model: String,
    pub(crate) choices: Vec<ChatChoice>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<ChatUsage>,
}

/// The tokens of one answer, by this API's names.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct ChatUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
}

/// One alternative of an answer.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ChatChoice {
    pub(crate) index: u32,
    pub(crate) finish_reason: String,
    pub(crate) message: ChatMessage,
}

/// One message of a conversation.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct ChatMessage {
    pub(crate) role: String,
    #[serde(default)]
    pub(crate) content: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tool_calls: Vec<ToolCall>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tool_call_id: Option<String>,
}

/// A tool that the model wants called.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ToolCall {
    pub(crate) id: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) function: Function,
}

/// Its name and its arguments as JSON text.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) arguments: String,
}

impl ChatReply {
    pub(crate) fn new(model: &str, answer: Item, usage: Usage) -> Self {
        let message = ChatMessage::from(answer);
        let finish_reason = if message.tool_calls.is_empty() {
            "stop"
        } else {
            "tool_calls"
        };
        let choice = ChatChoice {
            index: 0,
            finish_reason: finish_reason.to_owned(),
            message,
        };
        Self {
            id: "chatcmpl_demo".to_owned(),
            object: "chat.completion".to_owned(),
            model: model.to_owned(),
            choices: vec![choice],
            usage: Some(ChatUsage {
                prompt_tokens: usage.input_tokens,
                completion_tokens: usage.output_tokens,
            }),
        }
    }
}

impl From<Item> for ChatMessage {
    fn from(item: Item) -> Self {
        match item.kind.as_str() {
            Item::CALL => {
                let function = Function {
                    name: item.name.unwrap_or_default(),
                    arguments: item.arguments.unwrap_or_default(),
                };
                let call = ToolCall {
                    id: item.call_id.unwrap_or_default(),
                    kind: "function".to_owned(),
                    function,
                };
                Self {
                    role: "assistant".to_owned(),
                    tool_calls: vec![call],
                    ..Self::default()
                }
            }
            Item::CALL_OUTPUT => Self {
                role: "tool".to_owned(),
                content: Value::String(item.output.unwrap_or_default()),
                tool_call_id: item.call_id,
                ..Self::default()
            },
            _ => Self {
                role: item.role.unwrap_or_default(),
                content: item.content,
                ..Self::default()
            },
        }
    }
}

impl ChatMessage {
    /// A message with tool calls is one item for each of them.
    pub(crate) fn into_items(self) -> Vec<Item> {
        if self.role == "tool" {
            let output = self.content.as_str().unwrap_or_default().to_owned();
            return vec![Item::call_output(
                &self.tool_call_id.unwrap_or_default(),
                output,
            )];
        }
        if self.tool_calls.is_empty() {
            let message = Item::message(&self.role, "");
            return vec![Item {
                content: self.content,
                ..message
            }];
        }
        let calls = self.tool_calls.into_iter();
        calls
            .map(|call| Item {
                kind: Item::CALL.to_owned(),
                call_id: Some(call.id),
                name: Some(call.function.name),
                arguments: Some(call.function.arguments),
                ..Item::default()
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ChatMessage;
    use crate::servers::wire::Item;

    #[test]
    fn items_survive_the_way_to_messages_and_back() {
        let items = [
            Item::message("user", "hello"),
            Item::call("call_1", "get_weather", &json!({ "city": "Oslo" })),
            Item::call_output("call_1", "{}".to_owned()),
        ];
        for item in items {
            let back = ChatMessage::from(item.clone()).into_items();
            assert_eq!(
                serde_json::to_value(back).ok(),
                serde_json::to_value([item]).ok()
            );
        }
    }
}
