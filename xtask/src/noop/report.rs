//! What the checks found.

use std::fmt::Write as _;

/// What one check found.
#[derive(Debug)]
pub(super) struct Finding {
    /// The kind of check: code, layout, …
    pub(super) check: &'static str,
    /// What was looked at.
    pub(super) subject: String,
    /// What held, or what did not and why.
    pub(super) outcome: Result<String, String>,
}

impl Finding {
    /// A finding from an outcome.
    pub(super) fn new(
        check: &'static str,
        subject: impl Into<String>,
        outcome: Result<String, String>,
    ) -> Self {
        Self {
            check,
            subject: subject.into(),
            outcome,
        }
    }
}

/// One line per finding, and the explanations of those that failed below.
pub(super) fn table(findings: &[Finding]) -> String {
    let mut text = String::new();
    let mut write = |line: String| {
        writeln!(text, "{line}").expect("writing to a string cannot fail");
    };
    write(format!("{:<13} {:<44} {}", "check", "of", "found"));
    for finding in findings {
        let found = match &finding.outcome {
            Ok(held) => held,
            Err(_) => "FAILED",
        };
        write(format!(
            "{:<13} {:<44} {found}",
            finding.check, finding.subject
        ));
    }
    for finding in findings {
        if let Err(why) = &finding.outcome {
            write(format!(
                "\n{} of {} FAILED: {why}",
                finding.check, finding.subject
            ));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_explained_below_the_table() {
        let findings = [
            Finding::new("code", "macros", Ok(String::from("equal"))),
            Finding::new("layout", "spans", Err(String::from("8 bytes"))),
        ];
        let text = table(&findings);
        assert!(
            text.contains("FAILED\n\nlayout of spans FAILED: 8 bytes\n"),
            "{text}"
        );
    }
}
