//! What the user learns at the end of a run, on standard error.

mod limits;
mod logs;
mod memory;
mod spans;

// A program without telemetry does not know what the spans of sandboxes are called.
gym_telemetry_api::if_telemetry!(items {
    mod sandboxes;
    use self::sandboxes::Sandboxes;
} else {
    mod no_sandboxes;
    use self::no_sandboxes::Sandboxes;
});

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use gym_telemetry_api::MemoryPeaks;

pub(crate) use self::logs::logs;
use self::spans::SpansOfTrace;
use crate::fleet::Ending;
use crate::limits::LimitReport;
use crate::results::RolloutResult;
use crate::say;

/// Longer runs show this many rollouts and leave the rest to the results file.
const MOST_ROLLOUTS: usize = 20;

/// What there is to tell about a run.
#[derive(Debug)]
pub(crate) struct Summary<'a> {
    pub(crate) results: &'a [RolloutResult],
    /// What the limits saw, with the process that each belongs to.
    pub(crate) limits: &'a [(&'a str, LimitReport)],
    /// The most memory that the servers were seen to hold; `None` if nobody looked.
    pub(crate) memory: Option<&'a MemoryPeaks>,
    pub(crate) out: &'a Path,
    /// Files with console telemetry; others hold none.
    pub(crate) console: &'a [PathBuf],
}

impl Summary<'_> {
    /// Writes it on standard error.
    pub(crate) fn print(&self) {
        let failed = self
            .results
            .iter()
            .filter(|result| result.error.is_some())
            .count();
        say::line(format_args!(
            "\n{} attempts, {failed} failed",
            self.results.len()
        ));
        let shown = &self.results[..self.results.len().min(MOST_ROLLOUTS)];
        let traces = shown
            .iter()
            .filter_map(|result| result.trace_id.as_deref())
            .collect();
        let spans = spans::read(self.console, &traces);
        for result in shown {
            say::line(format_args!("  {}", describe(result, &spans)));
            let of_trace = result.trace_id.as_ref().and_then(|trace| spans.get(trace));
            if let Some(sandboxes) = of_trace.map(|spans| &spans.sandboxes)
                && !sandboxes.is_empty()
            {
                say::line(format_args!("           sandbox: {}", sandboxes.describe()));
            }
        }
        if self.results.len() > MOST_ROLLOUTS {
            say::line(format_args!(
                "  … and {} more",
                self.results.len() - MOST_ROLLOUTS
            ));
        }
        let tables = [limits::table(self.limits), memory::table(self.memory)];
        for line in tables.iter().flatten() {
            say::line(line);
        }
        let logs_are_here = spans.values().any(|of_trace| of_trace.logs > 0);
        self.next_steps(!spans.is_empty(), logs_are_here);
    }

    /// Says how to look further, with commands that work.
    fn next_steps(&self, spans_are_here: bool, logs_are_here: bool) {
        let out = self.out.display();
        say::line(format_args!("\nresults      {out}/results.jsonl"));
        let Some(trace_id) = self
            .results
            .iter()
            .find_map(|result| result.trace_id.as_ref())
        else {
            return;
        };
        if spans_are_here {
            say::line(format_args!(
                "one trace    grep -h {trace_id} {out}/*.jsonl | jq -r 'select(.kind) | [.start_time, \
                 .resource.attributes[\"service.name\"], .kind[9:], .name] | @tsv' | sort"
            ));
            say::line(format_args!(
                "metrics      jq -r '.resource_metrics[]?.scope_metrics[].metrics[].name' {out}/*.jsonl | sort -u"
            ));
            if logs_are_here {
                say::line(format_args!(
                    "log records  jq -r 'select(.severity_number) | [.timestamp, .resource.attributes[\"service.name\"], \
                     .severity_text, .body] | @tsv' {out}/*.jsonl | sort"
                ));
            }
        } else {
            say::line(
                "traces       look up the trace ids in the back end behind your OTLP endpoint",
            );
        }
    }
}

fn describe(result: &RolloutResult, spans: &HashMap<String, SpansOfTrace>) -> String {
    let mut line = format!("{:<8} {:>9.1} ms", result.rollout_id, result.latency_ms);
    match (result.reward, &result.error) {
        (Some(reward), _) => _ = write!(line, "  reward {reward}"),
        (None, Some(error)) => _ = write!(line, "  failed: {error}"),
        (None, None) => {}
    }
    let Some(trace_id) = &result.trace_id else {
        return line;
    };
    _ = write!(line, "  trace {trace_id}");
    if let Some(spans) = spans.get(trace_id) {
        let counts: Vec<_> = spans
            .services
            .iter()
            .map(|(service, count)| format!("{service} {count}"))
            .collect();
        _ = write!(line, "  spans: {}", counts.join(", "));
        if spans.logs > 0 {
            _ = write!(line, "; log records: {}", spans.logs);
        }
    }
    line
}

/// Says how servers ended that did not end well.
pub(crate) fn endings(endings: &[Ending]) {
    for ending in endings.iter().filter(|ending| !ending.is_clean()) {
        let how = match ending.status {
            Some(_) if ending.killed => "did not stop in time and was killed".to_owned(),
            Some(status) => format!("ended with {status}"),
            None => "could not be ended".to_owned(),
        };
        say::note(format_args!("{} {how}", ending.name));
    }
}
