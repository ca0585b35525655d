//! OpenTelemetry providers of the host program.

use std::fmt;
use std::sync::Arc;

use opentelemetry::metrics::MeterProvider;
use opentelemetry::trace::{Tracer, TracerProvider};

use crate::metrics::HostMeters;
use crate::recorder::HostSpans;

/// Makes the host's side of spans; once in each process.
pub(crate) type MakeHostSpans = Arc<dyn Fn() -> Arc<HostSpans> + Send + Sync>;

/// Providers that the host program has set up for itself, for
/// [`init_telemetry_with_providers`](crate::init_telemetry_with_providers).
///
/// A signal without one goes where the settings say. Providers are kept until the process ends and are neither flushed
/// nor shut down from here: their owner does both, and dropping its own handles is not enough.
///
/// In a forked child the same providers are used again. Whether that is of use is up to them: those of the OpenTelemetry
/// SDK have lost their threads there, go on from what the parent had recorded, and may have been locked by another thread
/// at the moment of the fork.
#[derive(Clone, Default)]
#[must_use = "providers are used by `init_telemetry_with_providers`"]
pub struct Providers {
    pub(crate) spans: Option<MakeHostSpans>,
    pub(crate) meters: Option<HostMeters>,
}

impl Providers {
    /// No providers yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends spans through this tracer provider.
    ///
    /// Each span is started and ended by the provider as well, in the same trace: its samplers, span processors, limits
    /// and resource apply, and none of ours do. Such a span costs what the provider's spans cost, and more. The sampler
    /// sees a span's name, kind, parent and links. Attributes, events and the end are told once ours has ended.
    pub fn tracer<P>(mut self, provider: P) -> Self
    where
        P: TracerProvider + Send + Sync + 'static,
        <P::Tracer as Tracer>::Span: Send + Sync + 'static,
    {
        let provider = Arc::new(provider);
        self.spans = Some(Arc::new(move || {
            Arc::new(HostSpans::new(Arc::clone(&provider)))
        }));
        self
    }

    /// Records metrics with instruments of this meter provider.
    ///
    /// Its readers, views and resource apply, and its interval; histograms ask for the bounds of their descriptors. The
    /// callbacks of [`observe`](crate::observe()) run when a reader collects. As in every callback of the OpenTelemetry
    /// SDK, they must not make instruments with the provider itself, nor wait for somebody who does; handles of this
    /// crate may be made and used. With several readers, a metric whose owner is gone may show once more in those that did
    /// not collect last.
    ///
    /// Instruments are made on the telemetry thread. The first values of a metric reach the provider a moment after they
    /// were recorded, and a metric that is observed for the first time is there from the next collection on;
    /// [`TelemetryHandle::flush`](crate::TelemetryHandle::flush) and the shutdown wait for both, so let the flush or
    /// shutdown of the provider come after ours. After the shutdown nothing is recorded, and observed metrics stay as
    /// they were. The receipt counts no points, which are the provider's.
    pub fn meter<P>(mut self, provider: P) -> Self
    where
        P: MeterProvider + Send + Sync + 'static,
    {
        self.meters = Some(HostMeters::new(provider));
        self
    }
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Providers")
            .field("tracer", &self.spans.is_some())
            .field("meter", &self.meters.is_some())
            .finish()
    }
}
