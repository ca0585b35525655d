//! What requests and answers look like in bytes.

use std::io::{self, Write};

use flate2::write::GzEncoder;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message;
use serde::Serialize;

/// The form of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Protobuf,
    Json,
}

/// What a collector says about a request that it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// How many items it rejected all the same.
    pub(super) rejected: u64,
    /// Whether it had something to say. The text is not kept: it may repeat a secret.
    pub(super) has_message: bool,
}

impl Encoding {
    pub(super) const fn content_type(self) -> &'static str {
        match self {
            Self::Protobuf => "application/x-protobuf",
            Self::Json => "application/json",
        }
    }

    /// The bytes of a message.
    ///
    /// # Errors
    ///
    /// If JSON cannot hold the message.
    pub(super) fn encode(
        self,
        message: &(impl Message + Serialize),
    ) -> serde_json::Result<Vec<u8>> {
        match self {
            Self::Protobuf => Ok(message.encode_to_vec()),
            Self::Json => super::json::to_vec(message),
        }
    }

    /// Reads an answer; one that cannot be read says nothing.
    pub(super) fn decode(self, body: &[u8]) -> Answer {
        match self {
            Self::Protobuf => from_protobuf(body),
            Self::Json => from_json(body),
        }
        .unwrap_or_default()
    }
}

/// The answers of all services have the fields of the trace service's.
fn from_protobuf(body: &[u8]) -> Option<Answer> {
    let partial = ExportTraceServiceResponse::decode(body)
        .ok()?
        .partial_success?;
    Some(Answer {
        rejected: u64::try_from(partial.rejected_spans).unwrap_or(0),
        has_message: !partial.error_message.is_empty(),
    })
}

/// In JSON the field has another name for each service, and its number may be text.
fn from_json(body: &[u8]) -> Option<Answer> {
    let answer: serde_json::Value = serde_json::from_slice(body).ok()?;
    let partial = answer.get("partialSuccess")?.as_object()?;
    let rejected = partial
        .iter()
        .find(|(name, _)| name.starts_with("rejected"))
        .map(|(_, value)| value);
    let rejected =
        rejected.and_then(|value| value.as_u64().or_else(|| value.as_str()?.parse().ok()));
    let message = partial
        .get("errorMessage")
        .and_then(serde_json::Value::as_str);
    Some(Answer {
        rejected: rejected.unwrap_or(0),
        has_message: message.is_some_and(|message| !message.is_empty()),
    })
}

/// Compresses `bytes` with gzip.
pub(super) fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_in_json_are_understood_whatever_the_signal() {
        for (body, rejected, has_message) in [
            ("{}", 0, false),
            ("", 0, false),
            ("<html>", 0, false),
            (r#"{"partialSuccess":{}}"#, 0, false),
            (r#"{"partialSuccess":{"rejectedSpans":"3"}}"#, 3, false),
            (
                r#"{"partialSuccess":{"rejectedDataPoints":3,"errorMessage":"x"}}"#,
                3,
                true,
            ),
            (
                r#"{"partialSuccess":{"rejectedLogRecords":"-1","errorMessage":"x"}}"#,
                0,
                true,
            ),
        ] {
            let answer = Answer {
                rejected,
                has_message,
            };
            assert_eq!(Encoding::Json.decode(body.as_bytes()), answer, "{body}");
        }
    }

    #[test]
    fn an_answer_that_is_no_protobuf_says_nothing() {
        assert_eq!(
            Encoding::Protobuf.decode(b"\xff\xff<html>"),
            Answer::default()
        );
    }
}
