//! The telemetry thread's side of a meter provider that the host program has set up for itself.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use gym_telemetry_core::scope;
use opentelemetry::metrics::{Meter, MeterProvider};
use opentelemetry_sdk::metrics::SdkMeterProvider;
use tokio::time::{Instant, sleep_until};

use super::gym::observe_success_rate;
use super::observe::{self, Observation};
use super::pipe::uninstall;
use super::provider::Provider;
use crate::contain::contain;
use crate::thread::{Delivery, Job, MetricSink};

/// The time between two looks at what is new, unless somebody asks for one: a callback that brings something new each
/// time it is called must not keep the telemetry thread busy.
const PAUSE: Duration = Duration::from_millis(10);

/// A meter provider of the host's.
#[derive(Clone)]
pub(crate) struct HostMeters {
    provider: Arc<dyn MeterProvider + Send + Sync>,
    /// Whether its instruments can be bound to attributes: those of other providers than the SDK's may lose what a bound
    /// one records.
    binds: bool,
}

impl HostMeters {
    pub(crate) fn new(provider: impl MeterProvider + Send + Sync + 'static) -> Self {
        Self {
            binds: (&provider as &dyn Any).is::<SdkMeterProvider>(),
            provider: Arc::new(provider),
        }
    }
}

impl fmt::Debug for HostMeters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostMeters").finish_non_exhaustive()
    }
}

/// Turns all instruments on, to report to the host's meter provider. Nothing of the host's is called yet.
pub(crate) fn install_host(meters: &HostMeters) {
    Provider::install_host(meters.binds);
}

/// Makes the instruments of the host's provider, which does all the rest. All of them are off once it is dropped.
pub(crate) struct HostMetricSink {
    provider: Arc<Provider>,
    meter: Meter,
    /// When it last looked for what is new.
    looked: Cell<Instant>,
    _success_rate: Observation,
}

impl HostMetricSink {
    /// Takes the meter from the host's provider.
    ///
    /// # Errors
    ///
    /// If that panics; all instruments are off then.
    pub(crate) fn build(meters: &HostMeters) -> Result<Self, String> {
        let meter = contain(|| meters.provider.meter(scope::LENS)).map_err(|panic| {
            uninstall();
            format!("the host's meter provider {panic}")
        })?;
        let provider = Provider::install_host(meters.binds);
        if let Some(host) = provider.host() {
            // There may be something to do already.
            host.stir();
        }
        Ok(Self {
            provider,
            meter,
            looked: Cell::new(Instant::now()),
            _success_rate: observe_success_rate(),
        })
    }

    /// Has the host's provider take what is new.
    fn settle(&self) -> Delivery {
        let Some(host) = self.provider.host() else {
            return Delivery::default();
        };
        let failed = host.settle(&self.meter);
        host.register(&self.meter, &observe::read_all());
        self.looked.set(Instant::now());
        Delivery {
            exported: 0,
            failed,
            trouble: (failed > 0)
                .then(|| "more values than can wait for the host's meter provider".to_owned()),
        }
    }
}

impl MetricSink for HostMetricSink {
    /// Nothing is exported from here: the points are those of the host's readers.
    fn collect_and_export(&self) -> Job<'_, Delivery> {
        Box::pin(async { self.settle() })
    }

    fn stirred(&self) -> Job<'_, ()> {
        Box::pin(async {
            sleep_until(self.looked.get() + PAUSE).await;
            match self.provider.host() {
                Some(host) => host.stirred().await,
                None => std::future::pending().await,
            }
        })
    }

    fn shut_down(&self, _budget: Duration) -> Result<(), String> {
        if let Some(host) = self.provider.host() {
            let reports = observe::read_all();
            host.register(&self.meter, &reports);
            host.close(reports);
            self.provider.uninstall();
            // What was recorded since the last export.
            host.settle(&self.meter);
        }
        Ok(())
    }
}

impl Drop for HostMetricSink {
    fn drop(&mut self) {
        self.provider.uninstall();
    }
}
