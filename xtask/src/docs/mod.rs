//! `cargo xtask docs`: writes the generated parts of README.md and docs/ and the schema, and `--check` compares them.
//!
//! A generated part stands between two comments that name what it is made from:
//!
//! ```markdown
//! <!-- generated: span-groups -->
//! <!-- end -->
//! ```

pub(crate) mod parts;
mod registry;
mod schema;
pub(crate) mod source;
mod tables;

use std::fs;
use std::path::PathBuf;

use crate::command::root;
use crate::failure::{Failure, Result};

/// What generated parts are marked with.
const MARK: &str = "generated";

/// Whether to write what differs or to complain about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Bring the pages up to date.
    Write,
    /// Fail if a page is not up to date.
    Check,
}

/// Generates every part of every page.
pub(crate) fn run(mode: Mode) -> Result<()> {
    let mut outdated = Vec::new();
    for page in pages()? {
        let old = fs::read_to_string(&page)
            .map_err(|error| Failure::io("could not read", &page, &error))?;
        let new = parts::replace(&old, MARK, content)
            .map_err(|failure| Failure::new(format!("{}: {failure}", page.display())))?;
        if old == new {
            continue;
        }
        match mode {
            Mode::Check => outdated.push(page.display().to_string()),
            Mode::Write => {
                fs::write(&page, new)
                    .map_err(|error| Failure::io("could not write", &page, &error))?;
                println!("wrote {}", page.display());
            }
        }
    }
    let schema = root().join(schema::PATH);
    if fs::read_to_string(&schema).ok() != Some(schema::text()) {
        match mode {
            Mode::Check => outdated.push(schema.display().to_string()),
            Mode::Write => {
                fs::write(&schema, schema::text())
                    .map_err(|error| Failure::io("could not write", &schema, &error))?;
                println!("wrote {}", schema.display());
            }
        }
    }
    if outdated.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "not up to date, run `cargo xtask docs`: {}",
        outdated.join(", ")
    )))
}

/// Makes the text of one generated part.
fn content(part: &str) -> Result<String> {
    match part.split_once(' ') {
        Some(("code", path)) => {
            let file = root().join(path);
            let text = fs::read_to_string(&file)
                .map_err(|error| Failure::io("could not read", &file, &error))?;
            Ok(parts::code(&text))
        }
        _ => tables::table(part),
    }
}

/// Every page of the root and of docs/.
fn pages() -> Result<Vec<PathBuf>> {
    let mut pages = Vec::new();
    for directory in [root().to_owned(), root().join("docs")] {
        let failed = |error| Failure::io("could not list", &directory, &error);
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    Ok(pages)
}
