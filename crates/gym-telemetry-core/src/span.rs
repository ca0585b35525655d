//! Span names and kinds.
//!
//! The names are wire format, shared with servers in other languages. An inbound request's span is called after
//! its method and route, such as `POST /verify`; an outbound one's by [`http_client`].

/// The whole run, driver side.
pub const JOB: &str = "gym.job";
/// One attempt at one task, driver side.
pub const ROLLOUT: &str = "gym.rollout";
/// An agent server's `/run`.
pub const AGENT_RUN: &str = "gym.agent.run";
/// An agent server's `/v1/responses`.
pub const AGENT_RESPONSES: &str = "gym.agent.responses";
/// A model server's `/v1/responses`.
pub const MODEL_RESPONSES: &str = "gym.model.responses";
/// A model server's `/v1/chat/completions`.
pub const MODEL_CHAT_COMPLETIONS: &str = "gym.model.chat_completions";
/// A model server's `/v1/messages`.
pub const MODEL_MESSAGES: &str = "gym.model.messages";
/// A resources server's `/verify`.
pub const VERIFY: &str = "gym.verify";
/// A request for a sandbox, recorded before the provider is asked.
pub const SANDBOX_REQUEST: &str = "gym.sandbox.request";
/// The creation of a sandbox and what belongs to it, such as the upload of files.
pub const SANDBOX_START: &str = "gym.sandbox.start";
/// A command in a sandbox.
pub const SANDBOX_EXEC: &str = "gym.sandbox.exec";
/// The end of a sandbox.
pub const SANDBOX_STOP: &str = "gym.sandbox.stop";
/// What the provider says a sandbox was given.
pub const SANDBOX_RESOURCE_ALLOCATION: &str = "gym.sandbox.resource.allocation";
/// What the provider says a sandbox used at one moment.
pub const SANDBOX_RESOURCE_SAMPLE: &str = "gym.sandbox.resource.sample";

/// Names the span of an outbound HTTP request: `HTTP` and the method.
///
/// A method that HTTP does not define is named `HTTP`, so that the number of names stays small.
///
/// ```
/// assert_eq!(gym_telemetry_core::span::http_client("POST"), "HTTP POST");
/// assert_eq!(gym_telemetry_core::span::http_client("FETCH-IT"), "HTTP");
/// ```
#[must_use]
pub fn http_client(method: &str) -> &'static str {
    match method {
        "CONNECT" => "HTTP CONNECT",
        "DELETE" => "HTTP DELETE",
        "GET" => "HTTP GET",
        "HEAD" => "HTTP HEAD",
        "OPTIONS" => "HTTP OPTIONS",
        "PATCH" => "HTTP PATCH",
        "POST" => "HTTP POST",
        "PUT" => "HTTP PUT",
        "TRACE" => "HTTP TRACE",
        _ => "HTTP",
    }
}

/// The role of a span in a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SpanKind {
    /// Work inside one process.
    #[default]
    Internal,
    /// A request that this process answers.
    Server,
    /// A request that this process waits for.
    Client,
    /// A message that this process sends without waiting for its handling.
    Producer,
    /// The handling of a message.
    Consumer,
}
