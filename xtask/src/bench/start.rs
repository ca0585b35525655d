//! What starting a program costs that has telemetry compiled in and switched off.

use super::instructions::of_program;
use super::table::Table;
use super::{COMPILED_IN, PACKAGE};
use crate::command::{cargo, target_directory};
use crate::failure::Result;

/// The program that does nothing.
const BARE: &str = "start_bare";
/// The program that starts telemetry, which is off.
const OFF: &str = "start_off";

/// Counts the instructions of both programs.
pub(super) fn measure() -> Result<Table> {
    cargo(["build", "--quiet", "--release", "--package", PACKAGE])
        .args(["--features", &COMPILED_IN.join(",")])
        .args(["--example", BARE, "--example", OFF])
        .run()?;
    let examples = target_directory().join("release").join("examples");
    let bare = of_program(&examples.join(BARE), None)?;
    let whole = of_program(&examples.join(OFF), None)?;
    let own = of_program(&examples.join(OFF), Some(&format!("{OFF}::main*")))?;

    let mut table = Table::new(["start of a program", "instructions", ": without telemetry"]);
    for (title, count) in [
        ("that does nothing, without telemetry", bare),
        (
            "the same and what telemetry that is off executes",
            bare + own,
        ),
        (
            "with telemetry linked and off, the loader's work on it included",
            whole,
        ),
    ] {
        #[expect(clippy::cast_precision_loss, reason = "a program's start is short")]
        let ratio = count as f64 / bare as f64;
        table.row([title.to_owned(), count.to_string(), format!("{ratio:.3}")]);
    }
    Ok(table)
}
