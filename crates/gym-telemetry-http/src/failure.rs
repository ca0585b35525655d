//! Errors and panics on spans, without what URLs in their texts give away.

use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use gym_telemetry_api::{Span, Status, add_event, set_span_attributes};
use gym_telemetry_core::value::StaticStr;
use gym_telemetry_core::{attribute, event};

use crate::url;

/// Why there is no answer, or not all of it.
#[derive(Debug)]
pub(crate) struct Failure {
    type_name: &'static str,
    kind: &'static str,
    message: String,
}

impl Failure {
    /// Describes an error of type `E`.
    pub(crate) fn of<E: Display>(error: &E) -> Self {
        Self::new(error, std::any::type_name::<E>(), None)
    }

    /// Describes `error`, whose type and kind have few names. Without a kind, the type is the kind.
    pub(crate) fn new(
        error: &dyn Display,
        type_name: &'static str,
        kind: Option<&'static str>,
    ) -> Self {
        // The text is the application's to write, and whoever writes can panic.
        let text = catch_unwind(AssertUnwindSafe(|| error.to_string())).unwrap_or_default();
        Self {
            type_name,
            kind: kind.unwrap_or(type_name),
            message: url::scrub(&text).into_owned(),
        }
    }

    /// Marks `span` as failed.
    pub(crate) fn record(&self, span: &Span) {
        if !span.is_recording() {
            return;
        }
        set_span_attributes!(span; attribute::ERROR_TYPE => StaticStr(self.kind));
        add_event!(
            span;
            event::EXCEPTION,
            attribute::EXCEPTION_TYPE => StaticStr(self.type_name),
            attribute::EXCEPTION_MESSAGE => &self.message,
            attribute::EXCEPTION_ESCAPED => "False",
        );
        span.set_status(Status::Error(self.message.clone().into()));
    }
}

/// A panic on its way through telemetry.
pub(crate) struct Panic(Box<dyn Any + Send>);

impl Panic {
    /// Runs `f` and stops its panic.
    pub(crate) fn catch<T>(f: impl FnOnce() -> T) -> Result<T, Self> {
        catch_unwind(AssertUnwindSafe(f)).map_err(Self)
    }

    pub(crate) fn failure(&self) -> Failure {
        let text = self.0.downcast_ref::<&'static str>().copied();
        let text = text.or_else(|| self.0.downcast_ref::<String>().map(String::as_str));
        Failure {
            type_name: "panic",
            kind: "panic",
            message: url::scrub(text.unwrap_or("panicked")).into_owned(),
        }
    }

    /// Lets the panic go on.
    pub(crate) fn resume(self) -> ! {
        resume_unwind(self.0)
    }
}
