//! Sends one test item to each endpoint.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use gym_telemetry_core::config::{ProbeOutcome, ProbeReport};
use gym_telemetry_core::{ServerIdentity, mask, metric, scope, span};
use opentelemetry::InstrumentationScope;
use opentelemetry::logs::{LogRecord as _, Severity};
use opentelemetry::trace::{
    SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};

use crate::contain::contain;
use crate::export::{ExportReport, LogPipe, SpanPipe};
use crate::logs::Record;
use crate::metrics::{IntegerGauge, MetricsPipe};
use crate::random;
use crate::resource;
use crate::settings::{ExporterKind, LogLimits, Settings, Signal, SignalKind};

/// How long an endpoint may take to answer, retries included.
const PATIENCE: Duration = Duration::from_secs(5);

/// No server runs where settings are only tried, so zero is the truth.
static SERVERS: IntegerGauge = IntegerGauge::new(&metric::SERVERS_ACTIVE);

/// Sends one test span, one test point and one test log record to the endpoints of this process's settings, and returns what came back.
///
/// The items arrive with the service name of the process, as a `gym.job` span
/// without a duration, a `gym.servers.active` of zero and a record with the message `telemetry probe`. A signal that is
/// off or written to standard output is left alone. It blocks the thread for up to 5 seconds per signal; call it
/// where telemetry was not started. Empty if telemetry is off.
#[must_use]
pub fn probe_telemetry() -> Vec<ProbeReport> {
    let Ok(Some(settings)) = Settings::of_process() else {
        return Vec::new();
    };
    // On a thread of its own: the caller's may belong to a runtime, which must not be entered twice.
    let probing = std::thread::Builder::new()
        .name("gym-telemetry-probe".to_owned())
        .spawn(move || contain(|| probe(settings)).unwrap_or_default());
    probing
        .ok()
        .and_then(|thread| thread.join().ok())
        .unwrap_or_default()
}

fn probe(mut settings: Settings) -> Vec<ProbeReport> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let Ok(runtime) = runtime else {
        return Vec::new();
    };
    for signal in [
        &mut settings.traces,
        &mut settings.metrics,
        &mut settings.logs,
    ] {
        signal.timeout = match signal.timeout {
            Duration::ZERO => PATIENCE,
            timeout => timeout.min(PATIENCE),
        };
    }
    let resource = resource::detect(&settings, &ServerIdentity::builder().build());
    runtime.block_on(async {
        vec![
            report(SignalKind::Traces, &settings.traces, async {
                let pipe =
                    SpanPipe::build(&settings, &resource).map_err(|error| error.to_string())?;
                match pipe {
                    Some(pipe) => Ok(Some(pipe.export(vec![test_span()]).await)),
                    None => Ok(None),
                }
            })
            .await,
            report(
                SignalKind::Metrics,
                &settings.metrics,
                test_point(&settings, &resource),
            )
            .await,
            report(SignalKind::Logs, &settings.logs, async {
                let pipe =
                    LogPipe::build(&settings, &resource).map_err(|error| error.to_string())?;
                match pipe {
                    Some(pipe) => Ok(Some(pipe.export(vec![test_record()]).await)),
                    None => Ok(None),
                }
            })
            .await,
        ]
    })
}

async fn report(
    kind: SignalKind,
    signal: &Signal,
    sending: impl Future<Output = Result<Option<ExportReport>, String>>,
) -> ProbeReport {
    let name = kind.name();
    let not_sent = |why: &str| ProbeReport::new(name, "", ProbeOutcome::NotSent(why.to_owned()));
    if !signal.is_on() {
        return not_sent("the signal is off");
    }
    if signal.exporter != ExporterKind::Otlp {
        return not_sent("the signal is written to standard output");
    }
    let outcome = match sending.await {
        Ok(Some(report)) => outcome(&report),
        Ok(None) => return not_sent("the signal is off"),
        Err(error) => ProbeOutcome::Failed(error),
    };
    ProbeReport::new(name, mask::endpoint(&signal.endpoint), outcome)
}

fn outcome(report: &ExportReport) -> ProbeOutcome {
    let cause = report.cause.map(|cause| cause.to_string());
    if report.exported > 0 && report.failed == 0 {
        ProbeOutcome::Accepted(cause)
    } else {
        ProbeOutcome::Failed(cause.unwrap_or_else(|| "nothing was sent".to_owned()))
    }
}

async fn test_point(
    settings: &Settings,
    resource: &Resource,
) -> Result<Option<ExportReport>, String> {
    let pipe = MetricsPipe::build(settings, resource).map_err(|error| error.to_string())?;
    let Some(pipe) = pipe else { return Ok(None) };
    SERVERS.record(0);
    Ok(Some(pipe.collect_and_export().await))
}

fn test_record() -> Record {
    let mut record = Record::new(LogLimits::default());
    record.set_target(scope::LENS);
    record.set_severity_number(Severity::Info);
    record.set_severity_text("INFO");
    record.set_body("telemetry probe".into());
    record
}

fn test_span() -> SpanData {
    let now = SystemTime::now();
    SpanData {
        span_context: SpanContext::new(
            // Neither may be zero.
            TraceId::from(u128::from(random::word()) << 64 | u128::from(random::word() | 1)),
            SpanId::from(random::word() | 1),
            TraceFlags::SAMPLED,
            false,
            TraceState::NONE,
        ),
        parent_span_id: SpanId::INVALID,
        parent_span_is_remote: false,
        span_kind: SpanKind::Internal,
        name: Cow::Borrowed(span::JOB),
        start_time: now,
        end_time: now,
        attributes: Vec::new(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: Status::Unset,
        instrumentation_scope: InstrumentationScope::builder(scope::LENS).build(),
    }
}
