//! Spans of the host program's own tracer provider, one beside each of ours.
//!
//! The provider's span is started first and lends its ids, so that the trace is one whether a span comes from us or from
//! the host, and whatever goes to other processes is true. It gets what ours has gathered when ours has ended.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use gym_telemetry_core::{SpanContext, SpanId, SpanKind, TraceFlags, TraceId};
use opentelemetry::Context;
use opentelemetry::global::ObjectSafeSpan;
use opentelemetry::trace::{
    Link as OtelLink, Span, SpanBuilder, SpanId as OtelSpanId, TraceContextExt, Tracer,
    TracerProvider,
};
use opentelemetry_sdk::trace::SpanData;
use parking_lot::Mutex;

use super::convert;
use super::link::Link;
use crate::contain::contain;

type HostSpan = Box<dyn ObjectSafeSpan + Send + Sync>;
type Start = dyn Fn(&'static str, SpanBuilder, &Context) -> HostSpan + Send + Sync;

/// The host's side of the spans that are open or wait for their end to be told.
pub(crate) struct HostSpans {
    start: Box<Start>,
    open: Mutex<HashMap<OtelSpanId, Open>>,
}

struct Open {
    span: HostSpan,
    started: SystemTime,
    links: usize,
}

/// What a span is to be started as.
pub(super) struct Wanted<'a> {
    pub parent: Option<&'a Link>,
    pub name: Cow<'static, str>,
    pub kind: SpanKind,
    pub scope: &'static str,
    pub links: &'a [SpanContext],
}

impl HostSpans {
    /// Spans through the tracers of `provider`, which is never shut down from here.
    pub(crate) fn new<P>(provider: Arc<P>) -> Self
    where
        P: TracerProvider + Send + Sync + 'static,
        <P::Tracer as Tracer>::Span: Span + Send + Sync + 'static,
    {
        Self {
            start: Box::new(move |scope, builder, parent| {
                Box::new(provider.tracer(scope).build_with_context(builder, parent))
            }),
            open: Mutex::default(),
        }
    }

    /// Starts the host's span and returns its place in the trace; `None` if it panics or has no ids.
    pub(super) fn start(&self, wanted: Wanted<'_>) -> Option<Link> {
        let parent = wanted.parent.and_then(Link::span_context);
        let context = parent.map_or_else(Context::new, |parent| {
            Context::new().with_remote_span_context(convert::span_context(&parent))
        });
        let started = SystemTime::now();
        let links: Vec<_> = wanted
            .links
            .iter()
            .map(|context| OtelLink::new(convert::span_context(context), Vec::new(), 0))
            .collect();
        let count = links.len();
        let builder = SpanBuilder::from_name(wanted.name)
            .with_kind(convert::kind(wanted.kind))
            .with_start_time(started)
            .with_links(links);
        let span = contain(|| (self.start)(wanted.scope, builder, &context)).ok()?;
        let context = span.span_context().clone();
        let link = Link {
            trace_id: TraceId::from_bytes(context.trace_id().to_bytes())?,
            span_id: Some(SpanId::from_bytes(context.span_id().to_bytes())?),
            flags: TraceFlags::from_bits(context.trace_flags().to_u8()),
            trace_state: convert::trace_state_from(context.trace_state()).unwrap_or_default(),
            is_remote: false,
        };
        if link.flags.is_sampled() {
            let open = Open {
                span,
                started,
                links: count,
            };
            self.open.lock().insert(context.span_id(), open);
        }
        Some(link)
    }

    /// Ends a span of the host's as it is: there is no room for ours.
    pub(super) fn let_go(&self, span_id: SpanId) {
        let span_id = OtelSpanId::from_bytes(span_id.to_bytes());
        let open = self.open.lock().remove(&span_id);
        // Outside the lock: the host's processors are told.
        let _ = contain(|| drop(open));
    }

    /// Gives the host's span what ours has gathered and ends it. Returns whether there was one.
    pub(crate) fn finish(&self, data: SpanData) -> bool {
        let open = self.open.lock().remove(&data.span_context.span_id());
        let Some(Open {
            mut span,
            started,
            links,
        }) = open
        else {
            return false;
        };
        contain(move || {
            span.update_name(data.name);
            for attribute in data.attributes {
                span.set_attribute(attribute);
            }
            for event in data.events.events {
                span.add_event_with_timestamp(event.name, event.timestamp, event.attributes);
            }
            for link in data.links.links.into_iter().skip(links) {
                span.add_link(link.span_context, link.attributes);
            }
            span.set_status(data.status);
            span.end_with_timestamp(data.end_time.max(started));
        })
        .is_ok()
    }
}

impl fmt::Debug for HostSpans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostSpans").finish_non_exhaustive()
    }
}
