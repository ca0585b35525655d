//! Typed handles of instruments.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use gym_telemetry_core::{MetricDescriptor, Value};
use opentelemetry::KeyValue;
use opentelemetry::metrics::{
    BoundCounter, BoundGauge, BoundHistogram, BoundUpDownCounter, Counter as OtelCounter,
    Gauge as OtelGauge, Histogram as OtelHistogram, Meter, UpDownCounter as OtelUpDownCounter,
};
use parking_lot::RwLock;

use super::attributes;
use super::provider;

/// Defines a handle: its name, what it records, the SDK's two instruments and how one is made and used.
macro_rules! handle {
    (
        $(#[$about:meta])*
        $name:ident, $record:ident($number:ty), $record_with:ident, $otel:ident, $bound:ident, $create:expr
    ) => {
        $(#[$about])*
        ///
        /// A handle may be made at any time, in a `static` too: it does nothing while metrics are not exported and
        /// works as soon as they are. Recording with the handle's own attributes takes no lock of ours.
        #[derive(Debug)]
        pub struct $name(Handle<$otel<$number>>);

        impl $name {
            /// Makes a handle without attributes of its own.
            #[must_use]
            pub const fn new(descriptor: &'static MetricDescriptor) -> Self {
                Self(Handle::new(descriptor, Vec::new()))
            }

            /// Makes a handle for the series with these attributes.
            ///
            /// Attributes whose keys the descriptor does not name are left out with a warning.
            #[must_use]
            pub fn with_attributes(
                descriptor: &'static MetricDescriptor,
                attributes: &[(&'static str, Value<'_>)],
            ) -> Self {
                Self(Handle::new(descriptor, attributes::declared(descriptor, attributes)))
            }

            /// Records a value with the handle's attributes.
            pub fn $record(&self, value: $number) {
                self.0.record(value);
            }

            /// Records a value with the handle's attributes and more, which are looked up in a map of the series.
            ///
            /// Attributes whose keys the descriptor does not name are left out with a warning.
            pub fn $record_with(&self, value: $number, attributes: &[(&'static str, Value<'_>)]) {
                self.0.record_with(value, attributes);
            }
        }

        impl Instrument for $otel<$number> {
            type Number = $number;
            type Bound = $bound<$number>;

            fn create(meter: &Meter, descriptor: &'static MetricDescriptor) -> Self {
                $create(meter, descriptor)
            }

            fn record(&self, value: $number, attributes: &[KeyValue]) {
                self.$record(value, attributes);
            }

            fn bind(&self, attributes: &[KeyValue]) -> Self::Bound {
                self.bind(attributes)
            }

            fn record_bound(bound: &Self::Bound, value: $number) {
                bound.$record(value);
            }
        }
    };
}

handle! {
    /// A sum that only grows.
    Counter, add(u64), add_with, OtelCounter, BoundCounter, |meter: &Meter, descriptor: &'static MetricDescriptor| {
        meter.u64_counter(descriptor.name).with_unit(descriptor.unit).with_description(descriptor.description).build()
    }
}

handle! {
    /// A sum that grows and shrinks.
    UpDownCounter, add(i64), add_with, OtelUpDownCounter, BoundUpDownCounter,
    |meter: &Meter, descriptor: &'static MetricDescriptor| {
        meter
            .i64_up_down_counter(descriptor.name)
            .with_unit(descriptor.unit)
            .with_description(descriptor.description)
            .build()
    }
}

handle! {
    /// The latest of values that are floating-point numbers.
    Gauge, record(f64), record_with, OtelGauge, BoundGauge, |meter: &Meter, descriptor: &'static MetricDescriptor| {
        meter.f64_gauge(descriptor.name).with_unit(descriptor.unit).with_description(descriptor.description).build()
    }
}

handle! {
    /// The latest of values that are whole numbers.
    IntegerGauge, record(i64), record_with, OtelGauge, BoundGauge,
    |meter: &Meter, descriptor: &'static MetricDescriptor| {
        meter.i64_gauge(descriptor.name).with_unit(descriptor.unit).with_description(descriptor.description).build()
    }
}

handle! {
    /// A distribution, with the bucket bounds of its descriptor.
    Histogram, record(f64), record_with, OtelHistogram, BoundHistogram,
    |meter: &Meter, descriptor: &'static MetricDescriptor| {
        meter
            .f64_histogram(descriptor.name)
            .with_unit(descriptor.unit)
            .with_description(descriptor.description)
            .with_boundaries(descriptor.bounds.to_vec())
            .build()
    }
}

impl Histogram {
    /// Records a duration in the descriptor's unit, seconds or milliseconds.
    pub fn record_duration(&self, duration: Duration) {
        self.record(self.in_unit(duration));
    }

    /// As [`Histogram::record_duration`], with more attributes.
    pub fn record_duration_with(
        &self,
        duration: Duration,
        attributes: &[(&'static str, Value<'_>)],
    ) {
        self.record_with(self.in_unit(duration), attributes);
    }

    fn in_unit(&self, duration: Duration) -> f64 {
        let seconds = duration.as_secs_f64();
        if self.0.descriptor.unit == "s" {
            seconds
        } else {
            seconds * 1_000.0
        }
    }
}

/// An instrument of the SDK.
pub(super) trait Instrument: Clone + Send + Sync + 'static {
    type Number: Number;
    type Bound;

    fn create(meter: &Meter, descriptor: &'static MetricDescriptor) -> Self;
    fn record(&self, value: Self::Number, attributes: &[KeyValue]);
    fn bind(&self, attributes: &[KeyValue]) -> Self::Bound;
    fn record_bound(bound: &Self::Bound, value: Self::Number);
}

pub(super) trait Number: Copy + Send + 'static {
    /// Whether the SDK takes it: not a number and infinities are ignored.
    fn counts(self) -> bool;
}

impl Number for u64 {
    fn counts(self) -> bool {
        true
    }
}

impl Number for i64 {
    fn counts(self) -> bool {
        true
    }
}

impl Number for f64 {
    fn counts(self) -> bool {
        self.is_finite()
    }
}

struct Handle<I: Instrument> {
    descriptor: &'static MetricDescriptor,
    attributes: Vec<KeyValue>,
    /// For the first provider that the handle met; nearly always there is no other.
    first: OnceLock<Binding<I>>,
    later: RwLock<Option<Binding<I>>>,
}

/// What a handle is for one provider.
struct Binding<I: Instrument> {
    generation: u64,
    instrument: I,
    /// Whether the instrument can be bound to attributes.
    binds: bool,
    /// The series of the handle's own attributes, once it has a value: without one it would be exported as zero.
    series: OnceLock<I::Bound>,
}

impl<I: Instrument> Handle<I> {
    const fn new(descriptor: &'static MetricDescriptor, attributes: Vec<KeyValue>) -> Self {
        Self {
            descriptor,
            attributes,
            first: OnceLock::new(),
            later: RwLock::new(None),
        }
    }

    fn record(&self, value: I::Number) {
        let record = |binding: &Binding<I>| match binding.series.get() {
            Some(series) => I::record_bound(series, value),
            None => binding.record_first(value, &self.attributes),
        };
        self.with_binding(record, || (value, self.attributes.clone()));
    }

    fn record_with(&self, value: I::Number, attributes: &[(&'static str, Value<'_>)]) {
        let all = || {
            let mut all = attributes::declared(self.descriptor, attributes);
            all.extend_from_slice(&self.attributes);
            all
        };
        let record = |binding: &Binding<I>| binding.instrument.record(value, &all());
        self.with_binding(record, || (value, all()));
    }

    /// Calls `record` with the binding for the installed provider, if there is a provider; while that has no
    /// instrument yet, `measured` is kept for it.
    fn with_binding(
        &self,
        record: impl FnOnce(&Binding<I>),
        measured: impl FnOnce() -> (I::Number, Vec<KeyValue>),
    ) {
        let generation = provider::generation();
        if generation == 0 {
            return;
        }
        match self.first.get() {
            Some(binding) if binding.generation == generation => record(binding),
            _ => self.with_new_binding(record, measured),
        }
    }

    #[cold]
    fn with_new_binding(
        &self,
        record: impl FnOnce(&Binding<I>),
        measured: impl FnOnce() -> (I::Number, Vec<KeyValue>),
    ) {
        let Some(provider) = provider::installed() else {
            return;
        };
        let is_current = |binding: &&Binding<I>| binding.generation == provider.generation;
        if let Some(binding) = self.first.get().filter(is_current) {
            return record(binding);
        }
        if let Some(binding) = self.later.read().as_ref().filter(is_current) {
            return record(binding);
        }
        let instrument = match provider.instrument::<I>(self.descriptor) {
            Ok(instrument) => instrument,
            Err(awaited) => {
                let (value, attributes) = measured();
                return awaited.record(value, attributes);
            }
        };
        let binding = Binding {
            generation: provider.generation,
            instrument,
            binds: provider.binds(),
            series: OnceLock::new(),
        };
        // Refused if there was another provider before, or if another thread was faster.
        let refused = self.first.set(binding).err();
        if let Some(binding) = self.first.get().filter(is_current) {
            return record(binding);
        }
        let mut later = self.later.write();
        if later.as_ref().is_none_or(|binding| !is_current(&binding)) {
            *later = refused;
        }
        if let Some(binding) = &*later {
            record(binding);
        }
    }
}

impl<I: Instrument> Binding<I> {
    #[cold]
    fn record_first(&self, value: I::Number, attributes: &[KeyValue]) {
        self.instrument.record(value, attributes);
        if self.binds && value.counts() {
            // An error means that another thread was faster; both values are in the one series.
            let _ = self.series.set(self.instrument.bind(attributes));
        }
    }
}

impl<I: Instrument> fmt::Debug for Handle<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("metric", &self.descriptor.name)
            .field("attributes", &self.attributes)
            .finish_non_exhaustive()
    }
}
