//! What a limit costs beside tokio's semaphore, in instructions.

use std::collections::BTreeMap;

use super::table::Table;

/// What a benchmark of a limit is called, and what the table says instead.
const CASES: [(&str, &str); 2] = [
    ("limit_uncontended", "a free slot"),
    ("limit_contended", "64 tasks share 8 slots"),
];
/// How many slots one run takes and gives back.
const ACQUIRES: f64 = 6_400.0;

/// Instructions of one acquire and its release by benchmark and semaphore.
#[derive(Clone, Debug, Default)]
pub(super) struct Limits(BTreeMap<(String, String), f64>);

impl Limits {
    /// Keeps what a whole run took.
    pub(super) fn insert(&mut self, function: &str, semaphore: &str, instructions: f64) {
        let key = (function.to_owned(), semaphore.to_owned());
        self.0.insert(key, instructions / ACQUIRES);
    }

    fn get(&self, function: &str, semaphore: &str) -> Option<f64> {
        self.0
            .get(&(function.to_owned(), semaphore.to_owned()))
            .copied()
    }
}

/// What both semaphores take, in both builds, and the ratio.
pub(super) fn table(compiled_out: &Limits, compiled_in: &Limits) -> Table {
    let mut table = Table::new(["", "tokio", "metered", "metered : tokio"]);
    for (function, title) in CASES {
        for (build, limits) in [("compiled out", compiled_out), ("compiled in", compiled_in)] {
            let (tokio, metered) = (
                limits.get(function, "tokio"),
                limits.get(function, "metered"),
            );
            let shown = |value: Option<f64>, digits: usize| {
                value.map_or_else(|| String::from("-"), |value| format!("{value:.digits$}"))
            };
            let ratio = metered.zip(tokio).map(|(metered, tokio)| metered / tokio);
            table.row([
                format!("{title}, {build}"),
                shown(tokio, 1),
                shown(metered, 1),
                shown(ratio, 3),
            ]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_of_one_build() {
        let mut on = Limits::default();
        on.insert("limit_uncontended", "tokio", 640_000.0);
        on.insert("limit_uncontended", "metered", 320_000.0);
        let text = table(&Limits::default(), &on).to_string();
        let row = text
            .lines()
            .find(|line| line.starts_with("| a free slot, compiled in"));
        let cells: Vec<&str> = row
            .expect("there is such a row")
            .split('|')
            .map(str::trim)
            .collect();
        assert_eq!(cells[2..5], ["100.0", "50.0", "0.500"], "{text}");
        assert!(text.contains("| a free slot, compiled out"), "{text}");
    }
}
