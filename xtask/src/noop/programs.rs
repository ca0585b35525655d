//! The layout and behaviour checks: programs that look at themselves.

use super::facade::{Facade, Variant};
use super::report::Finding;

/// Sizes, drop glue and types.
pub(super) fn check_layout(facade: &Facade) -> Finding {
    let (succeeded, output) = facade.run_program("layout");
    let lines = output.lines().filter(|line| line.starts_with("ok")).count();
    let outcome = if succeeded && lines > 0 {
        Ok(format!("{lines} types and futures, nothing added"))
    } else {
        let failed: Vec<&str> = output
            .lines()
            .filter(|line| !line.starts_with("ok"))
            .collect();
        Err(failed.join("\n"))
    };
    Finding::new("layout", "spans, guards, wrappers, futures", outcome)
}

/// Arguments are not evaluated.
pub(super) fn check_behaviour(facade: &Facade) -> Finding {
    let (succeeded, output) = facade.run_program("behaviour");
    let outcome = if succeeded && !output.is_empty() {
        Ok(output.trim().to_owned())
    } else {
        let last = output.lines().last().unwrap_or("the program did not run");
        Err(last.to_owned())
    };
    Finding::new("behaviour", "arguments that count and panic", outcome)
}

impl Facade {
    /// Whether the program succeeds, and what it prints.
    fn run_program(&self, name: &str) -> (bool, String) {
        let mut command = self.cargo("run").args(["--bin", name]);
        if self.variant == Variant::On {
            // A control that must evaluate arguments needs every group on and somewhere to export to.
            command = command
                .env("NEMO_GYM_OTEL_ENABLED", "1")
                .env("NEMO_GYM_OTEL_SPAN_GROUPS", "all")
                .env("NEMO_GYM_OTEL_EXPORTER", "console");
        }
        command.output()
    }
}
