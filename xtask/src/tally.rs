//! What the test runners said about themselves.

use std::fmt;
use std::ops::AddAssign;

/// Numbers of a test runner's summary line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Tests that passed.
    pub(crate) passed: u64,
    /// Tests that failed.
    pub(crate) failed: u64,
    /// Tests that were not run.
    pub(crate) ignored: u64,
}

impl Tally {
    /// Reads `test result: ok. 3 passed; 0 failed; 1 ignored; …`; any other line is none.
    pub(crate) fn from_line(line: &str) -> Option<Self> {
        let (_, numbers) = line
            .trim()
            .strip_prefix("test result: ")?
            .split_once(". ")?;
        let mut tally = Self::default();
        for part in numbers.split(';') {
            let Some((number, word)) = part.trim().split_once(' ') else {
                continue;
            };
            let field = match word {
                "passed" => &mut tally.passed,
                "failed" => &mut tally.failed,
                "ignored" => &mut tally.ignored,
                _ => continue,
            };
            *field = number.parse().ok()?;
        }
        Some(tally)
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            passed,
            failed,
            ignored,
        } = self;
        write!(
            formatter,
            "{passed} passed; {failed} failed; {ignored} ignored"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_line_is_read() {
        let line = "test result: FAILED. 12 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.31s";
        let tally = Tally {
            passed: 12,
            failed: 2,
            ignored: 1,
        };
        assert_eq!(Tally::from_line(line), Some(tally));
    }

    #[test]
    fn other_lines_are_not_summaries() {
        assert_eq!(Tally::from_line("test tests::summary ... ok"), None);
        assert_eq!(Tally::from_line("running 3 tests"), None);
        assert_eq!(Tally::from_line(""), None);
    }
}
