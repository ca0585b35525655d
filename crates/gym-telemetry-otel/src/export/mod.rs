//! Exporters: what becomes of batches on the telemetry thread.

mod connect;
mod console;
mod endpoint;
mod log;
mod otlp;
mod readable;
mod report;
mod span;
mod tls;
#[cfg(test)]
pub(crate) mod wire_tests;

pub(crate) use self::console::Console;
pub(crate) use self::log::LogPipe;
pub(crate) use self::otlp::Otlp;
pub(crate) use self::readable::ReadableMetrics;
pub(crate) use self::report::{BuildError, Cause, ExportReport};
pub(crate) use self::span::SpanPipe;
pub(crate) use self::tls::check as check_tls;
