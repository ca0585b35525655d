//! `cargo xtask check-noop`: proves that compiled-out telemetry leaves nothing behind.

mod assembly;
mod binary;
mod code;
mod dependencies;
mod downstream;
mod facade;
mod foreign;
mod mutant;
mod names;
mod programs;
mod report;
mod strings;
mod tree;

use std::path::PathBuf;

use self::facade::{Facade, Variant};
use self::foreign::Crate;
use self::report::{Finding, table};
use crate::failure::{Failure, Result};

/// What `check-noop` was asked to do.
#[derive(Debug)]
enum Task {
    /// Check this workspace.
    Own,
    /// Check that the checks can fail.
    SelfTest,
    /// Check another crate.
    Foreign(Crate),
    /// Write the list of dependencies.
    WriteDependencies,
}

/// Runs the task that the arguments name.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    match parse(arguments)? {
        Task::Own => judge(&own(Variant::Off)?),
        Task::SelfTest => self_test(),
        Task::Foreign(subject) => judge(&foreign::check(&subject)?),
        Task::WriteDependencies => dependencies::write(),
    }
}

fn parse(arguments: &[String]) -> Result<Task> {
    let mut manifest = None;
    let mut program = None;
    let mut task = Task::Own;
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .cloned()
                .ok_or_else(|| Failure::new(format!("`{argument}` needs a value")))
        };
        match argument.as_str() {
            "--self-test" => task = Task::SelfTest,
            "--write-dependencies" => task = Task::WriteDependencies,
            "--manifest-path" => manifest = Some(PathBuf::from(value()?)),
            "--bin" => program = Some(value()?),
            _ => {
                return Err(Failure::new(format!(
                    "check-noop has no option `{argument}`"
                )));
            }
        }
    }
    match (manifest, program, task) {
        (Some(manifest), program, Task::Own) => Ok(Task::Foreign(Crate { manifest, program })),
        (None, None, task) => Ok(task),
        (None, Some(_), _) => Err(Failure::new("`--bin` needs `--manifest-path`")),
        (Some(_), _, _) => Err(Failure::new("`--manifest-path` goes with no other task")),
    }
}

fn own(variant: Variant) -> Result<Vec<Finding>> {
    let facade = Facade::build(variant)?;
    let mut findings = code::check(&facade)?;
    findings.push(programs::check_layout(&facade));
    if variant == Variant::IfFalse {
        // This control changes what is compiled, not what is evaluated or depended on.
        return Ok(findings);
    }
    findings.push(programs::check_behaviour(&facade));
    findings.extend(dependencies::check(variant)?);
    findings.extend(binary::check(variant)?);
    Ok(findings)
}

fn judge(findings: &[Finding]) -> Result<()> {
    judge_all(findings)?;
    println!(
        "\nnothing is left of compiled-out telemetry: all {} checks hold",
        findings.len()
    );
    Ok(())
}

fn judge_all(findings: &[Finding]) -> Result<()> {
    print!("{}", table(findings));
    let failed = findings
        .iter()
        .filter(|finding| finding.outcome.is_err())
        .count();
    if failed == 0 {
        return Ok(());
    }
    Err(Failure::new(format!(
        "{failed} of {} checks do not hold",
        findings.len()
    )))
}

/// Every check must fail under the controls: one that cannot fail proves nothing.
fn self_test() -> Result<()> {
    let mut blind = Vec::new();
    println!("{:<14} {:<13} {:<44} outcome", "control", "check", "of");
    for variant in [Variant::On, Variant::IfFalse] {
        for finding in own(variant)? {
            let Finding {
                check,
                subject,
                outcome,
            } = &finding;
            let word = variant.word();
            let outcome = if outcome.is_err() {
                "fails, as it must"
            } else {
                "HOLDS"
            };
            println!("{word:<14} {check:<13} {subject:<44} {outcome}");
            if finding.outcome.is_ok() {
                blind.push(format!("{check} of {subject} under {word}"));
            }
        }
    }
    println!();
    judge_all(&downstream::check()?)?;
    if blind.is_empty() {
        println!("\nevery check can fail");
        return Ok(());
    }
    Err(Failure::new(format!(
        "checks that do not notice a control: {}",
        blind.join("; ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Task> {
        let arguments: Vec<String> = arguments
            .iter()
            .map(|&argument| argument.to_owned())
            .collect();
        parse(&arguments)
    }

    #[test]
    fn a_manifest_selects_somebody_elses_crate() {
        let task = parsed(&["--manifest-path", "x/Cargo.toml", "--bin", "app"]);
        let Ok(Task::Foreign(subject)) = task else {
            panic!("a foreign crate is asked for");
        };
        assert_eq!(subject.manifest, PathBuf::from("x/Cargo.toml"));
        assert_eq!(subject.program.as_deref(), Some("app"));
    }

    #[test]
    fn options_that_contradict_are_refused() {
        assert!(parsed(&["--bin", "app"]).is_err());
        assert!(parsed(&["--self-test", "--manifest-path", "x"]).is_err());
        assert!(parsed(&["--manifest-path"]).is_err());
        assert!(parsed(&["--nothing"]).is_err());
    }
}
