//! Everything that is built and goes over the wire: spans, events, attributes and metrics with all that is fixed about
//! them.
//!
//! The documentation is generated from these tables, and tests compare them with what a run exports. The tables cost
//! nothing in a program that does not ask for them.
//!
//! ```
//! use gym_telemetry_core::{SpanKind, attribute, registry};
//!
//! let span = registry::span("POST /verify", SpanKind::Server).expect("inbound requests have spans");
//! assert!(span.attributes().any(|key| key == attribute::HTTP_ROUTE));
//! assert_eq!(registry::attribute(attribute::HTTP_ROUTE).map(|it| it.kind), Some(registry::ValueKind::Text));
//! ```

mod attributes;
mod spans;

use std::borrow::Cow;

use crate::metric::{self, MetricDescriptor};
use crate::span::SpanKind;
use crate::{SpanGroup, attribute, event};

pub use self::attributes::{ATTRIBUTES, LOG, RESOURCE};
pub use self::spans::SPANS;

/// Every metric, sorted by name.
pub use crate::metric::ALL as METRICS;

/// All that is fixed about one kind of span.
#[derive(Debug)]
pub struct SpanDescriptor {
    /// The name; of spans that are called after a request, words in angle brackets stand for what differs.
    pub name: &'static str,
    /// Its role in a trace.
    pub kind: SpanKind,
    /// The group that switches it.
    pub group: &'static SpanGroup,
    attributes: &'static [&'static [&'static str]],
}

impl SpanDescriptor {
    /// The only attribute keys that the program sets on it. Numbers in keys are written `<i>`, as in [`shape`].
    pub fn attributes(&self) -> impl Iterator<Item = &'static str> {
        self.attributes
            .iter()
            .copied()
            .flatten()
            .copied()
            .chain([attribute::SPAN_TRUNCATED])
    }

    fn is_called(&self, name: &str) -> bool {
        match self.kind {
            // `POST /verify`, or `POST` where no route matched.
            SpanKind::Server => {
                let (method, route) = match name.split_once(' ') {
                    Some((method, route)) => (method, Some(route)),
                    None => (name, None),
                };
                let is_route = |route: &str| route.starts_with('/') && !route.contains(['?', ' ']);
                (method == "HTTP" || is_method(method)) && route.is_none_or(is_route)
            }
            SpanKind::Client => name.strip_prefix("HTTP").is_some_and(|method| {
                method.is_empty() || method.strip_prefix(' ').is_some_and(is_method)
            }),
            _ => name == self.name,
        }
    }
}

fn is_method(word: &str) -> bool {
    crate::span::http_client(word) != "HTTP"
}

/// All that is fixed about one kind of event of spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventDescriptor {
    /// The name.
    pub name: &'static str,
    /// The only attribute keys that it carries.
    pub attributes: &'static [&'static str],
}

/// Every event. Each may be on any span.
pub static EVENTS: &[EventDescriptor] = &[
    EventDescriptor {
        name: event::EXCEPTION,
        attributes: &[
            attribute::EXCEPTION_ESCAPED,
            attribute::EXCEPTION_MESSAGE,
            attribute::EXCEPTION_TYPE,
        ],
    },
    EventDescriptor {
        name: event::SPAN_TRUNCATED,
        attributes: &[attribute::SPAN_TRUNCATED_REASON],
    },
];

/// The type of an attribute's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueKind {
    /// A string.
    Text,
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer,
    /// A floating-point number.
    Float,
}

/// All that is fixed about one attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributeDescriptor {
    /// The key. A number in it is written `<i>`, as in [`shape`].
    pub key: &'static str,
    /// The type of its values.
    pub kind: ValueKind,
}

/// A key with `<i>` in place of each number in it.
///
/// ```
/// use gym_telemetry_core::registry::shape;
///
/// assert_eq!(shape("nemo.gym.sandbox.requested.sidecar.12.cpu"), "nemo.gym.sandbox.requested.sidecar.<i>.cpu");
/// assert_eq!(shape("k8s.pod.name"), "k8s.pod.name");
/// ```
#[must_use]
pub fn shape(key: &str) -> Cow<'_, str> {
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    if !key.split('.').any(is_number) {
        return Cow::Borrowed(key);
    }
    let words = key.split('.');
    let words: Vec<_> = words
        .map(|word| if is_number(word) { "<i>" } else { word })
        .collect();
    Cow::Owned(words.join("."))
}

/// The entry of a span with this name and kind.
#[must_use]
pub fn span(name: &str, kind: SpanKind) -> Option<&'static SpanDescriptor> {
    SPANS
        .iter()
        .find(|span| span.kind == kind && span.is_called(name))
}

/// The entry of an event.
#[must_use]
pub fn event(name: &str) -> Option<&'static EventDescriptor> {
    EVENTS.iter().find(|event| event.name == name)
}

/// The entry of an attribute, on whatever it stands.
#[must_use]
pub fn attribute(key: &str) -> Option<&'static AttributeDescriptor> {
    let shape = shape(key);
    ATTRIBUTES.iter().find(|attribute| attribute.key == shape)
}

/// The entry of a metric.
#[must_use]
pub fn metric(name: &str) -> Option<&'static MetricDescriptor> {
    metric::ALL
        .iter()
        .copied()
        .find(|metric| metric.name == name)
}
