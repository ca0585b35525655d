//! What is told about model calls and rollouts once they have ended.
//!
//! Plain data, the same in both builds. What is not known is `None` and is recorded nowhere: an unknown number of
//! tokens is not zero tokens.

use std::time::Duration;

/// The longest word that an attribute of a metric may have where the words are not known beforehand.
pub const LONGEST_WORD: usize = 80;

/// One call of a model, after its end.
///
/// ```
/// use std::time::Duration;
///
/// use gym_telemetry_core::outcome::{CallOutcome, Dialect, ModelCall, TokenUsage};
///
/// let call = ModelCall {
///     server: Some("policy_model"),
///     dialect: Some(Dialect::Chat),
///     duration: Some(Duration::from_millis(850)),
///     tokens: TokenUsage { input: Some(211), output: Some(64), reasoning: None },
///     finish_reason: Some("stop"),
///     ..ModelCall::default()
/// };
/// assert_eq!(call.outcome, CallOutcome::Ok);
/// assert_eq!(call.time_to_first_token, None, "it was not streamed");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelCall<'a> {
    /// The configured name of the model server; recorded as `unknown` if it is missing or empty.
    pub server: Option<&'a str>,
    /// The API that was called; recorded as `unknown` if it is missing.
    pub dialect: Option<Dialect>,
    /// How it ended.
    pub outcome: CallOutcome<'a>,
    /// From the request to the end of the answer.
    pub duration: Option<Duration>,
    /// From the request to the first token, of streamed calls only.
    pub time_to_first_token: Option<Duration>,
    /// The tokens that the model reported.
    pub tokens: TokenUsage,
    /// Why the model stopped, in its own word.
    pub finish_reason: Option<&'a str>,
}

/// The API of a model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// `/v1/chat/completions`
    Chat,
    /// `/v1/responses`
    Responses,
    /// `/v1/messages`
    Messages,
}

impl Dialect {
    /// The word on record.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Messages => "messages",
        }
    }
}

/// How a model call ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CallOutcome<'a> {
    /// With an answer.
    #[default]
    Ok,
    /// With an error of this category, a [word](is_word) of a small set such as `timeout` or `http_503`, never a message.
    Error(&'a str),
}

/// The tokens of a model call. What the model does not report is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TokenUsage {
    /// Tokens that it read.
    pub input: Option<u64>,
    /// Tokens that it wrote, those of reasoning included if the model counts them so.
    pub output: Option<u64>,
    /// Tokens that it spent on reasoning.
    pub reasoning: Option<u64>,
}

/// What came of a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RolloutOutcome<'a> {
    /// It has a reward, whichever.
    Scored,
    /// It failed and has none.
    Dropped {
        /// The kind of failure, a [word](is_word) of a small set.
        class: Option<&'a str>,
        /// What went wrong within that kind, another such word.
        reason: Option<&'a str>,
    },
}

/// Whether `text` may stand as an attribute of a metric: it starts with an ASCII letter or an underscore, goes on with
/// letters, digits, underscores and dots, and has at most [`LONGEST_WORD`] characters.
///
/// ```
/// use gym_telemetry_core::outcome::is_word;
///
/// assert!(is_word("http_503"));
/// assert!(!is_word("connection refused"));
/// ```
#[must_use]
pub fn is_word(text: &str) -> bool {
    let is_first = |c: &u8| c.is_ascii_alphabetic() || *c == b'_';
    let is_later = |c: &u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'.');
    text.len() <= LONGEST_WORD
        && text.as_bytes().first().is_some_and(is_first)
        && text.as_bytes().iter().all(is_later)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_short_and_has_no_spaces() {
        let longest = "a".repeat(LONGEST_WORD);
        for word in ["a", "_", "Timeout", "http_503", "a.b.c9", &longest] {
            assert!(is_word(word), "{word}");
        }
        let too_long = "a".repeat(LONGEST_WORD + 1);
        for text in ["", "9a", ".a", "no room", "a-b", "é", "a\n", &too_long] {
            assert!(!is_word(text), "{text:?}");
        }
    }
}
