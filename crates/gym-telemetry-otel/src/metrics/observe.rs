//! Metrics that are read when they are collected.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gym_telemetry_core::Value;
use gym_telemetry_core::metric::{MetricDescriptor, MetricKind};
use opentelemetry::KeyValue;
use opentelemetry::metrics::{AsyncInstrument, Meter};
use parking_lot::Mutex;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use super::{attributes, provider};
use crate::contain::{Panic, contain};
use crate::warn::warn;

type Callback = dyn Fn(&mut Observer<'_>) + Send + Sync;

/// How long an export waits for a callback, which should take microseconds.
const LONGEST_CALL: Duration = Duration::from_secs(1);

static CALLBACKS: Mutex<BTreeMap<u64, Arc<Registered>>> = Mutex::new(BTreeMap::new());
static LAST_ID: AtomicU64 = AtomicU64::new(0);
static PANICS: AtomicU64 = AtomicU64::new(0);
static GIVEN_UP: AtomicU64 = AtomicU64::new(0);

/// Registers a callback that reports the present values of one or more metrics whenever metrics are collected.
///
/// It may be registered before metrics are exported and is never called while they are not. Its series are reported
/// as long as it reports them and the returned [`Observation`] lives. Report from counters or snapshots that are kept
/// anyway: callbacks run one after the other on a thread of telemetry's own, and on the thread of a reader of the host's
/// own [meter provider](crate::Providers::meter) as well. No lock of ours is held around a call. A panic loses what this
/// callback had to report in this collection and nothing else. One that takes longer than a second is left out, and
/// not called again until it has returned; only a reader of the host's own waits for it. Both are warned about.
///
/// Where several callbacks report one metric with equal attributes, the last registered one counts.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicI64, Ordering};
///
/// use gym_telemetry_core::metric;
/// use gym_telemetry_otel::observe;
///
/// let servers = Arc::new(AtomicI64::new(3));
/// let observation = observe({
///     let servers = Arc::clone(&servers);
///     move |observer| observer.report(&metric::SERVERS_ACTIVE, servers.load(Ordering::Relaxed), &[])
/// });
/// drop(observation);
/// assert_eq!(Arc::strong_count(&servers), 1);
/// ```
pub fn observe(callback: impl Fn(&mut Observer<'_>) + Send + Sync + 'static) -> Observation {
    let id = LAST_ID.fetch_add(1, Ordering::Relaxed) + 1;
    let registered = Registered {
        id,
        callback: Box::new(callback),
        late: Mutex::new(None),
    };
    CALLBACKS.lock().insert(id, Arc::new(registered));
    provider::stir();
    Observation { id }
}

/// A callback of somebody's.
struct Registered {
    id: u64,
    callback: Box<Callback>,
    /// Who is still waiting for it to return, after an export has given it up.
    late: Mutex<Option<JoinHandle<()>>>,
}

impl Registered {
    /// Whether it was given up and has not returned since.
    fn is_late(&self) -> bool {
        let late = self.late.lock();
        late.as_ref().is_some_and(|waiting| !waiting.is_finished())
    }

    /// What it has to report; nothing if it panics.
    fn call(&self) -> Vec<Report> {
        let mut reports = Vec::new();
        let called = contain(|| (self.callback)(&mut Observer::new(&mut reports)));
        if let Err(panic) = called {
            reports.clear();
            self.complain(&panic);
        }
        reports
    }

    /// Gives up a reference, with which its owner's data may go.
    fn release(self: Arc<Self>) {
        let id = self.id;
        if let Err(panic) = contain(|| drop(self)) {
            complain(id, &panic);
        }
    }

    fn complain(&self, panic: &Panic) {
        complain(self.id, panic);
    }

    fn give_up(&self, waiting: JoinHandle<()>) {
        *self.late.lock() = Some(waiting);
        GIVEN_UP.fetch_add(1, Ordering::Relaxed);
        warn(
            format!("late metric callback {}", self.id),
            &format_args!(
                "a callback that reports metrics takes longer than {LONGEST_CALL:?}; its values are left out until it has returned"
            ),
        );
    }
}

fn complain(id: u64, panic: &Panic) {
    PANICS.fetch_add(1, Ordering::Relaxed);
    // Each callback is a cause of its own, counted as such.
    warn(
        format!("metric callback {id}"),
        &format_args!("a callback that reports metrics {panic}; its values are left out"),
    );
}

/// Keeps a callback of [`observe`] registered; its series end when this is dropped.
///
/// A call that is under way at that moment goes on to its end.
#[derive(Debug)]
#[must_use = "the metrics end when this is dropped"]
pub struct Observation {
    id: u64,
}

impl Drop for Observation {
    fn drop(&mut self) {
        // What the callback owns is dropped after the lock is released: it may drop other observations.
        let callback = CALLBACKS.lock().remove(&self.id);
        drop(callback);
    }
}

/// Takes the values of a callback.
pub struct Observer<'a> {
    reports: &'a mut Vec<Report>,
}

impl<'a> Observer<'a> {
    pub(super) fn new(reports: &'a mut Vec<Report>) -> Self {
        Self { reports }
    }

    /// Reports the present value of the series of `descriptor` with these attributes.
    ///
    /// Attributes whose keys the descriptor does not name are left out. The numbers of one metric should all be
    /// integers or all be floating-point numbers.
    pub fn report(
        &mut self,
        descriptor: &'static MetricDescriptor,
        value: impl Into<Number>,
        attributes: &[(&'static str, Value<'_>)],
    ) {
        self.reports.push(Report {
            descriptor,
            value: value.into(),
            attributes: attributes::declared(descriptor, attributes),
        });
    }
}

impl fmt::Debug for Observer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer")
            .field("reports", &self.reports.len())
            .finish()
    }
}

/// A whole or a floating-point number.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Number {
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        Self::Integer(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Number {
    fn from(value: usize) -> Self {
        Self::Integer(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl Number {
    fn integer(self) -> i64 {
        match self {
            Self::Integer(value) => value,
            #[expect(
                clippy::cast_possible_truncation,
                reason = "`as` saturates, which is the nearest integer there is"
            )]
            Self::Float(value) => value as i64,
        }
    }

    fn float(self) -> f64 {
        match self {
            #[expect(
                clippy::cast_precision_loss,
                reason = "the nearest floating-point number is meant"
            )]
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

/// One value that a callback reported.
#[derive(Clone)]
pub(super) struct Report {
    pub(super) descriptor: &'static MetricDescriptor,
    value: Number,
    attributes: Vec<KeyValue>,
}

/// How often a callback panicked.
pub(super) fn panics() -> u64 {
    PANICS.load(Ordering::Relaxed)
}

/// How often a callback was given up.
pub(super) fn given_up() -> u64 {
    GIVEN_UP.load(Ordering::Relaxed)
}

/// Calls every callback on this thread and returns what they report.
pub(super) fn read_all() -> Vec<Report> {
    let mut reports = Vec::new();
    for registered in callbacks() {
        if !registered.is_late() {
            reports.extend(registered.call());
        }
        registered.release();
    }
    reports
}

/// Calls every callback on another thread and returns what they report. One that does not return in time is left out
/// and left behind. Inside a tokio runtime only.
pub(super) async fn read_all_in_time() -> Vec<Report> {
    let mut reports = Vec::new();
    let mut waiting = callbacks();
    while !waiting.is_empty() {
        let (answers, mut answered) = unbounded_channel();
        let batch = std::mem::take(&mut waiting);
        let thread = spawn_blocking({
            let batch = batch.clone();
            move || call_all(batch, &answers)
        });
        let mut called = batch.into_iter();
        loop {
            match timeout(LONGEST_CALL, answered.recv()).await {
                Ok(Some(answer)) => {
                    reports.extend(answer);
                    called.next().into_iter().for_each(Registered::release);
                }
                Ok(None) => break,
                Err(_elapsed) => {
                    // The others must not wait for it. If nothing is called yet, that is the machine's doing; the
                    // callback is asked again next time all the same.
                    if let Some(late) = called.next() {
                        late.give_up(thread);
                        late.release();
                    }
                    waiting.extend(called);
                    break;
                }
            }
        }
    }
    reports
}

/// Answers with what each callback reports, in order, as long as somebody is interested.
fn call_all(callbacks: Vec<Arc<Registered>>, answers: &UnboundedSender<Vec<Report>>) {
    let mut is_wanted = true;
    for registered in callbacks {
        if is_wanted {
            let reports = if registered.is_late() {
                Vec::new()
            } else {
                registered.call()
            };
            is_wanted = answers.send(reports).is_ok();
        }
        registered.release();
    }
}

/// The callbacks in the order of their registration. They may register and drop observations: none may run under the
/// lock.
fn callbacks() -> Vec<Arc<Registered>> {
    CALLBACKS.lock().values().cloned().collect()
}

/// Makes the instrument for the metric of `first`, which also decides about the type of its numbers. `read` is asked for
/// the values in each collection.
///
/// The callback stays with the provider of `meter`, whatever becomes of the instrument.
pub(super) fn register(
    meter: &Meter,
    first: &Report,
    read: impl Fn() -> Vec<Report> + Send + Sync + 'static,
) {
    macro_rules! register {
        ($instrument:ident, $number:expr) => {{
            meter
                .$instrument(first.descriptor.name)
                .with_unit(first.descriptor.unit)
                .with_description(first.descriptor.description)
                .with_callback(move |instrument| tell(read(), instrument, $number))
                .build();
        }};
    }
    match (first.descriptor.kind, first.value) {
        (MetricKind::Counter | MetricKind::ObservableCounter, Number::Integer(_)) => {
            register!(u64_observable_counter, |number: Number| u64::try_from(
                number.integer()
            )
            .unwrap_or(0));
        }
        (MetricKind::Counter | MetricKind::ObservableCounter, Number::Float(_)) => {
            register!(f64_observable_counter, Number::float);
        }
        (MetricKind::UpDownCounter | MetricKind::ObservableUpDownCounter, Number::Integer(_)) => {
            register!(i64_observable_up_down_counter, Number::integer);
        }
        (MetricKind::UpDownCounter | MetricKind::ObservableUpDownCounter, Number::Float(_)) => {
            register!(f64_observable_up_down_counter, Number::float);
        }
        (_, Number::Integer(_)) => register!(i64_observable_gauge, Number::integer),
        (_, Number::Float(_)) => register!(f64_observable_gauge, Number::float),
    }
}

fn tell<T>(
    reports: Vec<Report>,
    instrument: &dyn AsyncInstrument<T>,
    number: impl Fn(Number) -> T,
) {
    for report in reports {
        instrument.observe(number(report.value), &report.attributes);
    }
}
