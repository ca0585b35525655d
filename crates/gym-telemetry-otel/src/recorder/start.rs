//! The start of a span.

use std::borrow::Cow;
use std::sync::Arc;

use gym_telemetry_core::{Redaction, SpanId, TraceFlags, TraceId, TraceState};

use super::Recorder;
use super::body::SpanLink;
use super::clock::Tick;
use super::host::{HostSpans, Wanted};
use super::ids;
use super::link::Link;
use super::raw::{self, Above, Draft, Entry, Family, Handle, Header, Owned, Traits};
use super::sampling::{Candidate, Decision, Sampling};
use crate::attributes::{AttributeList, Attributes, Collector};
use crate::contain::contain;
use crate::options::{Parent, SpanOptions};

/// What came of the wish to start a span.
#[derive(Debug, Default)]
pub(crate) enum Started {
    /// Nothing: entering it changes nothing, children hang on the nearest recorded ancestor.
    #[default]
    Nothing,
    /// A span that is recorded.
    Recorded(Owned),
    /// Ids without a record: the top of a trace that is not sampled or found no room.
    Passive(Arc<Link>),
    /// The span of an entry of this thread's, which somebody else owns.
    Borrowed(Entry),
}

/// A span that is about to be started.
struct Candidacy {
    parent: Option<Link>,
    trace_id: TraceId,
    trace_state: TraceState,
    now: Tick,
}

/// The first attempt to start a span.
enum Begun {
    Draft(Draft),
    /// Nothing is to be started.
    Nothing,
    /// It is a case for [`Recorder::start_by_rule`].
    Special,
}

impl Recorder {
    /// Starts a span.
    #[inline]
    pub(crate) fn start(
        &'static self,
        name: Cow<'static, str>,
        options: SpanOptions<'_>,
        describe: impl FnOnce(&mut Attributes<'_>),
    ) -> Handle {
        // All of this is known where a macro stands, so one of the two ways is all that is left there.
        if let (Cow::Borrowed(name), Parent::Current, Some(traits)) =
            (&name, options.parent, Traits::of(&options))
        {
            match self.begin(name, traits) {
                Begun::Draft(draft) => {
                    self.describe(&draft, describe);
                    return Handle::recorded(&draft.open());
                }
                Begun::Nothing => return Handle::NOTHING,
                Begun::Special => {}
            }
        }
        // A copy: the options themselves need not be in memory.
        let options = SpanOptions { ..options };
        self.start_by_rule(name, &options, describe).into()
    }

    /// Starts a span below the current one, or at the top of a trace, if there is nothing special about it.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a call would pass and save more registers than the work takes instructions"
    )]
    fn begin(&'static self, name: &'static str, traits: Traits) -> Begun {
        if !self.is_accepting() || matches!(self.settings.sampling, Sampling::Host(_)) {
            return Begun::Special;
        }
        raw::with_above(|above| match above {
            Above::Span(parent) if !parent.has_trace_state() => {
                let now = self.clock.now();
                let Some(draft) = Draft::take(self) else {
                    return Begun::Special;
                };
                draft.write_child(&parent, ids::span_id(now), now, name, traits);
                Begun::Draft(draft)
            }
            Above::Link(link) if !link.is_remote && !link.flags.is_sampled() => {
                // As the top of the trace was decided, without even a look at the clock.
                raw::count_unsampled(self);
                Begun::Nothing
            }
            Above::Link(link) if !link.is_remote && link.trace_state.is_empty() => {
                self.begin_below(Some(link), name, traits)
            }
            Above::Nothing if matches!(self.settings.sampling, Sampling::ParentBased) => {
                self.begin_below(None, name, traits)
            }
            _ => Begun::Special,
        })
    }

    /// Starts a span below a place in its trace, or at the top of one.
    #[inline(never)]
    fn begin_below(
        &'static self,
        link: Option<&Link>,
        name: &'static str,
        traits: Traits,
    ) -> Begun {
        let now = self.clock.now();
        let family = match link {
            Some(link) => Family {
                trace_id: link.trace_id,
                parent: link.span_id,
                flags: link.flags,
            },
            None => Family {
                trace_id: ids::trace_id(now),
                parent: None,
                flags: TraceFlags::RANDOM.with_sampled(true),
            },
        };
        let Some(draft) = Draft::take(self) else {
            return Begun::Special;
        };
        draft.write_plain(family, ids::span_id(now), now, name, traits);
        Begun::Draft(draft)
    }

    /// Starts a span, whatever there is about it.
    #[cold]
    #[inline(never)]
    fn start_by_rule(
        &'static self,
        name: Cow<'static, str>,
        options: &SpanOptions<'_>,
        describe: impl FnOnce(&mut Attributes<'_>),
    ) -> Started {
        let mut candidacy = match self.consider(options) {
            Ok(candidacy) => candidacy,
            Err(started) => return started,
        };
        let is_local = candidacy
            .parent
            .as_ref()
            .is_some_and(|parent| !parent.is_remote);
        match self.settings.sampling {
            Sampling::ParentBased => {}
            Sampling::Custom(_) if is_local => {}
            Sampling::Custom(_) => {
                return self.start_sampled(candidacy, name, options, describe);
            }
            Sampling::Host(ref host) => {
                return self.start_with_host(host, candidacy, name, options, describe);
            }
        }
        let is_sampled = candidacy
            .parent
            .as_ref()
            .is_none_or(|parent| parent.flags.is_sampled());
        if !is_sampled {
            return self.pass_over(candidacy);
        }
        let span_id = ids::span_id(candidacy.now);
        match self.draft(&mut candidacy, span_id, name, options) {
            Some(draft) => {
                self.describe(&draft, describe);
                Started::Recorded(draft.open())
            }
            None => self.overflow(candidacy, options),
        }
    }

    #[inline]
    fn describe(&self, draft: &Draft, describe: impl FnOnce(&mut Attributes<'_>)) {
        let mut attributes = Attributes::of_record(draft.record());
        // If it panics, what it has set so far is kept.
        if contain(|| describe(&mut attributes)).is_err() {
            self.counts.panics.add(1);
        }
    }

    /// Runs an attribute closure. If it panics, what it has set so far is kept.
    pub(crate) fn collect(
        &self,
        limit: usize,
        describe: impl FnOnce(&mut Attributes<'_>),
    ) -> AttributeList {
        let mut list = AttributeList::default();
        let mut collector = Collector::of_list(&mut list, limit, self.limits(), Redaction::DEFAULT);
        if contain(|| describe(&mut Attributes::through(&mut collector))).is_err() {
            self.counts.panics.add(1);
        }
        list
    }

    #[inline]
    fn consider(&'static self, options: &SpanOptions<'_>) -> Result<Candidacy, Started> {
        if !self.is_accepting() {
            self.counts.refuse(self.refusal());
            return Err(Started::Nothing);
        }
        let parent = match options.parent {
            Parent::Current => raw::current_link(),
            Parent::Root => None,
            Parent::Remote(context) => Some(Link::remote(context)),
            Parent::Context(context) => context.link().cloned(),
        };
        if let Some(known) = &parent
            && !known.is_remote
            && !known.flags.is_sampled()
        {
            // As the top of the trace was decided, without even a look at the clock.
            raw::count_unsampled(self);
            return Err(continue_above(parent, options));
        }
        let now = self.clock.now();
        let (trace_id, trace_state) = match &parent {
            Some(parent) => (parent.trace_id, parent.trace_state.clone()),
            None => (ids::trace_id(now), TraceState::EMPTY),
        };
        Ok(Candidacy {
            parent,
            trace_id,
            trace_state,
            now,
        })
    }

    /// Asks the sampler whether a trace that enters the process is recorded.
    #[cold]
    #[inline(never)]
    fn start_sampled(
        &'static self,
        mut candidacy: Candidacy,
        name: Cow<'static, str>,
        options: &SpanOptions<'_>,
        describe: impl FnOnce(&mut Attributes<'_>),
    ) -> Started {
        let attributes = self.collect(self.limits().attributes, describe);
        let Decision {
            is_sampled,
            attributes: extra,
            trace_state,
            has_panicked,
        } = self.settings.sampling.decide(&Candidate {
            parent: candidacy.parent.as_ref(),
            trace_id: candidacy.trace_id,
            name: &name,
            kind: options.kind,
            attributes: &attributes.items,
            links: options.links,
        });
        self.counts.panics.add(u64::from(has_panicked));
        candidacy.trace_state = trace_state;
        if !is_sampled {
            return self.pass_over(candidacy);
        }
        let span_id = ids::span_id(candidacy.now);
        let Some(draft) = self.draft(&mut candidacy, span_id, name, options) else {
            return self.overflow(candidacy, options);
        };
        if !attributes.items.is_empty() || attributes.dropped > 0 || !extra.is_empty() {
            draft.record().change(|body, limits| {
                body.attributes = attributes;
                for item in extra {
                    body.attributes.set(item.key, item.value, limits.attributes);
                }
            });
        }
        Started::Recorded(draft.open())
    }

    /// Starts the host's span first, which decides about sampling and lends its ids.
    #[cold]
    #[inline(never)]
    fn start_with_host(
        &'static self,
        host: &HostSpans,
        mut candidacy: Candidacy,
        name: Cow<'static, str>,
        options: &SpanOptions<'_>,
        describe: impl FnOnce(&mut Attributes<'_>),
    ) -> Started {
        let link = host.start(Wanted {
            parent: candidacy.parent.as_ref(),
            name: name.clone(),
            kind: options.kind,
            scope: options.scope,
            links: options.links,
        });
        let Some(link) = link else {
            self.counts.panics.add(1);
            return continue_above(candidacy.parent, options);
        };
        let Some(span_id) = link.span_id.filter(|_| link.flags.is_sampled()) else {
            raw::count_unsampled(self);
            return Started::Passive(Arc::new(link));
        };
        candidacy.trace_id = link.trace_id;
        candidacy.trace_state = link.trace_state;
        let Some(draft) = self.draft(&mut candidacy, span_id, name, options) else {
            host.let_go(span_id);
            return self.overflow(candidacy, options);
        };
        self.describe(&draft, describe);
        Started::Recorded(draft.open())
    }

    /// Takes a slot and writes what is known about the span, but for its attributes; `None` if there is no slot.
    #[inline]
    fn draft(
        &'static self,
        candidacy: &mut Candidacy,
        span_id: SpanId,
        name: Cow<'static, str>,
        options: &SpanOptions<'_>,
    ) -> Option<Draft> {
        let draft = Draft::take(self)?;
        let parent = candidacy.parent.as_ref();
        draft.write(Header {
            trace_id: candidacy.trace_id,
            span_id,
            flags: parent
                .map_or(TraceFlags::RANDOM, |parent| parent.flags)
                .with_sampled(true),
            parent: parent.and_then(|parent| parent.span_id),
            parent_is_remote: parent.is_some_and(|parent| parent.is_remote),
            trace_state: std::mem::take(&mut candidacy.trace_state),
            kind: options.kind,
            scope: options.scope,
            start: candidacy.now,
            name: match name {
                Cow::Borrowed(name) => name,
                Cow::Owned(_) => "",
            },
            record_exception: options.record_exception,
            status_style: options.status_style,
            started_panicking: std::thread::panicking(),
        });
        if let Cow::Owned(_) = name {
            draft.record().set_name(name);
        }
        for context in options.links {
            draft.record().add_link(SpanLink {
                context: context.clone(),
                attributes: AttributeList::default(),
            });
        }
        Some(draft)
    }

    /// The span is the top of a trace in this process, and not sampled.
    #[cold]
    fn pass_over(&'static self, candidacy: Candidacy) -> Started {
        raw::count_unsampled(self);
        head(candidacy)
    }

    /// There is no room: what would be the span's children hang on its parent instead. Without a parent they
    /// become roots of one trace.
    #[cold]
    #[inline(never)]
    fn overflow(&self, candidacy: Candidacy, options: &SpanOptions<'_>) -> Started {
        self.starve();
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
}

/// A span that leaves no trace: what is below it continues with what is above it.
#[inline]
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
