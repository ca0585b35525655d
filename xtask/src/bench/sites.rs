//! What a single place costs whose group is off, and whether that is within its limit.

use std::collections::BTreeMap;

use super::table::Table;
use crate::failure::{Failure, Result};

/// How often a benchmark passes its place.
const PASSES: f64 = 1_000.0;

/// What stands around the loop of a benchmark may take a few instructions more with telemetry: a span that is made before
/// it, a register that is saved. Spread over the passes it is this much at most.
const AROUND: f64 = 0.1;

/// A place that asks the flag of its group, once.
const SYNCHRONOUS: f64 = 4.0;
/// A future that is polled twice and dropped.
const ASYNCHRONOUS: f64 = 40.0;

/// Instructions of the twins by place.
#[derive(Clone, Debug, Default)]
pub(super) struct Sites(BTreeMap<String, [Option<f64>; 2]>);

/// One of the two functions of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Twin {
    Plain,
    Instrumented,
}

impl Sites {
    /// Keeps what all passes of one function took.
    pub(super) fn insert(&mut self, site: &str, twin: Twin, instructions: f64) {
        let twins = self.0.entry(site.to_owned()).or_default();
        twins[twin as usize] = Some(instructions);
    }

    /// What telemetry adds to one pass.
    fn added(&self, site: &str) -> Option<f64> {
        let [plain, instrumented] = self.0.get(site)?;
        Some(((*instrumented)? - (*plain)?) / PASSES)
    }
}

fn limit(site: &str) -> f64 {
    if site.ends_with("async") {
        ASYNCHRONOUS
    } else {
        SYNCHRONOUS
    }
}

/// Instructions that a place adds, in both builds.
pub(super) fn table(compiled_out: &Sites, compiled_in: &Sites) -> Table {
    let mut table = Table::new(["place", "compiled out", "group off", "limit"]);
    for site in compiled_in.0.keys() {
        let shown = |sites: &Sites| {
            sites
                .added(site)
                .map_or_else(|| String::from("-"), |added| format!("{added:.1}"))
        };
        table.row([
            site.replace('_', " "),
            shown(compiled_out),
            shown(compiled_in),
            format!("{:.0}", limit(site)),
        ]);
    }
    table
}

/// Fails if a place costs more than it may: compiled out nothing, with its group off little.
pub(super) fn judge(compiled_out: &Sites, compiled_in: &Sites) -> Result<()> {
    let mut faults = Vec::new();
    for site in compiled_in.0.keys() {
        for (build, sites, limit) in [
            ("compiled out", compiled_out, 0.0),
            ("group off", compiled_in, limit(site)),
        ] {
            match sites.added(site) {
                Some(added) if added <= limit + AROUND => {}
                Some(added) => faults.push(format!("{site}, {build}: {added:.1} instructions")),
                None => faults.push(format!("{site}, {build}: not counted")),
            }
        }
    }
    if compiled_in.0.is_empty() {
        faults.push(String::from("no place was counted"));
    }
    if faults.is_empty() {
        println!("every place is within its limit");
        return Ok(());
    }
    Err(Failure::new(format!(
        "over the limit: {}",
        faults.join("; ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sites(site: &str, plain: f64, instrumented: f64) -> Sites {
        let mut sites = Sites::default();
        sites.insert(site, Twin::Plain, plain);
        sites.insert(site, Twin::Instrumented, instrumented);
        sites
    }

    #[test]
    fn a_place_within_its_limit_passes() {
        let out = sites("enter", 9_000.0, 9_020.0);
        let on = sites("enter", 9_000.0, 13_020.0);
        judge(&out, &on).expect("four instructions are allowed");
        assert!(
            table(&out, &on)
                .to_string()
                .contains("| enter |          0.0 |       4.0 |     4 |")
        );
    }

    #[test]
    fn a_place_over_its_limit_is_named() {
        let out = sites("enter", 9_000.0, 9_000.0);
        let failure =
            judge(&out, &sites("enter", 9_000.0, 14_000.0)).expect_err("five are too many");
        assert!(
            failure
                .to_string()
                .contains("enter, group off: 5.0 instructions"),
            "{failure}"
        );
        let failure = judge(&sites("enter", 9_000.0, 10_000.0), &out).expect_err("one is too many");
        assert!(
            failure.to_string().contains("enter, compiled out: 1.0"),
            "{failure}"
        );
        judge(
            &sites("in_span_async", 0.0, 0.0),
            &sites("in_span_async", 0.0, 40_000.0),
        )
        .expect("a future may cost more");
    }

    #[test]
    fn nothing_counted_is_a_fault() {
        assert!(judge(&Sites::default(), &Sites::default()).is_err());
        let mut half = Sites::default();
        half.insert("enter", Twin::Plain, 1.0);
        assert!(judge(&half, &half).is_err());
    }
}
