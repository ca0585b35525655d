//! The settings of this process as they take effect.
//!
//! One algorithm finds every value: the gym's own variable, else the variable that stands in for it, else the
//! `telemetry:` block, else the default. The block reaches the children of an orchestrator through variables, and
//! the orchestrator itself through [`handover`](crate::handover), so here everything is a variable.

mod batch;
mod limits;
mod lookup;
mod otlp;
mod sampler;
mod signals;
#[cfg(test)]
mod tests;
mod transport;

use std::fmt;
use std::time::Duration;

use gym_telemetry_core::config::{ConfigError, MemoryProfilingConfig};
use gym_telemetry_core::env;
use opentelemetry_sdk::metrics::Temporality;

pub(crate) use batch::Batch;
pub(crate) use limits::LogLimits;
pub(crate) use lookup::{BOOLEAN_WORDS, Beaten, Effective, Found, Lookup, Zero, parse_boolean};
pub(crate) use otlp::resource_attributes as launch_attributes;
pub(crate) use sampler::Sampler;
pub(crate) use signals::{EXPORTERS, ExporterKind, Protocol, Signal, SignalKind};
pub(crate) use transport::{ClientFiles, Compression, TlsFile, TlsFiles};

use crate::environment::{EnvSource, Source};
use crate::recorder::SpanLimits;
use lookup::source_of;

/// Time between two exports of metrics.
const METRIC_EXPORT_INTERVAL: Duration = Duration::from_secs(10);

/// The effective settings of a process that has telemetry on.
#[derive(Clone)]
pub(crate) struct Settings {
    /// Where spans go.
    pub(crate) traces: Signal,
    /// Where metrics go.
    pub(crate) metrics: Signal,
    /// Where log records go.
    pub(crate) logs: Signal,
    /// The spec of the span groups.
    pub(crate) span_groups: String,
    /// Which spans are sampled.
    pub(crate) sampler: Sampler,
    /// The id that all processes of the run share.
    pub(crate) run_id: Option<String>,
    /// The label of whoever started the run.
    pub(crate) user_id: Option<String>,
    /// The base of `service.name`.
    pub(crate) service_name: String,
    /// Whether a server appends its own name to [`service_name`](Self::service_name).
    pub(crate) service_name_per_server: bool,
    /// Attributes of the resource that the launch environment gives.
    pub(crate) launch_attributes: Vec<(String, String)>,
    /// Whether an outbound request has a span of its own.
    pub(crate) instrument_http_client: bool,
    /// Whether trace headers are sent at all.
    pub(crate) propagate: bool,
    /// Further hosts that may receive trace headers, in lower case; `*.suffix` is allowed.
    pub(crate) propagation_hosts: Vec<String>,
    /// Time between two exports of metrics.
    pub(crate) metric_export_interval: Duration,
    /// How long an export of metrics is waited for, zero for ever; `None` if nobody says.
    pub(crate) metric_export_timeout: Option<Duration>,
    /// Whether sums are exported since the start or since the last export.
    pub(crate) temporality: Temporality,
    /// How much a span may hold.
    pub(crate) span_limits: SpanLimits,
    /// How spans are gathered into exports.
    pub(crate) span_batch: Batch,
    /// How much a log record may hold.
    pub(crate) log_limits: LogLimits,
    /// How log records are gathered into exports.
    pub(crate) log_batch: Batch,
    /// How memory is sampled.
    pub(crate) memory_profiling: MemoryProfilingConfig,
    /// Seconds between two readings of a sandbox's resources; 0 for none.
    pub(crate) sandbox_resource_sample_interval_seconds: f64,
    /// Every setting with its value, secrets hidden, and who gave it.
    pub(crate) effective: Vec<Effective>,
    /// What was odd, each a sentence for a person; none holds a secret.
    pub(crate) warnings: Vec<String>,
}

impl Settings {
    /// The settings of this process; `None` when telemetry is off.
    ///
    /// # Errors
    ///
    /// If the block or one of the gym's own variables holds a value that cannot be used.
    pub(crate) fn of_process() -> Result<Option<Self>, ConfigError> {
        crate::handover::with_process_env(Self::resolve)
    }

    /// The settings that `env` amounts to; `None` when telemetry is off, however odd the other variables are.
    ///
    /// # Errors
    ///
    /// If one of the gym's own variables holds a value that cannot be used. Wrong values of standard variables are
    /// [`warnings`](Self::warnings).
    pub(crate) fn resolve(env: &dyn EnvSource) -> Result<Option<Self>, ConfigError> {
        let mut lookup = Lookup::new(env);
        if lookup.sdk_disabled() || !lookup.boolean("enabled", env::ENABLED, false)? {
            return Ok(None);
        }
        let mut settings = Self::read(&mut lookup)?;
        (settings.effective, settings.warnings) = lookup.finish();
        Ok(Some(settings))
    }

    /// All settings but the switch; the caller finishes `lookup`.
    pub(crate) fn read(lookup: &mut Lookup<'_>) -> Result<Self, ConfigError> {
        let traces = lookup.boolean("traces_enabled", env::TRACES_ENABLED, true)?;
        let metrics = lookup.boolean("metrics_enabled", env::METRICS_ENABLED, true)?;
        let logs = lookup.boolean("logs_enabled", env::LOGS_ENABLED, false)?;
        let [traces, metrics, logs] = signals::resolve(lookup, [traces, metrics, logs])?;
        let launch_attributes = otlp::resource_attributes(lookup);
        let (propagate, propagation_hosts) = propagation(lookup);
        let (metric_export_interval, source) = lookup.milliseconds(
            &[env::OTEL_METRIC_EXPORT_INTERVAL],
            METRIC_EXPORT_INTERVAL,
            Zero::Refused,
        );
        lookup.record(
            "metric_export_interval_ms",
            metric_export_interval.as_millis(),
            source,
        );
        let temporality = match metrics.exporter {
            ExporterKind::Otlp => temporality(lookup),
            // Whoever reads lines wants totals, and the format of the lines says that they are.
            _ => Temporality::Cumulative,
        };
        let span_groups = lookup.setting(env::SPAN_GROUPS);
        let mut settings = Self {
            traces,
            metrics,
            logs,
            span_groups: lookup.text("span_groups", span_groups, "default"),
            sampler: sampler::resolve(lookup)?,
            run_id: run_id(lookup),
            user_id: optional(lookup, "user_id", env::USER_ID),
            service_name: service_name(lookup, &launch_attributes),
            service_name_per_server: lookup.boolean(
                "service_name_per_server",
                env::SERVICE_NAME_PER_SERVER,
                true,
            )?,
            launch_attributes,
            instrument_http_client: lookup.boolean(
                "instrument_aiohttp",
                env::INSTRUMENT_AIOHTTP,
                true,
            )?,
            propagate,
            propagation_hosts,
            metric_export_interval,
            metric_export_timeout: batch::export_timeout(
                lookup,
                "metrics.export_timeout_ms".to_owned(),
                env::OTEL_METRIC_EXPORT_TIMEOUT,
            ),
            temporality,
            span_limits: limits::spans(lookup),
            span_batch: batch::spans(lookup),
            log_limits: limits::logs(lookup),
            log_batch: batch::logs(lookup),
            memory_profiling: memory_profiling(lookup, MemoryProfilingConfig::default())?,
            sandbox_resource_sample_interval_seconds: lookup.number(
                "sandbox_resource_sample_interval_seconds",
                env::SANDBOX_RESOURCE_SAMPLE_INTERVAL_SECONDS,
                10.0,
                "a finite number of seconds, 0 or more",
                |seconds| seconds >= 0.0,
            )?,
            effective: Vec::new(),
            warnings: Vec::new(),
        };
        settings.effective = lookup.effective().to_vec();
        Ok(settings)
    }
}

impl fmt::Debug for Settings {
    /// Shows each setting with its source, secrets hidden.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for Effective {
            name,
            value,
            source,
        } in &self.effective
        {
            map.entry(name, &format_args!("{value:?} from {source}"));
        }
        map.entry(&"warnings", &self.warnings).finish()
    }
}

/// How memory is sampled, where nobody says otherwise as `defaults` says.
pub(crate) fn memory_profiling(
    lookup: &mut Lookup<'_>,
    defaults: MemoryProfilingConfig,
) -> Result<MemoryProfilingConfig, ConfigError> {
    let mut config = defaults;
    config.enabled = lookup.boolean(
        "memory_profiling.enabled",
        env::MEMORY_PROFILING_ENABLED,
        defaults.enabled,
    )?;
    config.interval_seconds = lookup.number(
        "memory_profiling.interval_seconds",
        env::MEMORY_PROFILING_INTERVAL_SECONDS,
        defaults.interval_seconds,
        "a finite number above 0 as interval_seconds",
        |seconds| seconds > 0.0,
    )?;
    Ok(config)
}

/// The shared id; a Slurm job that nobody gave another one is a run.
fn run_id(lookup: &mut Lookup<'_>) -> Option<String> {
    let found = lookup.first(env::RUN_ID.names().chain([env::SLURM_JOB_ID]))?;
    Some(lookup.text("run_id", Some(found), ""))
}

fn optional(lookup: &mut Lookup<'_>, name: &'static str, setting: env::Setting) -> Option<String> {
    let found = lookup.setting(setting)?;
    Some(lookup.text(name, Some(found), ""))
}

/// The base name: the standard variable, else `service.name` among the launch attributes.
fn service_name(lookup: &mut Lookup<'_>, launch: &[(String, String)]) -> String {
    let found = lookup.variable(env::OTEL_SERVICE_NAME);
    let from_launch = launch.iter().find(|(key, value)| {
        key == gym_telemetry_core::attribute::SERVICE_NAME && !value.trim().is_empty()
    });
    match (&found, from_launch) {
        (None, Some((_, name))) => {
            lookup.record(
                "service_name",
                name,
                Source::Variable(env::OTEL_RESOURCE_ATTRIBUTES),
            );
            name.clone()
        }
        _ => lookup.text("service_name", found, "nemo-gym"),
    }
}

/// The words for each way to export sums.
const TEMPORALITIES: [(&str, Temporality); 3] = [
    ("cumulative", Temporality::Cumulative),
    ("delta", Temporality::Delta),
    ("lowmemory", Temporality::LowMemory),
];

/// Whether sums are exported since the start or since the last export.
fn temporality(lookup: &mut Lookup<'_>) -> Temporality {
    let found = lookup.variable(env::OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE);
    let wanted = found.as_ref().map_or("cumulative", |found| &found.text);
    let known = TEMPORALITIES
        .iter()
        .find(|(word, _)| wanted.eq_ignore_ascii_case(word));
    let (word, temporality, source) = match (known, found) {
        (Some((word, temporality)), found) => (*word, *temporality, source_of(found)),
        (None, found) => {
            if let Some(found) = found {
                let accepted = "cumulative, delta or lowmemory";
                lookup.ignore(&found, accepted, "cumulative is used");
            }
            ("cumulative", Temporality::Cumulative, Source::Default)
        }
    };
    lookup.record("metrics.temporality", word, source);
    temporality
}

/// Whether trace headers are sent, and to whom beyond the run's own hosts.
fn propagation(lookup: &mut Lookup<'_>) -> (bool, Vec<String>) {
    let found = lookup.variable(env::OTEL_PROPAGATORS);
    let mut propagate = true;
    for name in found
        .iter()
        .flat_map(|found| found.text.split(','))
        .map(str::trim)
    {
        match name.to_ascii_lowercase().as_str() {
            "" | "tracecontext" | "baggage" => {}
            "none" => propagate = false,
            _ => {
                let shown: String = name.chars().take(60).collect();
                lookup.warn(format!(
                    "{} names the propagator {shown:?}, which is not available; trace context and baggage are used",
                    env::OTEL_PROPAGATORS
                ));
            }
        }
    }
    lookup.record("propagate", propagate, source_of(found));
    let found = lookup.setting(env::PROPAGATION_HOSTS);
    let hosts: Vec<_> = found
        .iter()
        .flat_map(|found| found.text.split(','))
        .map(|host| host.trim().to_ascii_lowercase())
        .filter(|host| !host.is_empty())
        .collect();
    lookup.record("propagation_hosts", hosts.join(","), source_of(found));
    (propagate, hosts)
}
