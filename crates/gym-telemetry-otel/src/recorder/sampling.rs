//! Which traces are recorded.
//!
//! The decision is taken where a trace enters this process: at a root and at a span with a remote parent. Spans
//! below follow it, so a sampler that would decide by the name of an inner span is not asked about it.

use std::sync::Arc;

use gym_telemetry_core::{SpanContext, SpanKind, TraceId, TraceState};
use opentelemetry::trace::{Link as OtelLink, TraceContextExt};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{SamplingDecision, ShouldSample};

use super::convert;
use super::host::HostSpans;
use super::link::Link;
use crate::contain::contain;
use crate::settings::Sampler;

/// How traces are sampled.
#[derive(Debug, Default)]
pub(crate) enum Sampling {
    /// As the remote parent says, and always without one.
    #[default]
    ParentBased,
    /// As this sampler says. What it wants recorded but not exported is not recorded.
    Custom(Box<dyn ShouldSample>),
    /// As the host program's own provider says, which is asked about every span.
    Host(Arc<HostSpans>),
}

/// What is known about a span when its trace enters the process.
pub(crate) struct Candidate<'a> {
    pub parent: Option<&'a Link>,
    pub trace_id: TraceId,
    pub name: &'a str,
    pub kind: SpanKind,
    pub attributes: &'a [KeyValue],
    pub links: &'a [SpanContext],
}

pub(crate) struct Decision {
    pub is_sampled: bool,
    pub attributes: Vec<KeyValue>,
    pub trace_state: TraceState,
    /// Whether the sampler panicked; the trace is recorded then.
    pub has_panicked: bool,
}

impl From<Sampler> for Sampling {
    fn from(sampler: Sampler) -> Self {
        if sampler == Sampler::DEFAULT {
            Self::ParentBased
        } else {
            Self::Custom(Box::new(sampler.to_sdk()))
        }
    }
}

impl Sampling {
    pub(crate) fn decide(&self, candidate: &Candidate<'_>) -> Decision {
        let inherited = candidate
            .parent
            .map_or(TraceState::EMPTY, |parent| parent.trace_state.clone());
        let plain = |is_sampled, has_panicked, trace_state| Decision {
            is_sampled,
            attributes: Vec::new(),
            trace_state,
            has_panicked,
        };
        let sampler = match self {
            Self::ParentBased | Self::Host(_) => {
                let is_sampled = candidate
                    .parent
                    .is_none_or(|parent| parent.flags.is_sampled());
                return plain(is_sampled, false, inherited);
            }
            Self::Custom(sampler) => sampler,
        };
        let parent = candidate.parent.and_then(Link::span_context);
        let parent = parent.map(|context| {
            Context::new().with_remote_span_context(convert::span_context(&context))
        });
        let links: Vec<_> = candidate
            .links
            .iter()
            .map(|context| OtelLink::new(convert::span_context(context), Vec::new(), 0))
            .collect();
        let result = contain(|| {
            sampler.should_sample(
                parent.as_ref(),
                convert::trace_id(candidate.trace_id),
                candidate.name,
                &convert::kind(candidate.kind),
                candidate.attributes,
                &links,
            )
        });
        match result {
            Ok(result) => Decision {
                is_sampled: result.decision == SamplingDecision::RecordAndSample,
                attributes: result.attributes,
                trace_state: convert::trace_state_from(&result.trace_state).unwrap_or(inherited),
                has_panicked: false,
            },
            Err(_) => plain(true, true, inherited),
        }
    }
}
