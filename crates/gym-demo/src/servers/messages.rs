//! Conversations as `/v1/messages` has them, to and from the items of `/v1/responses`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::wire::{Item, Usage};

/// Body of `/v1/messages`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct MessagesRequest {
    pub(crate) max_tokens: u32,
    pub(crate) messages: Vec<Message>,
}

/// Answer of `/v1/messages`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct MessagesReply {
    pub(crate) id: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) model: String,
    pub(crate) stop_reason: String,
    pub(crate) usage: Usage,
    #[serde(flatten)]
    pub(crate) message: Message,
}

/// One message of a conversation.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Message {
    pub(crate) role: String,
    pub(crate) content: Vec<Block>,
}

/// One part of a message.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Block {
    Text {
        text: String,
    },
    /// A tool that the model wants called.
    ToolUse {
        id: String,
        name: String,
        input: Value,
    },
    /// What the tool gave.
    ToolResult {
        tool_use_id: String,
        content: String,
    },
}

impl MessagesReply {
    pub(crate) fn new(model: &str, answer: Item, usage: Usage) -> Self {
        let message = Message::from(answer);
        let wants_tool = matches!(message.content[..], [Block::ToolUse { .. }]);
        Self {
            id: "msg_demo".to_owned(),
            kind: "message".to_owned(),
            model: model.to_owned(),
            stop_reason: if wants_tool { "tool_use" } else { "end_turn" }.to_owned(),
            usage,
            message,
        }
    }
}

impl From<Item> for Message {
    fn from(item: Item) -> Self {
        let (role, block) = match item.kind.as_str() {
            Item::CALL => {
                let arguments = item.arguments.unwrap_or_default();
                let block = Block::ToolUse {
                    id: item.call_id.unwrap_or_default(),
                    name: item.name.unwrap_or_default(),
                    input: serde_json::from_str(&arguments).unwrap_or_default(),
                };
                ("assistant".to_owned(), block)
            }
            Item::CALL_OUTPUT => {
                let block = Block::ToolResult {
                    tool_use_id: item.call_id.unwrap_or_default(),
                    content: item.output.unwrap_or_default(),
                };
                ("user".to_owned(), block)
            }
            _ => {
                let text = item.text();
                (item.role.unwrap_or_default(), Block::Text { text })
            }
        };
        Self {
            role,
            content: vec![block],
        }
    }
}

impl Message {
    /// One item for each part.
    pub(crate) fn into_items(self) -> Vec<Item> {
        let Self { role, content } = self;
        let blocks = content.into_iter();
        blocks
            .map(|block| match block {
                Block::Text { text } => Item::message(&role, text),
                Block::ToolUse { id, name, input } => Item::call(&id, &name, &input),
                Block::ToolResult {
                    tool_use_id,
                    content,
                } => Item::call_output(&tool_use_id, content),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Message;
    use crate::servers::wire::Item;

    #[test]
    fn items_survive_the_way_to_messages_and_back() {
        let items = [
            Item::message("user", "hello"),
            Item::call("call_1", "get_weather", &json!({ "city": "Oslo" })),
            Item::call_output("call_1", "{}".to_owned()),
        ];
        for item in items {
            let back = Message::from(item.clone()).into_items();
            assert_eq!(
                serde_json::to_value(back).ok(),
                serde_json::to_value([item]).ok()
            );
        }
    }
}
