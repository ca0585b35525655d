//! What was measured per workload and stack, and the tables made of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::table::Table;
use crate::command::target_directory;
use crate::failure::{Failure, Result};

/// A workload.
struct Workload {
    /// How benchmarks call it.
    name: &'static str,
    /// How tables do.
    title: &'static str,
    /// How many spans one run of it makes.
    spans: f64,
}

/// In the order of the tables.
const WORKLOADS: [Workload; 4] = [
    Workload {
        name: "a sequential",
        title: "(a) sequential",
        spans: 101.0,
    },
    Workload {
        name: "b asynchronous",
        title: "(b) asynchronous",
        spans: 101.0,
    },
    Workload {
        name: "c two threads",
        title: "(c) two threads",
        spans: 101.0,
    },
    Workload {
        name: "d empty",
        title: "(d) empty",
        spans: 1.0,
    },
];

/// The run without telemetry, measured in both builds.
const BARE: &str = "uninstrumented";
const COMPILED_OUT: &str = "compiled out";
const GROUP_OFF: &str = "group off";
const UNSAMPLED: &str = "unsampled";
const GROUP_ON: &str = "group on";
const PEERS: [&str; 3] = [
    "opentelemetry_sdk",
    "tracing-opentelemetry",
    "fastrace-opentelemetry",
];

/// Cost per span by workload and stack.
#[derive(Clone, Debug, Default)]
pub(super) struct Results(BTreeMap<(String, String), f64>);

impl Results {
    /// Keeps the cost of one run of a workload; of what is no workload, nothing.
    pub(super) fn insert(&mut self, workload: &str, stack: &str, per_run: f64) {
        let known = WORKLOADS.iter().find(|known| known.name == workload);
        if let Some(known) = known {
            let key = (workload.to_owned(), stack.to_owned());
            self.0.insert(key, per_run / known.spans);
        }
    }

    fn get(&self, workload: &str, stack: &str) -> Option<f64> {
        self.0
            .get(&(workload.to_owned(), stack.to_owned()))
            .copied()
    }

    /// What telemetry added.
    fn over_bare(&self, workload: &str, stack: &str) -> Option<f64> {
        Some(self.get(workload, stack)? - self.get(workload, BARE)?)
    }
}

/// Reads the medians that criterion left in the target directory.
pub(super) fn of_criterion() -> Result<Results> {
    let mut results = Results::default();
    for workload in WORKLOADS {
        let directory = target_directory().join("criterion").join(workload.name);
        let failed = |error| Failure::io("could not list", &directory, &error);
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let estimates = path.join("new/estimates.json");
            if let (Some(stack), true) = (path.file_name(), estimates.is_file()) {
                results.insert(workload.name, &stack.to_string_lossy(), median(&estimates)?);
            }
        }
    }
    Ok(results)
}

fn median(estimates: &Path) -> Result<f64> {
    let text = fs::read_to_string(estimates)
        .map_err(|error| Failure::io("could not read", estimates, &error))?;
    number_after(&text, &["\"median\":", "\"point_estimate\":"])
        .ok_or_else(|| Failure::new(format!("{} has no median", estimates.display())))
}

/// The number behind the last of several keys that follow each other.
fn number_after(text: &str, keys: &[&str]) -> Option<f64> {
    let mut rest = text;
    for key in keys {
        rest = rest.split_once(key)?.1;
    }
    let end = rest.find(|c: char| !matches!(c, '0'..='9' | '.' | '-' | '+' | 'e' | 'E' | ' '))?;
    rest[..end].trim().parse().ok()
}

fn head() -> Table {
    Table::new(
        [""].into_iter()
            .chain(WORKLOADS.map(|workload| workload.title)),
    )
}

/// Costs per span, a row per stack. The first is what the workload costs by itself, the others what they add to it.
pub(super) fn costs(compiled_out: &Results, compiled_in: &Results) -> Table {
    let mut table = head();
    let mut row = |title: &str, value: &dyn Fn(&str) -> Option<f64>| {
        let cells = WORKLOADS.map(|workload| number(value(workload.name), 1));
        table.row([title.to_owned()].into_iter().chain(cells));
    };
    row(BARE, &|workload| compiled_out.get(workload, BARE));
    row("compiled out adds", &|workload| {
        compiled_out.over_bare(workload, COMPILED_OUT)
    });
    for stack in [GROUP_OFF, UNSAMPLED, GROUP_ON].into_iter().chain(PEERS) {
        row(&format!("{stack} adds"), &|workload| {
            compiled_in.over_bare(workload, stack)
        });
    }
    table
}

/// Ratios, of times and, where they were counted, of instructions.
pub(super) fn ratios(times: (&Results, &Results), counts: Option<(&Results, &Results)>) -> Table {
    let mut table = head();
    for ratio in all_ratios() {
        let cells = WORKLOADS.map(|workload| {
            let of = |(out, on): (&Results, &Results)| ratio.of(workload.name, out, on);
            match (of(times), counts.and_then(of)) {
                (Some(time), Some(count)) => format!("{time:.3} ({count:.3})"),
                (Some(time), None) => format!("{time:.3}"),
                (None, _) => String::from("-"),
            }
        });
        table.row([ratio.title].into_iter().chain(cells));
    }
    table
}

/// What is compared.
struct Ratio {
    title: String,
    of: Terms,
}

enum Terms {
    /// Whole runs, of the compiled-out build.
    CompiledOut,
    /// What two stacks add to the uninstrumented run of the compiled-in build.
    Added(&'static str, &'static str),
}

impl Ratio {
    fn of(&self, workload: &str, out: &Results, on: &Results) -> Option<f64> {
        let (one, other) = match self.of {
            Terms::CompiledOut => (out.get(workload, COMPILED_OUT)?, out.get(workload, BARE)?),
            Terms::Added(one, other) => {
                (on.over_bare(workload, one)?, on.over_bare(workload, other)?)
            }
        };
        // Nothing added to nothing is no ratio.
        (other > 0.0).then(|| one / other)
    }
}

fn all_ratios() -> Vec<Ratio> {
    let added = |one, other| Ratio {
        title: format!("{one} : {other}"),
        of: Terms::Added(one, other),
    };
    let mut ratios = vec![
        Ratio {
            title: format!("{COMPILED_OUT} : {BARE}"),
            of: Terms::CompiledOut,
        },
        added(GROUP_OFF, GROUP_ON),
        added(UNSAMPLED, GROUP_ON),
    ];
    ratios.extend(PEERS.map(|peer| added(GROUP_ON, peer)));
    ratios.extend(PEERS.map(|peer| added(GROUP_OFF, peer)));
    ratios
}

fn number(value: Option<f64>, digits: usize) -> String {
    // A difference of zero that rounding made negative is zero.
    let positive = |value: f64| if value.abs() < 0.05 { 0.0 } else { value };
    value.map_or_else(
        || String::from("-"),
        |value| format!("{:.digits$}", positive(value)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_found_among_other_estimates() {
        let text = r#"{"mean":{"point_estimate":1.5,"x":2},"median":{"confidence_interval":{"lower_bound":1},"point_estimate":248.25,"standard_error":2}}"#;
        assert_eq!(
            number_after(text, &["\"median\":", "\"point_estimate\":"]),
            Some(248.25)
        );
        assert_eq!(number_after(text, &["\"slope\":"]), None);
    }

    fn cell(table: &Table, title: &str) -> String {
        let text = table.to_string();
        let mut cells = text
            .lines()
            .map(|line| line.split('|').map(str::trim))
            .find_map(|mut cells| (cells.nth(1) == Some(title)).then_some(cells))
            .expect("there is such a row");
        cells.next().expect("there is such a cell").to_owned()
    }

    #[test]
    fn ratios_are_of_what_telemetry_adds() {
        let mut out = Results::default();
        out.insert("a sequential", BARE, 101.0);
        out.insert("a sequential", COMPILED_OUT, 101.0);
        let mut on = Results::default();
        on.insert("a sequential", BARE, 101.0);
        on.insert("a sequential", GROUP_OFF, 202.0);
        on.insert("a sequential", GROUP_ON, 1_111.0);
        on.insert("a sequential", PEERS[0], 10_201.0);
        on.insert("no workload", PEERS[0], 1.0);
        let table = ratios((&out, &on), None);
        assert_eq!(cell(&table, "compiled out : uninstrumented"), "1.000");
        assert_eq!(cell(&table, "group off : group on"), "0.100");
        assert_eq!(cell(&table, "group on : opentelemetry_sdk"), "0.100");
        assert_eq!(cell(&table, "group on : tracing-opentelemetry"), "-");
        let both = ratios((&out, &on), Some((&out, &on)));
        assert_eq!(cell(&both, "group off : group on"), "0.100 (0.100)");
        let costs = costs(&out, &on);
        assert_eq!(cell(&costs, "uninstrumented"), "1.0");
        assert_eq!(cell(&costs, "group on adds"), "10.0");
    }
}
