//! One recorded span.

use std::borrow::Cow;
use std::sync::atomic::AtomicU32;

use gym_telemetry_core::{SpanContext, SpanId, SpanKind};
use parking_lot::Mutex;

use super::Recorder;
use super::clock::Tick;
use super::link::Link;
use crate::attributes::AttributeList;
use crate::options::{Status, StatusStyle};

/// A span from its start until it is exported.
///
/// The owner of the [`Span`](crate::Span) is the only one who writes to the body while it is open, and shutdown
/// the only other one who takes it, so the lock is never contended in normal life.
#[derive(Debug)]
pub(crate) struct Node {
    pub recorder: &'static Recorder,
    /// The span's own ids.
    pub link: Link,
    pub parent: Option<SpanId>,
    pub parent_is_remote: bool,
    pub kind: SpanKind,
    pub scope: &'static str,
    pub start: Tick,
    /// Orders spans that started in the same nanosecond.
    pub serial: u64,
    pub status_style: StatusStyle,
    pub record_exception: bool,
    /// Whether the thread was already unwinding when the span started.
    pub started_panicking: bool,
    /// Where the registry of open spans keeps it.
    pub place: AtomicU32,
    pub body: Mutex<Body>,
}

/// What can change while a span is open.
#[derive(Debug)]
pub(crate) struct Body {
    pub state: State,
    pub end: Tick,
    pub name: Cow<'static, str>,
    pub attributes: AttributeList,
    pub events: Vec<Event>,
    pub dropped_events: u32,
    pub links: Vec<SpanLink>,
    pub dropped_links: u32,
    pub status: Status,
}

/// Who has the last word on a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nobody yet.
    Open,
    /// Its owner ended it.
    Ended,
    /// Shutdown cut it off; what its owner does afterwards is too late.
    Truncated,
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
    pub(crate) fn new(name: Cow<'static, str>, attributes: AttributeList) -> Self {
        Self {
            state: State::Open,
            end: Tick::default(),
            name,
            attributes,
            events: Vec::new(),
            dropped_events: 0,
            links: Vec::new(),
            dropped_links: 0,
            status: Status::Unset,
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

impl Node {
    /// Whether changes still have an effect.
    pub(crate) fn is_open(&self) -> bool {
        self.recorder.is_of_this_process() && self.body.lock().state == State::Open
    }

    /// Changes the span unless it has ended.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Body)) {
        // A span of before a fork is the parent's to export; the child has a mere copy of it.
        if !self.recorder.is_of_this_process() {
            return;
        }
        let mut body = self.body.lock();
        if body.state == State::Open {
            change(&mut body);
        }
    }
}
