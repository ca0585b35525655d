//! A run of named, timed steps that stops at the first failure.

use std::time::{Duration, Instant};

use crate::failure::{Failure, Result};
use crate::tally::Tally;

/// The steps of one task, as they are taken.
#[derive(Debug)]
pub(crate) struct Steps {
    started: Instant,
    done: Vec<Done>,
}

#[derive(Debug)]
struct Done {
    name: String,
    took: Duration,
    tests: Option<Tally>,
}

impl Steps {
    /// Starts the clock.
    pub(crate) fn new() -> Self {
        Self {
            started: Instant::now(),
            done: Vec::new(),
        }
    }

    /// Takes one step and passes on what it returns.
    pub(crate) fn take<T>(
        &mut self,
        name: impl Into<String>,
        step: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let name = name.into();
        println!("\n==> {name}");
        let started = Instant::now();
        let outcome = step();
        let took = started.elapsed();
        let value = outcome.map_err(|failure| {
            let took = seconds(took);
            Failure::new(format!("step `{name}` FAILED after {took}: {failure}"))
        })?;
        println!("<== {name}: ok, {}", seconds(took));
        self.done.push(Done {
            name,
            took,
            tests: None,
        });
        Ok(value)
    }

    /// Takes a step that runs tests, and keeps what their runners said.
    pub(crate) fn take_tests(
        &mut self,
        name: impl Into<String>,
        step: impl FnOnce() -> Result<Tally>,
    ) -> Result<()> {
        let tally = self.take(name, step)?;
        if let Some(done) = self.done.last_mut() {
            done.tests = Some(tally);
        }
        Ok(())
    }

    /// Prints all steps with their times and the sum of the test runners' summaries.
    pub(crate) fn summarise(&self) {
        println!("\n{:<64} {:>9}", "step", "time");
        let mut total = Tally::default();
        for done in &self.done {
            println!("{:<64} {:>9}", done.name, seconds(done.took));
            if let Some(tests) = done.tests {
                println!("    {tests}");
                total += tests;
            }
        }
        println!(
            "{:<64} {:>9}",
            "all steps ok",
            seconds(self.started.elapsed())
        );
        println!("all tests: {total}");
    }
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_step_is_named() {
        let mut steps = Steps::new();
        let failure = steps
            .take("lint", || Err::<(), _>(Failure::new("two warnings")))
            .expect_err("the step fails");
        let text = failure.to_string();
        assert!(text.starts_with("step `lint` FAILED after "), "{text}");
        assert!(text.ends_with(": two warnings"), "{text}");
    }

    #[test]
    fn test_counts_are_kept_per_step() {
        let mut steps = Steps::new();
        let tally = Tally {
            passed: 2,
            failed: 0,
            ignored: 1,
        };
        steps
            .take_tests("tests", || Ok(tally))
            .expect("the step passes");
        assert_eq!(steps.done[0].tests, Some(tally));
    }
}
