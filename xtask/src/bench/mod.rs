//! `cargo xtask bench`: measures both builds beside other stacks.
//!
//! Times drift with whatever else the machine does; instruction counts do not. Where valgrind is present both are taken,
//! and the counts decide whether a place whose group is off is within its limits.

mod build_cost;
mod instructions;
mod limits;
mod machine;
mod results;
mod sites;
mod start;
mod table;

use std::fs;

use crate::command::{cargo, root, target_directory};
use crate::docs::parts;
use crate::failure::{Failure, Result};

use self::instructions::Counts;
use self::results::Results;
use self::table::Table;

/// The package with the benchmarks.
const PACKAGE: &str = "gym-benches";
/// The features of the build with telemetry.
const COMPILED_IN: [&str; 2] = ["telemetry", "peers"];
/// The page that shows what was measured.
const PAGE: &str = "docs/performance.md";
/// What its parts are marked with.
const MARK: &str = "measured";

/// A heading of the output and the part of the page, with what was measured.
type Part = (&'static str, Table);

/// Measures what the arguments ask for.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        [] => everything().map(drop),
        ["--write"] => write(&everything()?),
        ["--instructions"] => {
            let (out, on) = count()?
                .ok_or_else(|| Failure::new("there is no valgrind to count instructions with"))?;
            println!();
            print(&[("instructions", results::costs(&out.facade, &on.facade))]);
            print(&[("sites", sites::table(&out.sites, &on.sites))]);
            print(&[("limits", limits::table(&out.limits, &on.limits))]);
            sites::judge(&out.sites, &on.sites)
        }
        _ => Err(Failure::new(format!(
            "bench has no option `{}`",
            arguments.join(" ")
        ))),
    }
}

fn everything() -> Result<Vec<Part>> {
    let machine = machine::table()?;
    let (out, on) = time()?;
    let counted = count()?;
    let built = build_cost::measure()?;

    let mut parts = vec![("machine", machine)];
    let counts = counted.as_ref().map(|(out, on)| (&out.facade, &on.facade));
    parts.push(("ratios", results::ratios((&out, &on), counts)));
    parts.push(("nanoseconds", results::costs(&out, &on)));
    if let Some((out, on)) = &counted {
        parts.push(("instructions", results::costs(&out.facade, &on.facade)));
        parts.push(("sites", sites::table(&out.sites, &on.sites)));
        parts.push(("limits", limits::table(&out.limits, &on.limits)));
        parts.push(("start", start::measure()?));
    }
    parts.push(("build", built));
    println!();
    print(&parts);
    match &counted {
        Some((out, on)) => sites::judge(&out.sites, &on.sites)?,
        None => println!("there is no valgrind: instructions were not counted"),
    }
    Ok(parts)
}

fn print(parts: &[Part]) {
    for (heading, table) in parts {
        println!("{heading}\n\n{table}");
    }
}

/// Puts the tables into the page.
fn write(parts: &[Part]) -> Result<()> {
    let page = root().join(PAGE);
    let old =
        fs::read_to_string(&page).map_err(|error| Failure::io("could not read", &page, &error))?;
    let new = parts::replace(&old, MARK, |name| {
        let part = parts.iter().find(|(heading, _)| *heading == name);
        part.map(|(_, table)| table.to_string())
            .ok_or_else(|| Failure::new(format!("`{name}` was not measured")))
    })?;
    fs::write(&page, new).map_err(|error| Failure::io("could not write", &page, &error))
}

/// Runs criterion's benchmark of both builds.
fn time() -> Result<(Results, Results)> {
    // What an earlier run left must not be taken for this one's.
    let old = target_directory().join("criterion");
    if old.exists() {
        fs::remove_dir_all(&old).map_err(|error| Failure::io("could not remove", &old, &error))?;
    }
    let run = |features: &[&str]| {
        cargo(["bench", "--package", PACKAGE, "--bench", "facade"])
            .args(["--features", &features.join(",")])
            .run()?;
        results::of_criterion()
    };
    Ok((run(&[])?, run(&COMPILED_IN)?))
}

/// Counts the instructions of both builds; `None` without valgrind.
fn count() -> Result<Option<(Counts, Counts)>> {
    if !instructions::are_countable() {
        return Ok(None);
    }
    let out = instructions::count(&[])?;
    let on = instructions::count(&COMPILED_IN)?;
    Ok(Some((out, on)))
}
