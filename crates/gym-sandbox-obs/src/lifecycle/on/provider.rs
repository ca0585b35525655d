//! What is counted for each provider, as long as the process lives.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gym_telemetry_api::__private::{Histogram, Observation, Observer, observe};
use gym_telemetry_core::{Value, attribute, metric};

use super::sampler;

static PROVIDERS: Mutex<Providers> = Mutex::new(Providers {
    by_name: BTreeMap::new(),
    observation: None,
});

struct Providers {
    by_name: BTreeMap<Arc<str>, Arc<Provider>>,
    /// The one callback of the process, from the first provider on.
    observation: Option<Observation>,
}

/// The numbers of one provider. Counters outlive every sandbox: they never go backwards.
#[derive(Debug)]
pub(super) struct Provider {
    name: Arc<str>,
    /// `true` from the first sandbox on: before that there is nothing to report, not zero.
    has_started: AtomicBool,
    has_sampled: AtomicBool,
    active: AtomicI64,
    retries: AtomicU64,
    skipped: AtomicU64,
    pub(super) startups: Histogram,
    pub(super) execs: Histogram,
}

impl Provider {
    /// The provider of that name. Names are registered ones, so there are few.
    pub(super) fn named(name: &str) -> Arc<Self> {
        let mut providers = lock(&PROVIDERS);
        if let Some(provider) = providers.by_name.get(name) {
            return Arc::clone(provider);
        }
        let attributes = [(attribute::sandbox::PROVIDER, Value::Str(name))];
        let provider = Arc::new(Self {
            name: name.into(),
            has_started: AtomicBool::new(false),
            has_sampled: AtomicBool::new(false),
            active: AtomicI64::new(0),
            retries: AtomicU64::new(0),
            skipped: AtomicU64::new(0),
            startups: Histogram::with_attributes(&metric::SANDBOX_STARTUP_DURATION, &attributes),
            execs: Histogram::with_attributes(&metric::SANDBOX_EXEC_DURATION, &attributes),
        });
        providers
            .by_name
            .insert(Arc::clone(&provider.name), Arc::clone(&provider));
        providers.observation.get_or_insert_with(|| observe(report));
        provider
    }

    pub(super) fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(super) fn retried(&self) {
        self.retries.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn samples(&self) {
        self.has_sampled.store(true, Ordering::Relaxed);
    }

    pub(super) fn skipped(&self, readings: u64) {
        self.skipped.fetch_add(readings, Ordering::Relaxed);
    }

    fn report(&self, observer: &mut Observer<'_>) {
        let attributes = [(attribute::sandbox::PROVIDER, Value::Str(&self.name))];
        if self.has_started.load(Ordering::Relaxed) {
            let active = self.active.load(Ordering::Relaxed);
            observer.report(&metric::SANDBOX_ACTIVE, active, &attributes);
        }
        let retries = self.retries.load(Ordering::Relaxed);
        if retries > 0 {
            observer.report(&metric::SANDBOX_CREATE_RETRY, retries, &attributes);
        }
        if self.has_sampled.load(Ordering::Relaxed) {
            let skipped = self.skipped.load(Ordering::Relaxed);
            observer.report(&metric::SANDBOX_SAMPLE_SKIPPED, skipped, &attributes);
        }
    }
}

/// One live sandbox; counted until this is dropped, however its owner goes away.
#[derive(Debug)]
pub(super) struct Active(Arc<Provider>);

impl Active {
    pub(super) fn new(provider: &Arc<Provider>) -> Self {
        provider.active.fetch_add(1, Ordering::Relaxed);
        provider.has_started.store(true, Ordering::Relaxed);
        Self(Arc::clone(provider))
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        self.0.active.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Reports every provider; called on the collecting thread, which holds no lock meanwhile.
fn report(observer: &mut Observer<'_>) {
    let providers: Vec<_> = lock(&PROVIDERS).by_name.values().cloned().collect();
    for provider in providers {
        provider.report(observer);
    }
    sampler::report(observer);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What this lock guards is whole after every statement.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
