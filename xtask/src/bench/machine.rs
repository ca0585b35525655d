//! What the figures depend on.

use std::fs;

use super::table::Table;
use crate::command::{Invocation, root};
use crate::failure::{Failure, Result};

/// Packages whose versions matter.
const PACKAGES: [&str; 6] = [
    "opentelemetry_sdk",
    "tracing",
    "tracing-opentelemetry",
    "fastrace",
    "fastrace-opentelemetry",
    "tokio",
];

/// Machine, compiler and versions.
pub(super) fn table() -> Result<Table> {
    let mut table = Table::new(["measured with", ""]);
    let processor = text("/proc/cpuinfo")
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
        .map_or_else(
            || String::from("unknown"),
            |(_, name)| name.trim().to_owned(),
        );
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    table.row([
        "processor".to_owned(),
        format!("{processor}, {count} threads"),
    ]);
    let clock = text("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    table.row([
        "clock".to_owned(),
        format!(
            "processor time of the measured thread; the system reads {}",
            clock.trim()
        ),
    ]);
    table.row(["allocator", "the system's"]);
    table.row(["build", "release profile, thin LTO"]);
    let compiler = Invocation::new("rustc").args(["--version"]).capture()?;
    table.row(["compiler", compiler.trim()]);
    for package in PACKAGES {
        let version = version_of(package)?;
        table.row([
            package.to_owned(),
            version.unwrap_or_else(|| String::from("-")),
        ]);
    }
    Ok(table)
}

/// The version of a package in the lock file.
pub(super) fn version_of(package: &str) -> Result<Option<String>> {
    let path = root().join("Cargo.lock");
    let text =
        fs::read_to_string(&path).map_err(|error| Failure::io("could not read", &path, &error))?;
    Ok(version_in(&text, package).map(str::to_owned))
}

fn version_in<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let (_, rest) = lock.split_once(&format!("\nname = \"{package}\"\nversion = \""))?;
    rest.split('"').next()
}

/// A file of the system's; empty where the system has none.
fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_by_whole_names() {
        let lock = "\n[[package]]\nname = \"fastrace-macro\"\nversion = \"0.1.0\"\n\n\
                    [[package]]\nname = \"fastrace\"\nversion = \"0.7.19\"\n";
        assert_eq!(version_in(lock, "fastrace"), Some("0.7.19"));
        assert_eq!(version_in(lock, "trace"), None);
    }
}
