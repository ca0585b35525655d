//! Tests of the recorder, the context and the telemetry thread together, each with a telemetry of its own.

mod building;
mod callbacks;
mod contexts;
mod exporter;
mod futures;
mod health;
mod host_exporter;
mod host_meters;
mod host_provider;
mod lifecycle;
mod logs;
mod overflow;
mod protobuf;
mod quiet;
mod records;
mod shutdown;
mod spans;
mod threads;
mod trees;

use std::time::Duration;

use gym_telemetry_core::ShutdownReceipt;
use gym_telemetry_core::receipt::{Outcome, SignalReceipt};

use crate::options::SpanOptions;
use crate::recorder::{Recorder, RecorderSettings};
use crate::span::Span;
use crate::testing;
use crate::thread::{Schedule, Telemetry};
use exporter::{Behaviour, Memory, PATIENCE};

/// A telemetry that keeps its spans in memory.
struct Rig {
    telemetry: Telemetry,
    recorder: &'static Recorder,
    memory: Memory,
}

impl Rig {
    fn new() -> Self {
        Self::with(RecorderSettings::default())
    }

    /// Spans are exported on request only, unless a batch is full.
    fn with(settings: RecorderSettings) -> Self {
        let schedule = Schedule {
            delay: Duration::from_hours(1),
            ..Schedule::default()
        };
        Self::scheduled(settings, schedule)
    }

    fn scheduled(settings: RecorderSettings, schedule: Schedule) -> Self {
        let memory = Memory::default();
        let telemetry =
            testing::start(memory.clone(), settings, schedule).expect("the thread starts");
        let recorder = telemetry.recorder().expect("spans are recorded");
        Self {
            telemetry,
            recorder,
            memory,
        }
    }

    fn start(&self, name: &'static str) -> Span {
        self.start_with(name, SpanOptions::default())
    }

    fn start_with(&self, name: &'static str, options: SpanOptions<'_>) -> Span {
        Span::start_on(self.recorder, name, options, |_| {})
    }

    fn flush(&self) {
        assert_eq!(self.telemetry.flush(PATIENCE), Outcome::Complete);
    }

    fn shut_down(&self) -> SignalReceipt {
        self.receipt(PATIENCE).traces
    }

    fn shut_down_within(&self, budget: Duration) -> SignalReceipt {
        self.receipt(budget).traces
    }

    fn receipt(&self, budget: Duration) -> ShutdownReceipt {
        self.telemetry.shut_down(budget)
    }

    /// Nothing is lost from view: every span that was to be recorded has an end in the receipt.
    #[track_caller]
    fn assert_accounted(&self, receipt: &SignalReceipt) {
        let told = receipt.exported + receipt.truncated + receipt.failed + receipt.dropped_total();
        assert_eq!(self.recorder.created(), told, "{receipt:?}");
    }
}
