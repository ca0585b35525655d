//! What the meter provider of the host program is told.
//!
//! The OpenTelemetry SDK makes instruments under the lock that it also holds around the callbacks of a collection.
//! A caller that waited for it could hold a lock that one of those callbacks waits for. So only the telemetry thread
//! makes instruments: until it has, values wait for it, and callers never do.

use std::any::{Any, TypeId};
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use gym_telemetry_core::MetricDescriptor;
use opentelemetry::KeyValue;
use opentelemetry::metrics::noop::NoopMeterProvider;
use opentelemetry::metrics::{Meter, MeterProvider};
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::handle::Instrument;
use super::observe::{self, Report};
use super::provider;
use crate::contain::contain;
use crate::warn::warn;

/// How many values of one metric wait for its instrument.
const MAX_WAITING: usize = 8_192;

thread_local! {
    static PASS: Cell<Option<Pass>> = const { Cell::new(None) };
}

/// One collection by a reader of the host's, which asks for each metric in turn and on one thread. All are told from
/// one reading, so that values that belong together stay together.
struct Pass {
    generation: u64,
    told: HashSet<&'static str>,
    reports: HashMap<&'static str, Vec<Report>>,
}

/// The metric's name and the type of its instrument.
type InstrumentKey = (&'static str, TypeId);

/// The instruments and observables of one process with the host's meter provider.
pub(super) struct HostMetrics {
    /// That of the provider that this belongs to.
    generation: u64,
    binds: bool,
    instruments: Mutex<HashMap<InstrumentKey, Arc<dyn Settle>>>,
    /// The names of the metrics that the host's provider asks for. Never locked while a meter is called.
    observed: Mutex<HashSet<&'static str>>,
    /// What observables showed at the shutdown.
    last: OnceLock<Vec<Report>>,
    stirred: Notify,
}

impl HostMetrics {
    pub(super) fn new(generation: u64, binds: bool) -> Self {
        Self {
            generation,
            binds,
            instruments: Mutex::default(),
            observed: Mutex::default(),
            last: OnceLock::new(),
            stirred: Notify::new(),
        }
    }

    pub(super) fn binds(&self) -> bool {
        self.binds
    }

    /// Wakes the telemetry thread up.
    pub(super) fn stir(&self) {
        self.stirred.notify_one();
    }

    /// Ends after [`stir`](Self::stir).
    pub(super) async fn stirred(&self) {
        self.stirred.notified().await;
    }

    /// The instrument of `descriptor`, or what takes its values until there is one.
    pub(super) fn instrument<I: Instrument>(
        &self,
        descriptor: &'static MetricDescriptor,
    ) -> Result<I, Arc<Awaited<I>>> {
        let mut is_new = false;
        let key = (descriptor.name, TypeId::of::<I>());
        let known: Arc<dyn Any + Send + Sync> = {
            let mut instruments = self.instruments.lock();
            let known = instruments.entry(key).or_insert_with(|| {
                is_new = true;
                Arc::new(Awaited::<I>::new(descriptor))
            });
            Arc::clone(known) as _
        };
        if is_new {
            self.stir();
        }
        let known: Arc<Awaited<I>> = known.downcast().expect("the key names its type");
        match known.instrument.get() {
            Some(instrument) => Ok(instrument.clone()),
            None => Err(known),
        }
    }

    /// Makes all instruments that are wanted and hands them what waits for them. Returns how many values are lost.
    pub(super) fn settle(&self, meter: &Meter) -> u64 {
        let wanted: Vec<_> = self.instruments.lock().values().cloned().collect();
        wanted.iter().map(|wanted| wanted.settle(meter)).sum()
    }

    /// Has the host's provider ask for the metrics of `reports` from now on. Telemetry thread only.
    pub(super) fn register(self: &Arc<Self>, meter: &Meter, reports: &[Report]) {
        for report in reports {
            let name = report.descriptor.name;
            if !self.observed.lock().insert(name) {
                continue;
            }
            let host = Arc::clone(self);
            let registered =
                contain(|| observe::register(meter, report, move || host.reports_of(name)));
            if let Err(panic) = registered {
                complain(name, &panic);
            }
        }
    }

    /// Keeps `reports` as what observables show from now on.
    pub(super) fn close(&self, reports: Vec<Report>) {
        // An error means that it is closed already.
        let _ = self.last.set(reports);
    }

    /// What there is to tell about a metric in this collection. Runs wherever the host collects.
    fn reports_of(&self, name: &'static str) -> Vec<Report> {
        // No thread local is to be had on a thread that ends.
        let kept = PASS.try_with(Cell::take).ok().flatten();
        // The second question for a metric begins another collection.
        let is_same = |pass: &Pass| pass.generation == self.generation && !pass.told.contains(name);
        let mut pass = kept.filter(is_same).unwrap_or_else(|| self.begin());
        pass.told.insert(name);
        let reports = pass.reports.remove(name).unwrap_or_default();
        let _ = PASS.try_with(|kept| kept.set(Some(pass)));
        reports
    }

    fn begin(&self) -> Pass {
        let mut reports: HashMap<&'static str, Vec<Report>> = HashMap::new();
        for report in self.read() {
            reports
                .entry(report.descriptor.name)
                .or_default()
                .push(report);
        }
        Pass {
            generation: self.generation,
            told: HashSet::new(),
            reports,
        }
    }

    fn read(&self) -> Vec<Report> {
        if !provider::is_of_this_process(self.generation) {
            // A forked child has observables of its own, and locks of the parent's may never be released in it.
            return Vec::new();
        }
        if let Some(last) = self.last.get() {
            return last.clone();
        }
        if !provider::is_installed(self.generation) {
            return Vec::new();
        }
        let reports = observe::read_all();
        let is_new = {
            let observed = self.observed.lock();
            reports
                .iter()
                .any(|report| !observed.contains(report.descriptor.name))
        };
        if is_new {
            // This thread is inside a collection, where no instrument can be made.
            self.stir();
        }
        reports
    }
}

/// An instrument that the telemetry thread makes, and the values that wait for it.
pub(super) struct Awaited<I: Instrument> {
    descriptor: &'static MetricDescriptor,
    /// Set under the lock of `waiting`, when nothing waits any more: values keep their order.
    instrument: OnceLock<I>,
    waiting: Mutex<Waiting<I::Number>>,
}

struct Waiting<N> {
    values: Vec<(N, Vec<KeyValue>)>,
    lost: u64,
}

impl<I: Instrument> Awaited<I> {
    fn new(descriptor: &'static MetricDescriptor) -> Self {
        Self {
            descriptor,
            instrument: OnceLock::new(),
            waiting: Mutex::new(Waiting {
                values: Vec::new(),
                lost: 0,
            }),
        }
    }

    /// Records a value, now or when there is an instrument.
    pub(super) fn record(&self, value: I::Number, attributes: Vec<KeyValue>) {
        let mut waiting = self.waiting.lock();
        if let Some(instrument) = self.instrument.get() {
            drop(waiting);
            instrument.record(value, &attributes);
        } else if waiting.values.len() < MAX_WAITING {
            waiting.values.push((value, attributes));
        } else {
            waiting.lost += 1;
        }
    }
}

/// What the telemetry thread does for an instrument, whatever its type.
trait Settle: Any + Send + Sync {
    /// Makes the instrument unless it is there, and tells how many values were lost since the last call.
    fn settle(&self, meter: &Meter) -> u64;
}

impl<I: Instrument> Settle for Awaited<I> {
    fn settle(&self, meter: &Meter) -> u64 {
        if self.instrument.get().is_none() {
            // A view of the host's is asked here.
            let made = contain(|| I::create(meter, self.descriptor)).unwrap_or_else(|panic| {
                complain(self.descriptor.name, &panic);
                I::create(&NoopMeterProvider::new().meter(""), self.descriptor)
            });
            let record = |values: Vec<(I::Number, Vec<KeyValue>)>| {
                let recorded = contain(|| {
                    for (value, attributes) in values {
                        made.record(value, &attributes);
                    }
                });
                if let Err(panic) = recorded {
                    complain(self.descriptor.name, &panic);
                }
            };
            // Most of them without the lock, for which callers wait.
            let early = std::mem::take(&mut self.waiting.lock().values);
            record(early);
            let mut waiting = self.waiting.lock();
            record(std::mem::take(&mut waiting.values));
            // Only this thread sets it.
            let _ = self.instrument.set(made.clone());
        }
        std::mem::take(&mut self.waiting.lock().lost)
    }
}

fn complain(metric: &str, panic: &crate::contain::Panic) {
    warn(
        format!("host's instrument {metric}"),
        &format_args!(
            "the metric {metric} is not recorded as it should be: the host's meter provider {panic}"
        ),
    );
}
