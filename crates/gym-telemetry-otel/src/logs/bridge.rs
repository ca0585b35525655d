//! From `tracing` and `log` to the queue, through the appenders of OpenTelemetry.

use gym_telemetry_core::receipt::DropReason;
use log::{Log, Metadata as LogMetadata, Record as LogRecord};
use opentelemetry::logs::Severity;
use opentelemetry_appender_log::OpenTelemetryLogBridge;
use opentelemetry_appender_tracing::layer::OpenTelemetryTracingBridge;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Dispatch, Event, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, Filter};
use tracing_subscriber::registry::LookupSpan;

use super::echo::{Said, Source, hash};
use super::install;
use super::logger::{GymLogger, GymLoggers, queue};
use super::place::Place;
use super::quiet::is_wanted;
use super::record::is_forwarded;
use crate::contain::contain;
use crate::warn::warn;

/// Makes a layer that exports the events of `tracing` as log records, those up to `max_level`.
///
/// It is for programs that have a subscriber of their own; for others there is
/// [`install_log_bridge`](crate::install_log_bridge). The layer may be made before telemetry starts:
/// it exports nothing until then, nothing if `logs_enabled` is not set, and what comes after the shutdown is dropped. Each
/// record has the ids of the [`Span`](crate::Span) that is current where it is made. Spans of `tracing` are not looked
/// at. Other layers see what they always saw.
///
/// Records about the export itself are left out whatever the level, and so is what crates such as `hyper`, `h2` and
/// `rustls` say below `INFO`. A value that panics while it is written down costs its record, and goes no further.
///
/// # Panics
///
/// When it is added to a subscriber that is built on something other than the
/// [`Registry`](tracing_subscriber::Registry) and does not know filters per layer.
///
/// ```
/// use gym_telemetry_otel::log_layer;
/// use tracing::level_filters::LevelFilter;
/// use tracing_subscriber::Registry;
/// use tracing_subscriber::layer::SubscriberExt;
///
/// let subscriber = Registry::default().with(log_layer(LevelFilter::INFO));
/// tracing::subscriber::set_global_default(subscriber)?;
/// # Ok::<(), tracing::subscriber::SetGlobalDefaultError>(())
/// ```
#[must_use = "a layer does nothing until it is part of a subscriber"]
pub fn log_layer<S>(max_level: LevelFilter) -> impl Layer<S> + Send + Sync + 'static
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    layer(max_level)
}

/// As [`log_layer`], for a subscriber of ours.
pub(super) fn layer<S>(max_level: LevelFilter) -> impl Layer<S> + Send + Sync + 'static
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    EventLayer(OpenTelemetryTracingBridge::new(&GymLoggers)).with_filter(Wanted(max_level))
}

struct EventLayer(OpenTelemetryTracingBridge<GymLoggers, GymLogger>);

impl<S: Subscriber + for<'span> LookupSpan<'span>> Layer<S> for EventLayer {
    fn on_register_dispatch(&self, _subscriber: &Dispatch) {
        install::layer_is_in_use();
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        let said = if is_forwarded(metadata.name(), metadata.target()) {
            let mut origin = Origin::default();
            event.record(&mut origin);
            Said::at(Source::Log, origin.file, origin.line)
        } else {
            Said::new(Source::Tracing, metadata.file(), metadata.line())
        };
        let place = Place::new(metadata.file(), metadata.line());
        export(said, place, || self.0.on_event(event, context));
    }
}

/// Where a record of `log` was made that was passed on to `tracing`.
#[derive(Default)]
struct Origin {
    file: Option<u64>,
    line: Option<u32>,
}

impl Visit for Origin {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "log.file" {
            self.file = Some(hash(value));
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "log.line" {
            self.line = u32::try_from(value).ok();
        }
    }

    fn record_debug(&mut self, _field: &Field, _value: &dyn std::fmt::Debug) {}
}

/// Chooses events by what is the same each time, so that others cost nothing.
struct Wanted(LevelFilter);

impl Wanted {
    fn wants(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event()
            && *metadata.level() <= self.0
            && is_wanted(severity(*metadata.level()), metadata.target())
    }
}

impl<S> Filter<S> for Wanted {
    fn enabled(&self, metadata: &Metadata<'_>, _context: &Context<'_, S>) -> bool {
        self.wants(metadata)
    }

    fn callsite_enabled(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.wants(metadata) {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.0)
    }
}

fn severity(level: Level) -> Severity {
    match level {
        Level::TRACE => Severity::Trace,
        Level::DEBUG => Severity::Debug,
        Level::INFO => Severity::Info,
        Level::WARN => Severity::Warn,
        Level::ERROR => Severity::Error,
    }
}

/// A logger that exports the records of `log`, from `INFO` up.
pub(super) struct Logger(OpenTelemetryLogBridge<GymLoggers, GymLogger>);

impl Logger {
    pub(super) fn new() -> Self {
        Self(OpenTelemetryLogBridge::new(&GymLoggers))
    }
}

impl Log for Logger {
    fn enabled(&self, metadata: &LogMetadata<'_>) -> bool {
        metadata.level() <= log::Level::Info
            && is_wanted(Severity::Info, metadata.target())
            && queue().is_some()
    }

    fn log(&self, record: &LogRecord<'_>) {
        if self.enabled(record.metadata()) {
            let said = Said::new(Source::Log, record.file(), record.line());
            let place = Place::new(record.file_static(), record.line());
            export(said, place, || self.0.log(record));
        }
    }

    fn flush(&self) {}
}

/// Makes and exports a record, unless it repeats another or nobody would take it.
fn export(said: Option<Said>, place: Option<Place>, make: impl FnOnce()) {
    let Some(queue) = queue() else { return };
    let is_echo = Said::repeats_the_last(said);
    if is_echo {
        return;
    }
    if let Some(said) = said {
        said.remember();
    }
    if !queue.admits() {
        return;
    }
    // The values of a record are written down by code of the program's.
    if contain(|| Place::during(place, make)).is_err() {
        queue.counts.drop_for(DropReason::Panicked, 1);
        warn(
            "log value",
            &"a log record is lost: one of its values panicked",
        );
    }
}
