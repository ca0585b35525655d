//! Telemetry with an exporter of the test's own.

mod capture;
mod discard;

use std::sync::Arc;

use gym_telemetry_core::group;
use opentelemetry_sdk::trace::SpanExporter;

use crate::handle::TelemetryHandle;
use crate::process;
use crate::recorder::{Recorder, RecorderSettings};
use crate::thread::{Plan, Schedule, SdkSpanSink, Sinks, SpanSink, Telemetry};

pub use capture::{Capture, CapturedSpan};
pub use discard::Discard;

/// Settles this process on exporting its spans through `exporter`, all span groups on.
///
/// Returns `None` if the process is settled already. Metrics are off. A forked child has a clone of the exporter.
pub fn install(exporter: impl SpanExporter + Clone + 'static) -> Option<TelemetryHandle> {
    settle(move || {
        start(
            exporter.clone(),
            RecorderSettings::default(),
            Schedule::default(),
        )
    })
}

fn settle(
    launch: impl Fn() -> Option<Telemetry> + Send + Sync + 'static,
) -> Option<TelemetryHandle> {
    let mut is_first = false;
    process::settle(|| {
        is_first = true;
        Some(Arc::new(launch))
    });
    if !is_first {
        return None;
    }
    let _ = group::apply_spec("all");
    TelemetryHandle::of_process()
}

pub(crate) fn start(
    exporter: impl SpanExporter + 'static,
    settings: RecorderSettings,
    schedule: Schedule,
) -> Option<Telemetry> {
    start_through(move || Box::new(SdkSpanSink(exporter)), settings, schedule)
}

fn start_through(
    sink: impl FnOnce() -> Box<dyn SpanSink> + Send + 'static,
    settings: RecorderSettings,
    schedule: Schedule,
) -> Option<Telemetry> {
    let plan = Plan {
        spans: Some((Recorder::new(settings), schedule)),
        metrics: None,
        logs: None,
        build: Box::new(move || Sinks {
            spans: Ok(sink()),
            metrics: Err("off".to_owned()),
            logs: Err("off".to_owned()),
        }),
    };
    Telemetry::start(plan).ok()
}
