//! Telemetry with an exporter of the test's own.

mod capture;

use std::sync::Arc;

use gym_telemetry_core::group;
use opentelemetry_sdk::trace::SpanExporter;
use parking_lot::Mutex;

use crate::handle::TelemetryHandle;
use crate::process;
use crate::recorder::{Recorder, RecorderSettings};
use crate::thread::{Plan, Schedule, SdkSpanSink, Sinks, Telemetry};

pub use capture::{Capture, CapturedSpan};

/// Settles this process on exporting its spans through `exporter`, all span groups on.
///
/// Returns `None` if the process is settled already. Metrics are off.
pub fn install(exporter: impl SpanExporter + 'static) -> Option<TelemetryHandle> {
    let exporter = Mutex::new(Some(exporter));
    let mut is_first = false;
    process::settle(|| {
        is_first = true;
        Some(Arc::new(move || {
            // A forked child finds it gone and stays off.
            let exporter = exporter.lock().take()?;
            start(exporter, RecorderSettings::default(), Schedule::default())
        }))
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
    let plan = Plan {
        spans: Some((Recorder::new(settings), schedule)),
        metrics: None,
        build: Box::new(move || Sinks {
            spans: Ok(Box::new(SdkSpanSink(exporter))),
            metrics: Err("off".to_owned()),
        }),
    };
    Telemetry::start(plan).ok()
}
