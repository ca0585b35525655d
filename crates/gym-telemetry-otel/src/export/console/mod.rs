//! The console exporter: one JSON object per line on standard output.
//!
//! The lines are those of the console exporters of the Python SDK. See `json` for how values are written.

mod json;
mod log;
mod metric;
mod resource;
mod span;
mod stdout;
#[cfg(test)]
mod tests;
mod time;

use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::trace::SpanData;

use self::resource::ResourceText;
pub(super) use self::stdout::is_closed as is_stdout_closed;
pub(super) use self::time::unix_nanos;
use super::report::ExportReport;
use crate::logs::Record;

/// Writes lines for one resource.
pub(crate) struct Console {
    resource: ResourceText,
}

impl Console {
    pub(crate) fn new(resource: &Resource) -> Self {
        Self {
            resource: ResourceText::new(resource),
        }
    }

    /// Writes one line per span.
    pub(crate) fn spans(&self, spans: &[SpanData]) -> ExportReport {
        write_lines(spans.iter().map(|span| span::line(span, &self.resource)))
    }

    /// Writes one line per log record.
    pub(crate) fn logs(&self, records: &[Record]) -> ExportReport {
        write_lines(
            records
                .iter()
                .map(|record| log::line(record, &self.resource)),
        )
    }

    /// Writes one line for all of `metrics`, which has `points` points.
    pub(crate) fn metrics(&self, metrics: &ResourceMetrics, points: u64) -> ExportReport {
        match stdout::write_line(metric::line(metrics, &self.resource)) {
            Ok(()) => ExportReport::delivered(points),
            Err(cause) => ExportReport::lost(points, cause),
        }
    }
}

fn write_lines(lines: impl Iterator<Item = String>) -> ExportReport {
    let mut report = ExportReport::default();
    for line in lines {
        match stdout::write_line(line) {
            Ok(()) => report.exported += 1,
            Err(cause) => {
                report.failed += 1;
                report.cause = Some(cause);
            }
        }
    }
    report
}
