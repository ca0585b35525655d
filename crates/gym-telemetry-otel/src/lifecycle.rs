//! The life of telemetry in a process.

use std::sync::Arc;
use std::time::Duration;

use gym_telemetry_core::{ServerIdentity, ShutdownReceipt, group};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SpanExporter;

use crate::contain::contain;
use crate::export::{LogPipe, SpanPipe};
use crate::handle::{self, TelemetryHandle};
use crate::logs::{self, LogQueue};
use crate::metrics::{self, HostMeters, HostMetricSink, MetricsPipe};
use crate::process::{self, Launch};
use crate::providers::Providers;
use crate::recorder::{Recorder, RecorderSettings, Sampling};
use crate::resource;
use crate::settings::{Settings, Signal};
use crate::thread::{
    HostSpanSink, LogSink, MetricSink, Plan, Schedule, SdkSpanSink, Sinks, SpanSink, Telemetry,
};
use crate::warn::warn;
use crate::{fork, memory, observer, propagation, sandbox};

/// Starts the telemetry of this process, once and for good.
///
/// The settings come from the environment and from what
/// [`configure_telemetry_env`](crate::configure_telemetry_env) has handed over. The first call decides, also if it
/// decides for off; later calls return what it decided, and threads that call at the same time get one handle.
///
/// Returns `None` if telemetry is off or cannot be started: a setting that cannot be used, or a refused thread, is
/// warned about on standard error. It never panics, and waits neither for the network nor for the facts about the
/// machine that the resource tells: exporters are built on the telemetry thread. One that cannot be built is warned
/// about there, and what is recorded for it is counted as dropped.
///
/// Log records are exported once something listens to them: [`install_log_bridge`](crate::install_log_bridge), or a
/// [`log_layer`](crate::log_layer) in a subscriber of the program's own. It sets neither a subscriber nor a logger itself,
/// so that a variable in the environment cannot take their places from a program that sets its own later.
///
/// Called inside a tokio runtime while metrics are exported, it has that runtime observed; for another one there is
/// [`observe_runtime`](crate::observe_runtime).
#[must_use = "the last seconds of telemetry are lost without a shutdown"]
pub fn init_telemetry(identity: ServerIdentity) -> Option<TelemetryHandle> {
    init(identity, Destination::Settings)
}

/// Like [`init_telemetry`], with spans going to an exporter of the caller's own.
///
/// Settings decide as always whether spans are recorded, which, and how many go into a batch. Where they would go by
/// the settings counts no more, unless it is nowhere. Metrics and log records are not concerned.
///
/// `make` is called on the telemetry thread, and again in each forked child that exports; the exporter is told the
/// resource before its first batch. It is polled inside a current-thread tokio runtime, one batch at a time, and given
/// up after the timeout of the settings. Whatever it does, panicking included, costs no more than the batch, which is
/// counted as failed.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use gym_telemetry_core::ServerIdentity;
/// use gym_telemetry_otel::init_telemetry_with_exporter;
/// use opentelemetry_sdk::error::OTelSdkResult;
/// use opentelemetry_sdk::trace::{SpanData, SpanExporter};
///
/// #[derive(Clone, Debug, Default)]
/// struct Count(Arc<AtomicUsize>);
///
/// impl SpanExporter for Count {
///     async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
///         self.0.fetch_add(batch.len(), Ordering::Relaxed);
///         Ok(())
///     }
/// }
///
/// let count = Count::default();
/// let identity = ServerIdentity::builder().server_name("policy_model").build();
/// let telemetry = init_telemetry_with_exporter(identity, move || count.clone());
/// assert!(telemetry.is_none(), "off unless the environment or a configuration switches it on");
/// ```
#[must_use = "the last seconds of telemetry are lost without a shutdown"]
pub fn init_telemetry_with_exporter<E: SpanExporter + 'static>(
    identity: ServerIdentity,
    make: impl Fn() -> E + Send + Sync + 'static,
) -> Option<TelemetryHandle> {
    let make: MakeSink = Arc::new(move |resource| {
        let mut exporter = make();
        exporter.set_resource(resource);
        Box::new(SdkSpanSink(exporter))
    });
    init(identity, Destination::Exporter(make))
}

/// Like [`init_telemetry`], with spans, metrics or both going through [`Providers`] of the host program's own.
///
/// Settings decide as always whether and which spans are recorded, and whether metrics are. Where they would go by the
/// settings counts no more, unless it is nowhere; log records go there as ever. Neither the service name nor any other attribute of a provider's
/// resource is changed, and no provider is flushed or shut down from here.
///
/// ```
/// use gym_telemetry_core::ServerIdentity;
/// use gym_telemetry_otel::{Providers, init_telemetry_with_providers};
/// use opentelemetry_sdk::metrics::SdkMeterProvider;
/// use opentelemetry_sdk::trace::SdkTracerProvider;
///
/// let tracers = SdkTracerProvider::builder().build();
/// let meters = SdkMeterProvider::builder().build();
/// let providers = Providers::new().tracer(tracers.clone()).meter(meters.clone());
/// let identity = ServerIdentity::builder().server_name("policy_model").build();
/// let telemetry = init_telemetry_with_providers(identity, providers);
/// assert!(telemetry.is_none(), "off unless the environment or a configuration switches it on");
/// # let _ = (tracers.shutdown(), meters.shutdown());
/// ```
#[must_use = "the last seconds of telemetry are lost without a shutdown"]
pub fn init_telemetry_with_providers(
    identity: ServerIdentity,
    providers: Providers,
) -> Option<TelemetryHandle> {
    init(identity, Destination::Host(providers))
}

/// Where spans and metrics go.
#[derive(Clone)]
enum Destination {
    /// Where the settings say.
    Settings,
    /// Spans go to an exporter of the host's.
    Exporter(MakeSink),
    /// Through the host's providers, as far as there are any.
    Host(Providers),
}

/// Makes the destination of spans, given the resource.
type MakeSink = Arc<dyn Fn(&Resource) -> Box<dyn SpanSink> + Send + Sync>;

fn init(identity: ServerIdentity, destination: Destination) -> Option<TelemetryHandle> {
    process::settle(|| {
        contain(|| decide(identity, destination)).unwrap_or_else(|panic| {
            warn(
                "init",
                &format_args!("telemetry stays off: reading its settings {panic}"),
            );
            None
        })
    });
    TelemetryHandle::of_process()
}

/// The telemetry of this process, if it was started and is on.
#[must_use]
pub fn get_telemetry() -> Option<TelemetryHandle> {
    TelemetryHandle::of_process()
}

/// Exports what was recorded, ends telemetry for good and tells what became of everything.
///
/// Spans that are still open are exported as truncated. All signals share `budget`; whatever the collector does, the
/// call returns within it. It blocks the thread and may be called from anywhere, also inside a runtime, where
/// [`shutdown_telemetry_async`] is better.
///
/// A second call changes nothing and returns the same receipt. If telemetry is off, the receipt says that nothing
/// was configured.
pub fn shutdown_telemetry(budget: Duration) -> ShutdownReceipt {
    handle::shutdown(budget)
}

/// Like [`shutdown_telemetry`], without blocking the thread. It works on any runtime.
///
/// # Cancel safety
///
/// Dropping the future does not stop the shutdown; a later call returns its receipt.
pub async fn shutdown_telemetry_async(budget: Duration) -> ShutdownReceipt {
    handle::shutdown_async(budget).await
}

/// Reads the settings; `None` leaves telemetry off.
fn decide(identity: ServerIdentity, destination: Destination) -> Option<Launch> {
    let settings = match Settings::of_process() {
        Ok(settings) => settings?,
        Err(error) => {
            warn("settings", &format_args!("telemetry stays off: {error}"));
            return None;
        }
    };
    for warning in &settings.warnings {
        warn(warning.clone(), warning);
    }
    let signals = [&settings.traces, &settings.metrics, &settings.logs];
    if !signals.into_iter().any(Signal::is_on) {
        return None;
    }
    propagation::settle(&settings);
    sandbox::settle(&settings);
    memory::settle(&settings);
    if settings.traces.is_on() {
        group::set_report_hook(|text| warn(text.to_owned(), &text));
        if let Some(text) = group::apply_spec(&settings.span_groups) {
            warn(text.clone(), &text);
        }
    } else {
        group::pin(&[]);
    }
    let settings = Arc::new(settings);
    let identity = Arc::new(identity);
    Some(Arc::new(move || {
        // A forked child comes here when it first logs something.
        logs::silently(|| launch(&settings, &identity, &destination))
    }))
}

/// Starts what the settings ask for, in this process or in a forked child of it.
fn launch(
    settings: &Arc<Settings>,
    identity: &Arc<ServerIdentity>,
    destination: &Destination,
) -> Option<Telemetry> {
    fork::watch();
    let (host, meters) = match destination {
        Destination::Host(providers) => (
            providers.spans.as_ref().map(|make| make()),
            providers.meters.clone(),
        ),
        _ => (None, None),
    };
    let make = match (destination, &host) {
        (Destination::Exporter(make), _) => Some(Arc::clone(make)),
        (_, Some(host)) => {
            let host = Arc::clone(host);
            let make: MakeSink = Arc::new(move |_| Box::new(HostSpanSink(Arc::clone(&host))));
            Some(make)
        }
        _ => None,
    };
    let spans = settings.traces.is_on().then(|| {
        let batch = settings.span_batch;
        let recorder = Recorder::new(RecorderSettings {
            max_spans: batch.queue,
            batch_size: batch.size,
            limits: settings.span_limits,
            sampling: host.map_or_else(|| settings.sampler.into(), Sampling::Host),
        });
        let schedule = Schedule {
            delay: batch.delay,
            ..Schedule::for_exporter(settings.traces.timeout, batch.export_timeout)
        };
        (recorder, schedule)
    });
    let metrics = settings.metrics.is_on().then(|| {
        // From now on, so that nothing recorded while the exporter is being built is lost.
        match &meters {
            Some(meters) => metrics::install_host(meters),
            None => metrics::install(settings.temporality),
        }
        Schedule {
            delay: settings.metric_export_interval,
            ..Schedule::for_exporter(settings.metrics.timeout, settings.metric_export_timeout)
        }
    });
    let logs = settings.logs.is_on().then(|| {
        let batch = settings.log_batch;
        let schedule = Schedule {
            delay: batch.delay,
            ..Schedule::for_exporter(settings.logs.timeout, batch.export_timeout)
        };
        (
            Arc::new(LogQueue::new(batch, settings.log_limits)),
            schedule,
        )
    });
    let (settings, identity) = (Arc::clone(settings), Arc::clone(identity));
    let arrivals = settings.metrics.is_on().then(observer::open);
    let build = Box::new(move || {
        let sinks = build(&settings, &identity, make, meters);
        if let Some(arrivals) = arrivals.filter(|_| sinks.metrics.is_ok()) {
            observer::start(arrivals);
        }
        sinks
    });
    match Telemetry::start(Plan {
        spans,
        metrics,
        logs,
        build,
    }) {
        Ok(telemetry) => Some(telemetry),
        Err(error) => {
            warn(
                "thread",
                &format_args!("telemetry stays off: no telemetry thread: {error}"),
            );
            group::pin(&[]);
            metrics::uninstall();
            None
        }
    }
}

/// Builds the exporters, on the telemetry thread.
fn build(
    settings: &Settings,
    identity: &ServerIdentity,
    make: Option<MakeSink>,
    meters: Option<HostMeters>,
) -> Sinks {
    let resource = resource::detect(settings, identity);
    let off = || "no exporter is configured".to_owned();
    let spans = match make.filter(|_| settings.traces.is_on()) {
        // What it does when it is made must not take the metrics along.
        Some(make) => contain(|| make(&resource)).map_err(|panic| format!("the exporter {panic}")),
        None => match SpanPipe::build(settings, &resource) {
            Ok(pipe) => pipe
                .map(|pipe| Box::new(pipe) as Box<dyn SpanSink>)
                .ok_or_else(off),
            Err(error) => Err(error.to_string()),
        },
    };
    if spans.is_err() {
        // Nobody will ever see a span, so call sites need not make any.
        group::pin(&[]);
    }
    let metrics = match meters.filter(|_| settings.metrics.is_on()) {
        Some(meters) => {
            HostMetricSink::build(&meters).map(|sink| Box::new(sink) as Box<dyn MetricSink>)
        }
        None => match MetricsPipe::build(settings, &resource) {
            Ok(pipe) => pipe
                .map(|pipe| Box::new(pipe) as Box<dyn MetricSink>)
                .ok_or_else(off),
            Err(error) => Err(error.to_string()),
        },
    };
    let logs = match LogPipe::build(settings, &resource) {
        Ok(pipe) => pipe
            .map(|pipe| Box::new(pipe) as Box<dyn LogSink>)
            .ok_or_else(off),
        Err(error) => Err(error.to_string()),
    };
    Sinks {
        spans,
        metrics,
        logs,
    }
}
