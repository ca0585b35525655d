//! How failures are written on spans.

use std::borrow::Cow;

use gym_telemetry_core::value::StaticStr;
use gym_telemetry_core::{attribute, event};

use crate::attributes::{Attributes, Collector, EventAttributes};
use crate::options::{Status, StatusStyle};
use crate::recorder::Owned;

/// The type name of a panic.
const PANIC: &str = "panic";

/// An error or a panic that ended the work of a span.
#[derive(Debug)]
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

    /// Sets the status and adds the event. No foreign code runs in here.
    pub(crate) fn record(self, record: &Owned) {
        let recorder = record.recorder();
        let at = recorder.clock.now();
        let description = self.description(record.status_style());
        record.set_status(Status::Error(description));
        if record.records_exceptions() {
            let mut event = EventAttributes::new(recorder.limits());
            let mut collector = Collector::of_event(&mut event);
            let mut attributes = Attributes::through(&mut collector);
            attributes.set(attribute::EXCEPTION_TYPE, &StaticStr(self.type_name));
            attributes.set(attribute::EXCEPTION_MESSAGE, &self.message);
            attributes.set(attribute::EXCEPTION_ESCAPED, &StaticStr("False"));
            record.add_event(event::EXCEPTION.into(), at, event);
        }
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
