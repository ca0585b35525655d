//! Straight from records to OTLP requests.
//!
//! What is written means the same as what `opentelemetry-otlp` makes of the spans' SDK form, without making that. Most
//! spans are written while their log is read, once; one whose log repeats a key, say, is put together on the heap first.

use gym_telemetry_core::{Redaction, SpanContext, SpanKind, Value};
use opentelemetry::{Array, KeyValue, Value as OtelValue};

use super::body::Body;
use super::clock::{Anchor, Tick};
use super::convert;
use super::limits::{SpanLimits, cut};
use super::raw::{LogEntry, Record, Text};
use super::wire::{
    begin, bytes, fixed32, fixed64, len_of, len_of_bytes, message, number, one_of_number,
};
use crate::options::Status;

/// How many keys are known to be secret or not.
const KNOWN: usize = 256;
/// The most attributes of one span or event that are written while the log is read.
const MAX_KEYS: usize = 16;

/// Writes requests.
pub(crate) struct Encoder {
    /// The resource and its schema, encoded as fields of `ResourceSpans`.
    resource: Vec<u8>,
    schema: Vec<u8>,
    /// The spans of each scope, encoded; kept for its memory.
    scopes: Vec<(&'static str, Vec<u8>)>,
    /// Static keys by address and length, and whether their texts are secret.
    known: Vec<(usize, usize, bool)>,
}

impl Encoder {
    /// Writes requests for a resource that is encoded already.
    pub(crate) fn new(resource: &[u8], schema_url: Option<&str>) -> Self {
        let mut encoded = Vec::new();
        bytes(&mut encoded, 1, resource);
        let mut schema = Vec::new();
        if let Some(url) = schema_url {
            bytes(&mut schema, 3, url.as_bytes());
        }
        Self {
            resource: encoded,
            schema,
            scopes: Vec::new(),
            known: vec![(0, 0, false); KNOWN],
        }
    }

    /// The request with these spans.
    pub(crate) fn request(
        &mut self,
        records: &[Record],
        anchor: &Anchor,
        limits: &SpanLimits,
    ) -> Vec<u8> {
        let mut scopes = std::mem::take(&mut self.scopes);
        for record in records {
            let heap = record.heap().map(|heap| heap.lock());
            let scope = match &heap {
                Some(body) => body.scope,
                None => match record.entries().next() {
                    // A scope is the first thing in a log.
                    Some(LogEntry::Scope(scope)) => scope,
                    _ => record.scope(),
                },
            };
            let place = scopes.iter().position(|(known, _)| *known == scope);
            let place = place.unwrap_or_else(|| {
                scopes.push((scope, Vec::new()));
                scopes.len() - 1
            });
            let out = &mut scopes[place].1;
            let mut span = Span {
                record,
                anchor,
                limits,
                known: &mut self.known,
            };
            match heap {
                Some(mut body) => span.write_body(out, &mut body),
                None => span.write_log(out),
            }
        }
        let request = self.assemble(&scopes);
        for (_, spans) in &mut scopes {
            spans.clear();
        }
        self.scopes = scopes;
        request
    }

    fn assemble(&self, scopes: &[(&'static str, Vec<u8>)]) -> Vec<u8> {
        let scopes = || scopes.iter().filter(|(_, spans)| !spans.is_empty());
        let name = |scope: &str| {
            if scope.is_empty() {
                0
            } else {
                len_of_bytes(scope.len())
            }
        };
        let len_of_scope = |scope: &str, spans: &[u8]| len_of_bytes(name(scope)) + spans.len();
        let inner = self.resource.len()
            + scopes()
                .map(|(scope, spans)| len_of_bytes(len_of_scope(scope, spans)))
                .sum::<usize>()
            + self.schema.len();
        let mut out = Vec::with_capacity(1 + len_of(inner as u64) + inner);
        begin(&mut out, 1, inner);
        out.extend_from_slice(&self.resource);
        for (scope, spans) in scopes() {
            begin(&mut out, 2, len_of_scope(scope, spans));
            begin(&mut out, 1, name(scope));
            text(&mut out, 1, scope);
            out.extend_from_slice(spans);
        }
        out.extend_from_slice(&self.schema);
        out
    }
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder").finish_non_exhaustive()
    }
}

/// A field with text, which is left out if there is none.
#[inline]
fn text(out: &mut Vec<u8>, field: u32, text: &str) {
    if !text.is_empty() {
        bytes(out, field, text.as_bytes());
    }
}

/// The field numbers of what is written in more than one place.
const SPANS: u32 = 2;
const SPAN_ATTRIBUTES: u32 = 9;
const EVENTS: u32 = 11;
const EVENT_ATTRIBUTES: u32 = 3;
const LINK_ATTRIBUTES: u32 = 4;

/// One span on its way out.
struct Span<'a> {
    record: &'a Record,
    anchor: &'a Anchor,
    limits: &'a SpanLimits,
    known: &'a mut [(usize, usize, bool)],
}

/// Keys that were seen.
struct Keys<'a> {
    seen: [&'a str; MAX_KEYS],
    len: usize,
}

impl<'a> Keys<'a> {
    const NONE: Self = Self {
        seen: [""; MAX_KEYS],
        len: 0,
    };

    /// Adds a key; whether it is new and there is room for it.
    #[inline]
    fn add(&mut self, key: &'a str, limit: usize) -> bool {
        if self.len == MAX_KEYS.min(limit) || self.seen[..self.len].contains(&key) {
            return false;
        }
        self.seen[self.len] = key;
        self.len += 1;
        true
    }
}

impl Span<'_> {
    /// Writes the span as its log tells it.
    fn write_log(&mut self, out: &mut Vec<u8>) {
        let start = out.len();
        out.reserve(256);
        let mut is_told = !self.record.is_truncated();
        if is_told {
            message(out, SPANS, |out| is_told = self.tell(out));
        }
        if !is_told {
            out.truncate(start);
            let mut body = Body::replay(self.record, self.limits);
            self.write_body(out, &mut body);
        }
    }

    /// Writes the fields while the log is read; whether that was possible.
    #[inline]
    fn tell(&mut self, out: &mut Vec<u8>) -> bool {
        self.head(out);
        let mut name = self.record.name();
        let mut is_ok = false;
        let mut error = None;
        let mut keys = Keys::NONE;
        let mut events = 0;
        let mut entries = self.record.entries().peekable();
        while let Some(entry) = entries.next() {
            match entry {
                LogEntry::Attribute {
                    key,
                    value,
                    is_clear,
                    ..
                } => {
                    if !keys.add(key, self.limits.attributes) {
                        return false;
                    }
                    self.attribute(out, SPAN_ATTRIBUTES, key, value, is_clear);
                }
                LogEntry::Event { name, at } => {
                    if events == self.limits.events {
                        return false;
                    }
                    events += 1;
                    let mut is_told = true;
                    message(out, EVENTS, |out| {
                        fixed64(out, 1, self.anchor.wall_nanos(at));
                        text(out, 2, name);
                        let mut keys = Keys::NONE;
                        while let Some(LogEntry::Attribute {
                            key,
                            value,
                            is_clear,
                            ..
                        }) = entries.next_if(is_of_event)
                        {
                            is_told &= keys.add(key, self.limits.event_attributes);
                            self.attribute(out, EVENT_ATTRIBUTES, key, value, is_clear);
                        }
                    });
                    if !is_told {
                        return false;
                    }
                }
                LogEntry::StatusOk => is_ok = true,
                LogEntry::StatusError(description) => error = Some(description),
                LogEntry::Name(changed) => name = shown(changed),
                LogEntry::Scope(_) => {}
            }
        }
        text(out, 5, name);
        match error {
            _ if is_ok => status(out, "", 1),
            Some(description) => status(out, shown(description), 2),
            None => status(out, "", 0),
        }
        true
    }

    /// Writes what does not change.
    #[inline]
    fn head(&self, out: &mut Vec<u8>) {
        let link = self.record.link();
        bytes(out, 1, &link.trace_id.to_bytes());
        if let Some(id) = link.span_id {
            bytes(out, 2, &id.to_bytes());
        }
        if !link.trace_state.is_empty() {
            // As far as the other side's idea of the grammar goes.
            let state = convert::trace_state(&link.trace_state).header();
            text(out, 3, &state);
        }
        if let Some(parent) = self.record.parent() {
            bytes(out, 4, &parent.to_bytes());
        }
        let kind = match self.record.kind() {
            SpanKind::Internal => 1,
            SpanKind::Server => 2,
            SpanKind::Client => 3,
            SpanKind::Producer => 4,
            SpanKind::Consumer => 5,
        };
        number(out, 6, kind);
        fixed64(out, 7, self.anchor.wall_nanos(self.record.start()));
        fixed64(out, 8, self.anchor.wall_nanos(self.record.end()));
        fixed32(
            out,
            16,
            flags(link.flags.bits(), self.record.parent_is_remote()),
        );
    }

    #[inline]
    fn attribute(
        &mut self,
        out: &mut Vec<u8>,
        field: u32,
        key: &'static str,
        value: Value<'_>,
        is_clear: bool,
    ) {
        let value = match value {
            Value::Static(_) | Value::Str(_) if !is_clear && self.is_secret(key) => {
                Redaction::DEFAULT.apply(key, value)
            }
            _ => value,
        };
        match value {
            Value::Bool(value) => scalar(out, field, key, 2, |out| {
                one_of_number(out, 2, value.into());
            }),
            Value::I64(value) => {
                let value = value.cast_unsigned();
                scalar(out, field, key, 1 + len_of(value), |out| {
                    one_of_number(out, 3, value);
                });
            }
            Value::F64(value) => scalar(out, field, key, 9, |out| {
                fixed64(out, 4, value.to_bits());
            }),
            Value::U64(value) => string(out, field, key, &value.to_string()),
            Value::Static(text) | Value::Str(text) => {
                string(out, field, key, cut(text, self.limits.value_length));
            }
            // No log holds these.
            _ => {}
        }
    }

    /// Whether the text of this key is secret. A static key is the same text whenever it is at the same address.
    #[inline]
    fn is_secret(&mut self, key: &'static str) -> bool {
        let (address, len) = (key.as_ptr().addr(), key.len());
        let place = &mut self.known[(address ^ address >> 8 ^ len) % KNOWN];
        if (place.0, place.1) != (address, len) {
            *place = (address, len, Redaction::DEFAULT.is_secret(key));
        }
        place.2
    }

    /// Writes the span as it is on the heap.
    fn write_body(&mut self, out: &mut Vec<u8>, body: &mut Body) {
        let truncated_at = self.record.is_truncated().then(|| self.record.end());
        if truncated_at.is_some() {
            convert::mark_truncated(body);
        }
        message(out, SPANS, |out| {
            self.head(out);
            text(out, 5, &body.name);
            for item in &body.attributes.items {
                pair(out, SPAN_ATTRIBUTES, item);
            }
            number(out, 10, body.attributes.dropped.into());
            for event in &body.events {
                self.event(
                    out,
                    &event.name,
                    event.at,
                    &event.attributes.items,
                    event.attributes.dropped,
                );
            }
            if let Some(at) = truncated_at {
                let (name, reason) = convert::truncation();
                self.event(out, name, at, &[reason], 0);
            }
            number(out, 12, body.dropped_events.into());
            for link in &body.links {
                let (items, dropped) = (&link.attributes.items, link.attributes.dropped);
                span_link(out, &link.context, items, dropped);
            }
            number(out, 14, body.dropped_links.into());
            match &body.status {
                Status::Unset => status(out, "", 0),
                Status::Ok => status(out, "", 1),
                Status::Error(description) => status(out, description, 2),
            }
        });
    }

    fn event(&self, out: &mut Vec<u8>, name: &str, at: Tick, items: &[KeyValue], dropped: u32) {
        message(out, EVENTS, |out| {
            fixed64(out, 1, self.anchor.wall_nanos(at));
            text(out, 2, name);
            for item in items {
                pair(out, EVENT_ATTRIBUTES, item);
            }
            number(out, 4, dropped.into());
        });
    }
}

fn is_of_event(entry: &LogEntry<'_>) -> bool {
    matches!(entry, LogEntry::Attribute { of_event: true, .. })
}

fn shown(text: Text<'_>) -> &str {
    let (Text::Static(text) | Text::Copied(text)) = text;
    text
}

/// The flags of a span or link whose remoteness is known.
fn flags(trace: u8, is_remote: bool) -> u32 {
    u32::from(trace) | 0x100 | if is_remote { 0x200 } else { 0 }
}

/// An empty status is written too, as the other exporters do.
#[inline]
fn status(out: &mut Vec<u8>, description: &str, code: u64) {
    let len = if description.is_empty() {
        0
    } else {
        len_of_bytes(description.len())
    };
    begin(out, 15, len + if code == 0 { 0 } else { 2 });
    text(out, 2, description);
    number(out, 3, code);
}

/// An attribute whose value takes `len` bytes.
#[inline]
fn scalar(out: &mut Vec<u8>, field: u32, key: &str, len: usize, value: impl FnOnce(&mut Vec<u8>)) {
    let key_len = if key.is_empty() {
        0
    } else {
        len_of_bytes(key.len())
    };
    begin(out, field, key_len + len_of_bytes(len));
    text(out, 1, key);
    begin(out, 2, len);
    value(out);
}

#[inline]
fn string(out: &mut Vec<u8>, field: u32, key: &str, value: &str) {
    scalar(out, field, key, len_of_bytes(value.len()), |out| {
        bytes(out, 1, value.as_bytes());
    });
}

/// An attribute in the SDK's form.
fn pair(out: &mut Vec<u8>, field: u32, item: &KeyValue) {
    message(out, field, |out| {
        text(out, 1, item.key.as_str());
        message(out, 2, |out| any(out, &item.value));
    });
}

fn any(out: &mut Vec<u8>, value: &OtelValue) {
    match value {
        OtelValue::Bool(value) => one_of_number(out, 2, (*value).into()),
        OtelValue::I64(value) => one_of_number(out, 3, value.cast_unsigned()),
        OtelValue::F64(value) => fixed64(out, 4, value.to_bits()),
        OtelValue::String(value) => bytes(out, 1, value.as_str().as_bytes()),
        OtelValue::Array(array) => message(out, 5, |out| match array {
            Array::Bool(values) => each(out, values.iter().map(|value| (*value).into())),
            Array::I64(values) => each(out, values.iter().map(|value| (*value).into())),
            Array::F64(values) => each(out, values.iter().map(|value| (*value).into())),
            Array::String(values) => each(out, values.iter().map(|value| value.clone().into())),
            _ => {}
        }),
        // A kind of value that the SDK gains later.
        other => bytes(out, 1, other.as_str().as_bytes()),
    }
}

fn each(out: &mut Vec<u8>, values: impl Iterator<Item = OtelValue>) {
    for value in values {
        message(out, 1, |out| any(out, &value));
    }
}

fn span_link(out: &mut Vec<u8>, context: &SpanContext, items: &[KeyValue], dropped: u32) {
    message(out, 13, |out| {
        bytes(out, 1, &context.trace_id().to_bytes());
        bytes(out, 2, &context.span_id().to_bytes());
        text(
            out,
            3,
            &convert::trace_state(context.trace_state()).header(),
        );
        for item in items {
            pair(out, LINK_ATTRIBUTES, item);
        }
        number(out, 5, dropped.into());
        fixed32(out, 6, flags(context.flags().bits(), context.is_remote()));
    });
}
