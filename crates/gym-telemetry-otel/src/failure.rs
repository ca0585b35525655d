//! How failures are written on spans.

use std::borrow::Cow;

use gym_telemetry_core::{Redaction, attribute, event};

use crate::options::{Status, StatusStyle};
use crate::recorder::{Event, Node};

/// The type name of a panic.
const PANIC: &str = "panic";

/// An error or a panic that ended the work of a span.
pub(crate) struct Failure {
    pub type_name: &'static str,
    pub message: Option<String>,
}

impl Failure {
    pub(crate) fn panic(message: Option<String>) -> Self {
        Self {
            type_name: PANIC,
            message,
        }
    }

    /// Sets the status and adds the event.
    pub(crate) fn record(self, node: &Node) {
        let limits = node.recorder.limits();
        let at = node.recorder.clock.now();
        let description = self.description(node.status_style);
        let event = node.record_exception.then(|| {
            let describe = |attributes: &mut crate::Attributes<'_>| {
                attributes.set(attribute::EXCEPTION_TYPE, self.type_name);
                attributes.set(attribute::EXCEPTION_MESSAGE, &self.message);
                attributes.set(attribute::EXCEPTION_ESCAPED, "False");
            };
            let attributes =
                node.recorder
                    .collect(limits.event_attributes, Redaction::DEFAULT, describe);
            Event {
                name: event::EXCEPTION.into(),
                at,
                attributes,
            }
        });
        node.change(|body| {
            body.set_status(Status::Error(description));
            if let Some(event) = event {
                body.add_event(event, limits.events);
            }
        });
    }

    fn description(&self, style: StatusStyle) -> Cow<'static, str> {
        match (style, &self.message) {
            (StatusStyle::Message, Some(message)) => message.clone().into(),
            (StatusStyle::TypeAndMessage, Some(message)) => {
                format!("{}: {message}", short(self.type_name)).into()
            }
            (_, None) => self.type_name.into(),
        }
    }
}

/// The name of a type without its path and parameters: `Timeout` of `my_crate::error::Timeout<u8>`.
fn short(type_name: &str) -> &str {
    let without_parameters = type_name.split('<').next().unwrap_or(type_name);
    without_parameters.rsplit("::").next().unwrap_or(type_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_have_neither_path_nor_parameters() {
        assert_eq!(
            short("my_crate::error::Timeout<alloc::string::String>"),
            "Timeout"
        );
        assert_eq!(short("dyn core::error::Error"), "Error");
        assert_eq!(short("&str"), "&str");
        assert_eq!(short(""), "");
    }

    #[test]
    fn the_style_decides_what_the_status_tells() {
        let failure = |message: Option<&str>| Failure {
            type_name: "my_crate::Timeout",
            message: message.map(str::to_owned),
        };
        assert_eq!(
            failure(Some("late")).description(StatusStyle::Message),
            "late"
        );
        assert_eq!(
            failure(Some("late")).description(StatusStyle::TypeAndMessage),
            "Timeout: late"
        );
        assert_eq!(
            failure(None).description(StatusStyle::Message),
            "my_crate::Timeout"
        );
    }
}
