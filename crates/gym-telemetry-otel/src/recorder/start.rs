//! The start of a span.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use gym_telemetry_core::receipt::DropReason;
use gym_telemetry_core::{Redaction, TraceFlags, TraceId, TraceState};
use parking_lot::Mutex;

use super::Recorder;
use super::clock::Tick;
use super::ids;
use super::link::Link;
use super::node::{Body, Node, SpanLink};
use super::sampling::{Candidate, Sampling};
use crate::attributes::{AttributeList, Attributes};
use crate::contain::contain;
use crate::options::{Parent, SpanOptions};
use crate::stack;

/// What came of the wish to start a span.
#[derive(Clone, Debug, Default)]
pub(crate) enum Started {
    /// Nothing: entering it changes nothing, children hang on the nearest recorded ancestor.
    #[default]
    Nothing,
    /// A span that is recorded.
    Recorded(Arc<Node>),
    /// Ids without a record: the top of a trace that is not sampled or found no room.
    Passive(Arc<Link>),
}

/// A span that is about to be started.
struct Candidacy {
    parent: Option<Link>,
    trace_id: TraceId,
    trace_state: TraceState,
    now: Tick,
    /// Whether a sampler has to see the attributes first. If not, the span's place is reserved.
    is_undecided: bool,
}

impl Recorder {
    /// Starts a span.
    pub(crate) fn start(
        &'static self,
        name: Cow<'static, str>,
        options: &SpanOptions<'_>,
        describe: impl FnOnce(&mut Attributes<'_>),
    ) -> Started {
        match self.consider(options) {
            Err(started) => started,
            Ok(candidacy) => {
                let limit = self.limits().attributes;
                let attributes = self.collect(limit, Redaction::DEFAULT, describe);
                self.admit(candidacy, name, options, attributes)
            }
        }
    }

    /// Runs an attribute closure. If it panics, what it has set so far is kept.
    pub(crate) fn collect(
        &self,
        limit: usize,
        redaction: Redaction<'_>,
        describe: impl FnOnce(&mut Attributes<'_>),
    ) -> AttributeList {
        let mut list = AttributeList::default();
        let mut attributes = Attributes::new(&mut list, limit, self.limits(), redaction);
        if contain(|| describe(&mut attributes)).is_err() {
            self.counts.panics.add(1);
        }
        list
    }

    /// Decides as much as can be decided without the attributes.
    fn consider(&self, options: &SpanOptions<'_>) -> Result<Candidacy, Started> {
        if !self.is_accepting() {
            self.refuse();
            return Err(Started::Nothing);
        }
        let parent = match options.parent {
            Parent::Current => stack::current_link(),
            Parent::Root => None,
            Parent::Remote(context) => Some(Link::remote(context)),
            Parent::Context(context) => context.link().cloned(),
        };
        let now = self.clock.now();
        let is_local = parent.as_ref().is_some_and(|parent| !parent.is_remote);
        let candidacy = Candidacy {
            trace_id: parent
                .as_ref()
                .map_or_else(|| ids::trace_id(now), |parent| parent.trace_id),
            trace_state: parent
                .as_ref()
                .map_or(TraceState::EMPTY, |parent| parent.trace_state.clone()),
            now,
            is_undecided: !is_local && matches!(self.settings.sampling, Sampling::Custom(_)),
            parent,
        };
        let is_sampled = candidacy
            .parent
            .as_ref()
            .is_none_or(|parent| parent.flags.is_sampled());
        if candidacy.is_undecided {
            Ok(candidacy)
        } else if !is_sampled {
            self.counts.unsampled.add(1);
            Err(if is_local {
                continue_above(candidacy.parent, options)
            } else {
                head(candidacy)
            })
        } else if self.reserve() {
            Ok(candidacy)
        } else {
            Err(self.overflow(candidacy, options))
        }
    }

    /// Decides what is left to decide and registers the span.
    fn admit(
        &'static self,
        mut candidacy: Candidacy,
        name: Cow<'static, str>,
        options: &SpanOptions<'_>,
        mut attributes: AttributeList,
    ) -> Started {
        if candidacy.is_undecided {
            let decision = self.settings.sampling.decide(&Candidate {
                parent: candidacy.parent.as_ref(),
                trace_id: candidacy.trace_id,
                name: &name,
                kind: options.kind,
                attributes: &attributes.items,
                links: options.links,
            });
            self.counts.panics.add(u64::from(decision.has_panicked));
            candidacy.trace_state = decision.trace_state;
            if !decision.is_sampled {
                self.counts.unsampled.add(1);
                return head(candidacy);
            }
            for extra in decision.attributes {
                attributes.set(extra.key, extra.value, self.limits().attributes);
            }
            if !self.reserve() {
                return self.overflow(candidacy, options);
            }
        }
        let node = self.build(candidacy, name, options, attributes);
        self.counts.created.add(1);
        if self.open.insert(&node, || self.is_accepting()) {
            Started::Recorded(node)
        } else {
            // Shutdown came in between.
            self.release(1);
            self.counts.drop_for(self.refusal(), 1);
            Started::Nothing
        }
    }

    fn build(
        &'static self,
        candidacy: Candidacy,
        name: Cow<'static, str>,
        options: &SpanOptions<'_>,
        attributes: AttributeList,
    ) -> Arc<Node> {
        let Candidacy {
            parent,
            trace_id,
            trace_state,
            now,
            ..
        } = candidacy;
        let flags = parent
            .as_ref()
            .map_or(TraceFlags::RANDOM, |parent| parent.flags);
        let mut body = Body::new(name, attributes);
        for context in options.links {
            let link = SpanLink {
                context: context.clone(),
                attributes: AttributeList::default(),
            };
            body.add_link(link, self.limits().links);
        }
        Arc::new(Node {
            recorder: self,
            link: Link {
                trace_id,
                span_id: Some(ids::span_id(now)),
                flags: flags.with_sampled(true),
                trace_state,
                is_remote: false,
            },
            parent: parent.as_ref().and_then(|parent| parent.span_id),
            parent_is_remote: parent.is_some_and(|parent| parent.is_remote),
            kind: options.kind,
            scope: options.scope,
            start: now,
            serial: self.next_serial(),
            status_style: options.status_style,
            record_exception: options.record_exception,
            started_panicking: std::thread::panicking(),
            place: AtomicU32::new(0),
            body: Mutex::new(body),
        })
    }

    /// There is no room: what would be the span's children hang on its parent instead. Without a parent they
    /// become roots of one trace.
    fn overflow(&self, candidacy: Candidacy, options: &SpanOptions<'_>) -> Started {
        self.counts.created.add(1);
        self.counts.drop_for(DropReason::QueueFull, 1);
        if self.queued() > 0 {
            // Exporting what has ended makes room.
            self.wake.notify_one();
        }
        if candidacy.parent.is_some() {
            return continue_above(candidacy.parent, options);
        }
        Started::Passive(Arc::new(Link {
            trace_id: candidacy.trace_id,
            span_id: None,
            flags: TraceFlags::RANDOM.with_sampled(true),
            trace_state: candidacy.trace_state,
            is_remote: false,
        }))
    }

    fn refuse(&self) {
        self.counts.created.add(1);
        self.counts.drop_for(self.refusal(), 1);
    }
}

/// A span that leaves no trace: what is below it continues with what is above it.
fn continue_above(parent: Option<Link>, options: &SpanOptions<'_>) -> Started {
    match (options.parent, parent) {
        // The parent is current anyway.
        (Parent::Current, _) | (_, None) => Started::Nothing,
        (_, Some(parent)) => Started::Passive(Arc::new(parent)),
    }
}

/// The top of an unsampled trace in this process: it has ids, so that the decision reaches everyone below.
fn head(candidacy: Candidacy) -> Started {
    let flags = candidacy
        .parent
        .map_or(TraceFlags::RANDOM, |parent| parent.flags);
    Started::Passive(Arc::new(Link {
        trace_id: candidacy.trace_id,
        span_id: Some(ids::span_id(candidacy.now)),
        flags: flags.with_sampled(false),
        trace_state: candidacy.trace_state,
        is_remote: false,
    }))
}
