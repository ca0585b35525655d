//! What can change about a span while it is open, on the heap.
//!
//! Most spans never have one: their log says it all until they are exported.

use std::borrow::Cow;

use gym_telemetry_core::{Redaction, SpanContext};
use opentelemetry::Key;

use super::clock::Tick;
use super::limits::SpanLimits;
use super::raw::{LogEntry, Owned, Record, Text};
use crate::attributes::{AttributeList, EventAttributes, own};
use crate::options::Status;

#[derive(Debug)]
pub(crate) struct Body {
    pub name: Cow<'static, str>,
    pub scope: &'static str,
    pub attributes: AttributeList,
    pub events: Vec<Event>,
    pub dropped_events: u32,
    pub links: Vec<SpanLink>,
    pub dropped_links: u32,
    pub status: Status,
}

#[derive(Debug)]
pub(crate) struct Event {
    pub name: Cow<'static, str>,
    pub at: Tick,
    pub attributes: AttributeList,
}

#[derive(Debug)]
pub(crate) struct SpanLink {
    pub context: SpanContext,
    pub attributes: AttributeList,
}

impl Body {
    /// What a log says. Its texts are shown as the rules of redaction have it, unless those were applied before.
    pub(crate) fn replay(record: &Record, limits: &SpanLimits) -> Self {
        let mut body = Self {
            name: record.name().into(),
            scope: record.scope(),
            attributes: AttributeList::default(),
            events: Vec::new(),
            dropped_events: 0,
            links: Vec::new(),
            dropped_links: 0,
            status: Status::Unset,
        };
        for entry in record.entries() {
            body.apply(entry, limits);
        }
        body
    }

    /// Takes everything out.
    pub(crate) fn take(&mut self) -> Self {
        let empty = Self {
            name: Cow::Borrowed(""),
            scope: self.scope,
            attributes: AttributeList::default(),
            events: Vec::new(),
            dropped_events: 0,
            links: Vec::new(),
            dropped_links: 0,
            status: Status::Unset,
        };
        std::mem::replace(self, empty)
    }

    fn apply(&mut self, entry: LogEntry<'_>, limits: &SpanLimits) {
        match entry {
            LogEntry::Attribute {
                of_event: false, ..
            } => {
                self.attributes.apply(entry, limits.attributes, limits);
            }
            LogEntry::Attribute { of_event: true, .. } => {
                // An event that was dropped is not the last one.
                if self.dropped_events == 0
                    && let Some(event) = self.events.last_mut()
                {
                    event
                        .attributes
                        .apply(entry, limits.event_attributes, limits);
                }
            }
            LogEntry::Event { name, at } => {
                let event = Event {
                    name: name.into(),
                    at,
                    attributes: AttributeList::default(),
                };
                self.add_event(event, limits.events);
            }
            LogEntry::StatusOk => self.set_status(Status::Ok),
            LogEntry::StatusError(description) => {
                self.set_status(Status::Error(to_cow(description)));
            }
            LogEntry::Name(name) => self.name = to_cow(name),
            LogEntry::Scope(scope) => self.scope = scope,
        }
    }

    pub(crate) fn add_event(&mut self, event: Event, limit: usize) {
        if self.events.len() < limit {
            self.events.push(event);
        } else {
            self.dropped_events = self.dropped_events.saturating_add(1);
        }
    }

    pub(crate) fn add_link(&mut self, link: SpanLink, limit: usize) {
        if self.links.len() < limit {
            self.links.push(link);
        } else {
            self.dropped_links = self.dropped_links.saturating_add(1);
        }
    }

    /// `Ok` is final; otherwise the later error wins.
    pub(crate) fn set_status(&mut self, status: Status) {
        if self.status != Status::Ok && status != Status::Unset {
            self.status = status;
        }
    }
}

impl AttributeList {
    /// Adds an attribute of a log.
    pub(crate) fn apply(&mut self, entry: LogEntry<'_>, limit: usize, limits: &SpanLimits) {
        let LogEntry::Attribute {
            key,
            value,
            is_clear,
            ..
        } = entry
        else {
            return;
        };
        let value = if is_clear {
            value
        } else {
            Redaction::DEFAULT.apply(key, value)
        };
        let value = own(value, limits.value_length);
        self.set(Key::from_static_str(key), value, limit);
    }
}

/// A text that a log may hold.
#[expect(
    clippy::ptr_arg,
    reason = "whether the text is static is what this is about"
)]
fn to_text<'a>(text: &'a Cow<'static, str>) -> Text<'a> {
    match text {
        Cow::Borrowed(text) => Text::Static(text),
        Cow::Owned(text) => Text::Copied(text),
    }
}

fn to_cow(text: Text<'_>) -> Cow<'static, str> {
    match text {
        Text::Static(text) => Cow::Borrowed(text),
        Text::Copied(text) => Cow::Owned(text.to_owned()),
    }
}

impl Owned {
    /// Changes what a log cannot hold. `change` must not run foreign code.
    #[cold]
    pub(crate) fn change(&self, change: impl FnOnce(&mut Body, &SpanLimits)) {
        let recorder = self.recorder();
        // A span of before a fork is the parent's to export; the child has a mere copy of it, and its lock may have been
        // locked.
        if !recorder.is_of_this_process() {
            return;
        }
        let limits = recorder.limits();
        let body = self.heap(|record| Body::replay(record, limits));
        change(&mut body.lock(), limits);
    }

    pub(crate) fn set_status(&self, status: Status) {
        let is_logged = match &status {
            Status::Unset => true,
            Status::Ok => self.append_ok(),
            Status::Error(description) => self.append_error(to_text(description)),
        };
        if !is_logged {
            self.change(|body, _| body.set_status(status));
        }
    }

    pub(crate) fn set_name(&self, name: Cow<'static, str>) {
        if !self.append_name(to_text(&name)) {
            self.change(|body, _| body.name = name);
        }
    }

    pub(crate) fn add_event(
        &self,
        name: Cow<'static, str>,
        at: Tick,
        mut attributes: EventAttributes,
    ) {
        if let (Cow::Borrowed(name), Some(scratch)) = (&name, attributes.scratch())
            && self.append_event(name, at, scratch)
        {
            return;
        }
        self.change(|body, limits| {
            let attributes = attributes.take_list();
            let event = Event {
                name,
                at,
                attributes,
            };
            body.add_event(event, limits.events);
        });
    }

    pub(crate) fn add_link(&self, link: SpanLink) {
        self.change(|body, limits| body.add_link(link, limits.links));
    }
}
