//! What each build of the demo costs the person who builds it.

use std::collections::BTreeSet;
use std::fs;
use std::time::Instant;

use super::table::Table;
use crate::command::{cargo, target_directory};
use crate::failure::{Failure, Result};

const PROGRAM: &str = "gym-demo";

/// Builds the demo from nothing, once per feature set, and returns a table.
pub(super) fn measure() -> Result<Table> {
    let mut table = Table::new([
        "the demo",
        "crates",
        "seconds of a cold release build",
        "bytes of the stripped program",
    ]);
    for (build, features) in [("compiled out", ""), ("compiled in", "telemetry")] {
        let crates = crates(features)?;
        let target = target_directory()
            .join("bench-build")
            .join(build.replace(' ', "-"));
        if target.exists() {
            fs::remove_dir_all(&target)
                .map_err(|error| Failure::io("could not remove", &target, &error))?;
        }
        let start = Instant::now();
        cargo([
            "build",
            "--quiet",
            "--release",
            "--package",
            PROGRAM,
            "--features",
            features,
        ])
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_PROFILE_RELEASE_STRIP", "symbols")
        .run()?;
        let seconds = start.elapsed().as_secs_f64();
        let program = target.join("release").join(PROGRAM);
        let size = fs::metadata(&program)
            .map_err(|error| Failure::io("could not find", &program, &error))?
            .len();
        table.row([
            build.to_owned(),
            crates.to_string(),
            format!("{seconds:.1}"),
            size.to_string(),
        ]);
    }
    Ok(table)
}

fn crates(features: &str) -> Result<usize> {
    let tree = cargo([
        "tree",
        "--quiet",
        "--edges=normal",
        "--prefix=none",
        "--format={p}",
    ])
    .args(["--package", PROGRAM, "--features", features])
    .capture()?;
    let names: BTreeSet<&str> = tree
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .collect();
    Ok(names.len())
}
