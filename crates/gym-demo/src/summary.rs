//! What the user learns at the end of a run, on standard error.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use gym_telemetry_core::attribute;
use serde::Deserialize;
use serde_json::Value;

use crate::fleet::Ending;
use crate::results::RolloutResult;
use crate::say;

/// Longer runs show this many rollouts and leave the rest to the results file.
const MOST_ROLLOUTS: usize = 20;
/// Lines of a server's standard error that are worth repeating.
const MOST_LINES: usize = 20;

/// Spans of one trace, by `service.name`.
type SpansOfTrace = BTreeMap<String, usize>;

/// What there is to tell about a run.
#[derive(Debug)]
pub(crate) struct Summary<'a> {
    pub(crate) results: &'a [RolloutResult],
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
        let spans = read_spans(self.console);
        for result in self.results.iter().take(MOST_ROLLOUTS) {
            say::line(format_args!("  {}", describe(result, &spans)));
        }
        if self.results.len() > MOST_ROLLOUTS {
            say::line(format_args!(
                "  … and {} more",
                self.results.len() - MOST_ROLLOUTS
            ));
        }
        self.next_steps(!spans.is_empty());
    }

    /// Says how to look further, with commands that work.
    fn next_steps(&self, spans_are_here: bool) {
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
    if let Some(services) = spans.get(trace_id) {
        let counts: Vec<_> = services
            .iter()
            .map(|(service, count)| format!("{service} {count}"))
            .collect();
        _ = write!(line, "  spans: {}", counts.join(", "));
    }
    line
}

/// The part of a console line that tells a span from the rest and says where it belongs.
#[derive(Deserialize)]
struct SpanLine {
    context: SpanLineContext,
    resource: SpanLineResource,
}

#[derive(Deserialize)]
struct SpanLineContext {
    trace_id: String,
}

#[derive(Deserialize)]
struct SpanLineResource {
    attributes: HashMap<String, Value>,
}

/// Counts the spans of each trace by service.
fn read_spans(files: &[PathBuf]) -> HashMap<String, SpansOfTrace> {
    let mut spans: HashMap<String, SpansOfTrace> = HashMap::new();
    let files = files.iter().filter_map(|path| File::open(path).ok());
    for line in files.flat_map(|file| BufReader::new(file).lines().map_while(Result::ok)) {
        // Metrics, logs and whatever else a server writes are no spans.
        let Ok(span) = serde_json::from_str::<SpanLine>(&line) else {
            continue;
        };
        let service = span
            .resource
            .attributes
            .get(attribute::SERVICE_NAME)
            .and_then(Value::as_str);
        let trace_id = span.context.trace_id.trim_start_matches("0x").to_owned();
        *spans
            .entry(trace_id)
            .or_default()
            .entry(service.unwrap_or("unknown").to_owned())
            .or_default() += 1;
    }
    spans
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

/// Repeats the last of what a server wrote on standard error: its warnings are for the user too.
pub(crate) fn log(name: &str, log: &Path) {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<_> = text.lines().collect();
    let left_out = lines.len().saturating_sub(MOST_LINES);
    if left_out > 0 {
        say::line(format_args!(
            "{name}: … {left_out} earlier lines in {}",
            log.display()
        ));
    }
    for line in &lines[left_out..] {
        say::line(format_args!("{name}: {line}"));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::read_spans;

    #[test]
    fn spans_are_counted_by_trace_and_service_and_other_lines_are_passed_over() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("a.jsonl");
        let span = |trace: &str, service: &str| {
            format!(
                r#"{{"context":{{"trace_id":"0x{trace}"}},"resource":{{"attributes":{{"service.name":"{service}"}}}}}}"#
            )
        };
        let lines = [
            span("aa", "x"),
            span("aa", "x"),
            span("aa", "y"),
            span("bb", "x"),
            r#"{"resource_metrics":[]}"#.to_owned(),
            "hello".to_owned(),
        ];
        fs::write(&file, lines.join("\n")).expect("a writable file");
        let spans = read_spans(&[file, directory.path().join("none.jsonl")]);
        assert_eq!(spans.len(), 2);
        assert_eq!(spans["aa"]["x"], 2);
        assert_eq!(spans["aa"]["y"], 1);
        assert_eq!(spans["bb"]["x"], 1);
    }
}
