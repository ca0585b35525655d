//! A log record as it waits for its export.

use std::borrow::Cow;
use std::time::SystemTime;

use gym_telemetry_core::attribute;
use gym_telemetry_core::redaction::{REDACTED, Redaction};
use opentelemetry::Key;
use opentelemetry::logs::{AnyValue, LogRecord, Severity};

use super::place::Place;
use crate::context::Context;
use crate::recorder::cut;
use crate::settings::LogLimits;

/// The name and target that `tracing-log` gives to the records of the `log` crate that it passes on.
const FORWARDED: (&str, &str) = ("log event", "log");
/// How `tracing` names events that were given no name.
const UNNAMED: &str = "event ";

/// What a message may be long; the rest is cut off. A queue of records that are numbered is a bound of memory only so.
const BODY_BYTES: usize = 32 * 1024;

/// Whether an event of `tracing` is a record of the `log` crate that was passed on, with its facts in attributes.
pub(super) fn is_forwarded(name: &str, target: &str) -> bool {
    (name, target) == FORWARDED
}

/// A log record.
///
/// Attributes are redacted and cut to the limits as they are added. The message is left as it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    pub(crate) at: SystemTime,
    /// The span that was current when the record was made.
    pub(crate) span: Option<SpanIds>,
    pub(crate) severity: Option<Severity>,
    pub(crate) severity_text: &'static str,
    /// Which part of the program speaks.
    pub(crate) target: Cow<'static, str>,
    pub(crate) event_name: Option<&'static str>,
    pub(crate) body: Option<AnyValue>,
    pub(crate) attributes: Vec<(Key, AnyValue)>,
    /// How many attributes there was no room for.
    pub(crate) dropped: u32,
    limits: LogLimits,
    is_forwarded: bool,
}

/// The ids of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpanIds {
    pub(crate) trace_id: [u8; 16],
    pub(crate) span_id: [u8; 8],
    pub(crate) flags: u8,
}

impl SpanIds {
    /// Those of the span that is current on this thread, also if another process made it.
    fn current() -> Option<Self> {
        let span = Context::current().span_context()?;
        Some(Self {
            trace_id: span.trace_id().to_bytes(),
            span_id: span.span_id().to_bytes(),
            flags: span.flags().bits(),
        })
    }
}

impl Record {
    /// A record of now, in the current span.
    pub(crate) fn new(limits: LogLimits) -> Self {
        let mut record = Self {
            at: SystemTime::now(),
            span: SpanIds::current(),
            severity: None,
            severity_text: "",
            target: Cow::Borrowed(""),
            event_name: None,
            body: None,
            attributes: Vec::new(),
            dropped: 0,
            limits,
            is_forwarded: false,
        };
        if let Some(Place { file, line }) = Place::current() {
            record.add_attribute(attribute::CODE_FILE_PATH, file);
            record.add_attribute(attribute::CODE_LINE_NUMBER, line);
        }
        record
    }

    /// About how many bytes its texts take.
    pub(super) fn text_length(&self) -> usize {
        let attributes = self.attributes.iter();
        let attributes = attributes.map(|(key, value)| key.as_str().len() + text_length(value));
        self.body.as_ref().map_or(0, text_length) + attributes.sum::<usize>()
    }

    /// Makes an attribute of the appender's into what it stands for. `None` if that is no attribute.
    fn restore(&mut self, key: Key, value: AnyValue) -> Option<(Key, AnyValue)> {
        if !self.is_forwarded {
            return Some((key, value));
        }
        match (key.as_str(), value) {
            ("log.target", AnyValue::String(target)) => {
                self.target = Cow::Owned(target.into());
                None
            }
            // The target says the same, or something better.
            ("log.module_path", _) => None,
            ("log.file", value) => Some((Key::from_static_str(attribute::CODE_FILE_PATH), value)),
            ("log.line", value) => Some((Key::from_static_str(attribute::CODE_LINE_NUMBER), value)),
            (_, value) => Some((key, value)),
        }
    }
}

impl LogRecord for Record {
    fn set_event_name(&mut self, name: &'static str) {
        self.is_forwarded = is_forwarded(name, &self.target);
        // A made-up name, different in each place, is none.
        self.event_name = (!self.is_forwarded && !name.starts_with(UNNAMED)).then_some(name);
    }

    fn set_target<T: Into<Cow<'static, str>>>(&mut self, target: T) {
        self.target = target.into();
    }

    fn set_timestamp(&mut self, timestamp: SystemTime) {
        self.at = timestamp;
    }

    fn set_observed_timestamp(&mut self, _timestamp: SystemTime) {
        // It is made and observed in one place.
    }

    fn set_severity_text(&mut self, text: &'static str) {
        self.severity_text = text;
    }

    fn set_severity_number(&mut self, number: Severity) {
        self.severity = Some(number);
    }

    fn set_body(&mut self, body: AnyValue) {
        self.body = Some(fit(body, false, Some(BODY_BYTES)));
    }

    fn add_attributes<I, K, V>(&mut self, attributes: I)
    where
        I: IntoIterator<Item = (K, V)>,
        K: Into<Key>,
        V: Into<AnyValue>,
    {
        for (key, value) in attributes {
            self.add_attribute(key, value);
        }
    }

    fn add_attribute<K: Into<Key>, V: Into<AnyValue>>(&mut self, key: K, value: V) {
        let Some((key, value)) = self.restore(key.into(), value.into()) else {
            return;
        };
        let is_secret = Redaction::DEFAULT.is_secret(key.as_str());
        let value = fit(value, is_secret, self.limits.value_length);
        // The last value of a key counts.
        if let Some((_, known)) = self.attributes.iter_mut().find(|(known, _)| *known == key) {
            *known = value;
        } else if self.attributes.len() < self.limits.attributes {
            self.attributes.push((key, value));
        } else {
            self.dropped = self.dropped.saturating_add(1);
        }
    }
}

/// The value as it may be exported: text is cut, and hidden if it `is_secret`; numbers and truth values stay.
fn fit(value: AnyValue, is_secret: bool, limit: Option<usize>) -> AnyValue {
    match value {
        AnyValue::String(_) | AnyValue::Bytes(_) if is_secret => AnyValue::from(REDACTED),
        AnyValue::String(text) => {
            let whole = text.as_str();
            let short = cut(whole, limit);
            if short.len() < whole.len() {
                AnyValue::from(short.to_owned())
            } else {
                AnyValue::String(text)
            }
        }
        AnyValue::ListAny(values) => values
            .into_iter()
            .map(|value| fit(value, is_secret, limit))
            .collect(),
        AnyValue::Map(values) => values
            .into_iter()
            .map(|(key, value)| {
                let is_secret = is_secret || Redaction::DEFAULT.is_secret(key.as_str());
                (key, fit(value, is_secret, limit))
            })
            .collect(),
        value => value,
    }
}

fn text_length(value: &AnyValue) -> usize {
    match value {
        AnyValue::String(text) => text.as_str().len(),
        AnyValue::Bytes(bytes) => bytes.len(),
        AnyValue::ListAny(values) => values.iter().map(text_length).sum(),
        AnyValue::Map(values) => values
            .iter()
            .map(|(key, value)| key.as_str().len() + text_length(value))
            .sum(),
        _ => size_of::<u64>(),
    }
}
