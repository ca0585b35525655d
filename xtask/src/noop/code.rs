//! The code check: twin files, one instrumented and one not, must give the same assembly.

use std::fs;
use std::path::{Path, PathBuf};

use super::assembly::{Comparison, compare, count_functions};
use super::facade::Facade;
use super::report::Finding;
use crate::command::{Invocation, root, target_directory};
use crate::failure::{Failure, Result};

/// A pair of files and the levels at which they must be equal.
#[derive(Debug)]
struct Twins {
    name: &'static str,
    levels: &'static [&'static str],
}

const TWINS: [Twins; 3] = [
    Twins {
        name: "macros",
        levels: &["0", "1", "2", "3", "s", "z"],
    },
    Twins {
        name: "attribute",
        levels: &["0", "1", "2", "3", "s", "z"],
    },
    // Calls of the facade's own functions: without optimisation they stay calls, of functions that do nothing.
    Twins {
        name: "wrappers",
        levels: &["1", "2", "3", "s", "z"],
    },
];

/// Compares every pair at every level.
pub(super) fn check(facade: &Facade) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for twins in &TWINS {
        for level in twins.levels {
            let instrumented = assembly(facade, twins, "instrumented", level)?;
            let plain = assembly(facade, twins, "plain", level)?;
            let functions = count_functions(&plain);
            let outcome = match compare(&instrumented, &plain) {
                Comparison::Equal => Ok(format!("equal byte for byte, {functions} functions")),
                Comparison::EqualButForSymbolNumbers => Ok(format!(
                    "equal byte for byte but for closure numbers in symbols, {functions} functions"
                )),
                Comparison::Different(text) => Err(text),
            };
            let subject = format!("{}, opt-level {level}", twins.name);
            findings.push(Finding::new("code", subject, outcome));
        }
    }
    Ok(findings)
}

/// Compiles one twin. Both have the same name, path and flags: all of them are part of what the compiler writes.
fn assembly(facade: &Facade, twins: &Twins, twin: &str, level: &str) -> Result<String> {
    let source = source(twins.name, twin);
    let directory = target_directory()
        .join("noop/twins")
        .join(twins.name)
        .join(twin);
    fs::create_dir_all(&directory)
        .map_err(|error| Failure::io("could not create", &directory, &error))?;
    let probe = directory.join("probe.rs");
    fs::copy(&source, &probe).map_err(|error| Failure::io("could not copy", &source, &error))?;
    let listing = directory.join("probe.s");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    Invocation::new(compiler)
        .args(["--edition=2024", "--crate-name=probe", "--crate-type=lib"])
        .args(["--cap-lints=allow", "--emit=asm", "-o"])
        .args([&listing])
        .args([format!("-Copt-level={level}")])
        .args(["-Ccodegen-units=1", "-Cmetadata=probe"])
        .args(facade.compiler_arguments(level)?)
        .args(["probe.rs"])
        .within(&directory)
        .run()?;
    fs::read_to_string(&listing).map_err(|error| Failure::io("could not read", &listing, &error))
}

fn source(name: &str, twin: &str) -> PathBuf {
    root()
        .join(Path::new("xtask/probes/src/twins"))
        .join(name)
        .join(twin)
        .with_extension("rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the plain twin may have where the instrumented one has telemetry.
    fn is_placeholder(line: &str) -> bool {
        let line = line.trim();
        line.starts_with("//")
            || line == "use gym_telemetry_api as _; // The same crates are linked."
            || ["{", "}", ";"].contains(&line)
    }

    #[test]
    fn twins_differ_only_where_one_is_instrumented() {
        for twins in &TWINS {
            let read =
                |twin| fs::read_to_string(source(twins.name, twin)).expect("the twin is there");
            let (instrumented, plain) = (read("instrumented"), read("plain"));
            assert_eq!(instrumented.lines().count(), plain.lines().count());
            for (number, (one, other)) in instrumented.lines().zip(plain.lines()).enumerate() {
                assert!(
                    one == other || is_placeholder(other),
                    "{}, line {}:\n{one}\n{other}",
                    twins.name,
                    number + 1
                );
            }
        }
    }
}
