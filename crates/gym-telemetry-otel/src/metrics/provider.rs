//! What instruments report to: a meter provider of ours, or one that the host program has set up for itself.
//!
//! Ours is made without a resource and without an exporter, so that metrics count from the very start of the process
//! while both are still being found out elsewhere.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use gym_telemetry_core::{MetricDescriptor, scope};
use opentelemetry::metrics::{Meter, MeterProvider};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::reader::MetricReader;
use opentelemetry_sdk::metrics::{
    InstrumentKind, ManualReader, Pipeline, SdkMeterProvider, Temporality,
};
use parking_lot::Mutex;

use super::handle::Instrument;
use super::host::{Awaited, HostMetrics};
use super::observe::{self, Report};
use crate::{fork, process};

/// The generation of the installed provider; 0 while metrics go nowhere. Handles look at it before they do anything.
static INSTALLED: AtomicU64 = AtomicU64::new(0);
static LAST_NUMBER: AtomicU32 = AtomicU32::new(0);
static PROVIDERS: OnceLock<Link> = OnceLock::new();

/// Every provider that there ever was: nearly always one. A list that only grows needs no lock, which a fork could
/// leave locked for ever.
struct Link {
    provider: Arc<Provider>,
    next: OnceLock<Box<Link>>,
}

/// Whether metrics are exported: the one gate of every metric.
#[must_use]
pub fn are_metrics_exporting() -> bool {
    generation() != 0
}

/// The generation of the installed provider; 0 if there is none.
pub(super) fn generation() -> u64 {
    let generation = INSTALLED.load(Ordering::Relaxed);
    if generation == 0 || fork_of(generation) == fork::generation() {
        generation
    } else {
        after_fork()
    }
}

/// In a forked child the parent's provider is of no use: nobody collects it, and its locks may never be released.
#[cold]
fn after_fork() -> u64 {
    // Starts the child's own telemetry, which installs a provider.
    let _ = process::telemetry();
    let generation = INSTALLED.load(Ordering::Relaxed);
    if fork_of(generation) == fork::generation() {
        generation
    } else {
        0
    }
}

fn fork_of(generation: u64) -> u32 {
    u32::try_from(generation >> 32).expect("32 bits are left")
}

/// The installed provider.
pub(super) fn installed() -> Option<Arc<Provider>> {
    let generation = generation();
    // With the release of the installation: what was appended before it is seen.
    fence(Ordering::Acquire);
    find(generation)
}

fn find(generation: u64) -> Option<Arc<Provider>> {
    let mut links = std::iter::successors(PROVIDERS.get(), |link| link.next.get().map(Box::as_ref));
    links
        .find(|link| link.provider.generation == generation)
        .map(|link| Arc::clone(&link.provider))
}

fn append(provider: Arc<Provider>) {
    let mut link = Link {
        provider,
        next: OnceLock::new(),
    };
    let mut last = match PROVIDERS.set(link) {
        Ok(()) => return,
        Err(refused) => {
            link = refused;
            PROVIDERS.get()
        }
    };
    let mut link = Box::new(link);
    while let Some(known) = last {
        match known.next.set(link) {
            Ok(()) => return,
            Err(refused) => link = refused,
        }
        last = known.next.get().map(Box::as_ref);
    }
}

/// Whether instruments of this process report to the provider of `generation`. Unlike [`generation`] it starts nothing.
pub(super) fn is_installed(generation: u64) -> bool {
    INSTALLED.load(Ordering::Relaxed) == generation && is_of_this_process(generation)
}

/// Whether the provider of `generation` was made after the last fork that led to this process.
pub(super) fn is_of_this_process(generation: u64) -> bool {
    fork_of(generation) == fork::generation()
}

/// Tells a provider of the host's that there may be a new metric to observe.
pub(super) fn stir() {
    let generation = INSTALLED.load(Ordering::Acquire);
    if is_of_this_process(generation)
        && let Some(provider) = find(generation)
        && let Source::Host(host) = &provider.source
    {
        host.stir();
    }
}

/// What instruments report to.
pub(super) struct Provider {
    /// The fork generation in the upper half, a number that is never zero in the lower.
    pub(super) generation: u64,
    source: Source,
}

enum Source {
    Own(Own),
    Host(Arc<HostMetrics>),
}

impl Provider {
    fn new(source: impl FnOnce(u64) -> Source) -> Self {
        let number = LAST_NUMBER.fetch_add(1, Ordering::Relaxed) + 1;
        let generation = (u64::from(fork::generation()) << 32) | u64::from(number);
        Self {
            generation,
            source: source(generation),
        }
    }

    /// Returns the installed provider of this process, which is made and installed if there is none; only then
    /// `temporality` counts.
    pub(super) fn install(temporality: Temporality) -> Arc<Self> {
        Self::install_from(|_| Source::Own(Own::new(temporality)))
    }

    /// As [`install`](Self::install), for a meter provider of the host's, whose instruments may be bound to attributes
    /// if `binds`.
    pub(super) fn install_host(binds: bool) -> Arc<Self> {
        Self::install_from(|generation| Source::Host(Arc::new(HostMetrics::new(generation, binds))))
    }

    fn install_from(source: impl Fn(u64) -> Source) -> Arc<Self> {
        loop {
            let current = INSTALLED.load(Ordering::Relaxed);
            let is_ours = is_of_this_process(current);
            if let Some(provider) = is_ours.then(|| find(current)).flatten() {
                return provider;
            }
            let provider = Arc::new(Self::new(&source));
            // Before it can be looked for.
            append(Arc::clone(&provider));
            let installed = INSTALLED.compare_exchange(
                current,
                provider.generation,
                Ordering::Release,
                Ordering::Relaxed,
            );
            if installed.is_ok() {
                return provider;
            }
        }
    }

    /// Turns all instruments off if they report to this provider.
    pub(super) fn uninstall(&self) {
        // An error means that they do not.
        let _ =
            INSTALLED.compare_exchange(self.generation, 0, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The instrument of `descriptor`, or what takes its values until there is one.
    pub(super) fn instrument<I: Instrument>(
        &self,
        descriptor: &'static MetricDescriptor,
    ) -> Result<I, Arc<Awaited<I>>> {
        match &self.source {
            Source::Own(own) => Ok(I::create(&own.meter, descriptor)),
            Source::Host(host) => host.instrument(descriptor),
        }
    }

    /// Whether its instruments can be bound to attributes.
    pub(super) fn binds(&self) -> bool {
        match &self.source {
            Source::Own(_) => true,
            Source::Host(host) => host.binds(),
        }
    }

    /// What the host's meter provider is to be told, if it is the host's.
    pub(super) fn host(&self) -> Option<&Arc<HostMetrics>> {
        match &self.source {
            Source::Own(_) => None,
            Source::Host(host) => Some(host),
        }
    }

    /// The state of everything; nothing if the readers are the host's.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing but what callbacks have taken out of their own counts.
    pub(super) async fn collect_in_time(
        &self,
    ) -> Result<ResourceMetrics, opentelemetry_sdk::error::OTelSdkError> {
        match &self.source {
            Source::Own(own) => own.collect_with(observe::read_all_in_time().await),
            Source::Host(_) => Ok(ResourceMetrics::default()),
        }
    }

    /// As [`collect_in_time`](Self::collect_in_time), waiting for each callback for as long as it takes.
    #[cfg(test)]
    pub(super) fn collect(
        &self,
    ) -> Result<ResourceMetrics, opentelemetry_sdk::error::OTelSdkError> {
        match &self.source {
            Source::Own(own) => own.collect(),
            Source::Host(_) => Ok(ResourceMetrics::default()),
        }
    }
}

/// A meter provider of ours, which is collected by hand.
pub(super) struct Own {
    pub(super) meter: Meter,
    // Owns the pipeline of which the reader holds a weak reference.
    _pipeline: SdkMeterProvider,
    reader: Reader,
    observed: Mutex<HashMap<&'static str, Arc<Mutex<Vec<Report>>>>>,
}

impl Own {
    /// Makes a provider that nobody reports to yet.
    pub(super) fn new(temporality: Temporality) -> Self {
        let reader = Reader(Arc::new(
            ManualReader::builder()
                .with_temporality(temporality)
                .build(),
        ));
        let pipeline = SdkMeterProvider::builder()
            // The SDK's default resource reads the environment.
            .with_resource(Resource::builder_empty().build())
            .with_reader(reader.clone())
            .build();
        Self {
            meter: pipeline.meter(scope::LENS),
            _pipeline: pipeline,
            reader,
            observed: Mutex::default(),
        }
    }

    /// Reads every observable and returns the state of everything.
    #[cfg(test)]
    pub(super) fn collect(
        &self,
    ) -> Result<ResourceMetrics, opentelemetry_sdk::error::OTelSdkError> {
        self.collect_with(observe::read_all())
    }

    /// The state of everything, given what the callbacks have reported.
    ///
    /// Those run first and outside all locks, so that one may create instruments or take any lock of its own.
    pub(super) fn collect_with(
        &self,
        reports: Vec<Report>,
    ) -> Result<ResourceMetrics, opentelemetry_sdk::error::OTelSdkError> {
        let mut observed = self.observed.lock();
        for report in reports {
            let values = observed.entry(report.descriptor.name).or_insert_with(|| {
                let values: Arc<Mutex<Vec<Report>>> = Arc::default();
                let read = Arc::clone(&values);
                observe::register(&self.meter, &report, move || {
                    std::mem::take(&mut *read.lock())
                });
                values
            });
            values.lock().push(report);
        }
        let mut metrics = ResourceMetrics::default();
        self.reader.collect(&mut metrics)?;
        Ok(metrics)
    }
}

/// A handle of a reader that the SDK wants to own.
#[derive(Clone, Debug)]
struct Reader(Arc<ManualReader>);

impl MetricReader for Reader {
    fn register_pipeline(&self, pipeline: Weak<Pipeline>) {
        self.0.register_pipeline(pipeline);
    }

    fn collect(&self, metrics: &mut ResourceMetrics) -> OTelSdkResult {
        self.0.collect(metrics)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn temporality(&self, kind: InstrumentKind) -> Temporality {
        self.0.temporality(kind)
    }
}
