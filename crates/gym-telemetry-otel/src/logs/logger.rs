//! The end of OpenTelemetry's logs API that the appenders write to.

use opentelemetry::InstrumentationScope;
use opentelemetry::logs::{Logger, LoggerProvider, Severity};

use super::queue::LogQueue;
use super::quiet;
use super::record::Record;
use crate::process;

/// Makes loggers for the appenders.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GymLoggers;

/// Puts records into the queue of the process, whenever that comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GymLogger;

/// The queue of this process, if logs are exported and this thread has a say.
pub(super) fn queue() -> Option<&'static LogQueue> {
    if quiet::is_thread_quiet() {
        return None;
    }
    process::telemetry()?.log_queue()
}

impl LoggerProvider for GymLoggers {
    type Logger = GymLogger;

    fn logger_with_scope(&self, _scope: InstrumentationScope) -> GymLogger {
        // The scope of a record is its target.
        GymLogger
    }
}

impl Logger for GymLogger {
    type LogRecord = Record;

    fn create_log_record(&self) -> Record {
        Record::new(queue().map(LogQueue::limits).unwrap_or_default())
    }

    fn emit(&self, record: Record) {
        if let Some(queue) = queue() {
            queue.push(record);
        }
    }

    fn event_enabled(&self, severity: Severity, target: &str, _name: Option<&str>) -> bool {
        quiet::is_wanted(severity, target)
    }
}
