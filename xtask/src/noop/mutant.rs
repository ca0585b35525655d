//! A copy of the workspace whose compiled-out macros branch on `false`, the expansion that looks free and is not. The
//! checks must notice it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{root, target_directory};
use crate::failure::{Failure, Result};

/// What no build needs, and hidden files.
const NOT_COPIED: [&str; 3] = ["docs", "out", "target"];

/// Makes the copy and returns its root.
pub(super) fn workspace() -> Result<PathBuf> {
    let copy = target_directory().join("noop/if-false-source");
    if copy.exists() {
        fs::remove_dir_all(&copy)
            .map_err(|error| Failure::io("could not remove", &copy, &error))?;
    }
    copy_tree(root(), &copy)?;
    let changed = mutate_tree(&copy.join("crates/gym-telemetry-api/src"))?;
    if changed == 0 {
        return Err(Failure::new(
            "the facade has no unreachable `match` arm to replace: this control is out of date",
        ));
    }
    Ok(copy)
}

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    let failed = |error| Failure::io("could not copy", from, &error);
    if from == target_directory() {
        // The copy is in there.
        return Ok(());
    }
    if !from.is_dir() {
        return fs::copy(from, to).map(drop).map_err(failed);
    }
    fs::create_dir_all(to).map_err(failed)?;
    for entry in fs::read_dir(from).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let is_copied = name
            .to_str()
            .is_some_and(|name| !name.starts_with('.') && !NOT_COPIED.contains(&name));
        if is_copied {
            copy_tree(&from.join(&name), &to.join(&name))?;
        }
    }
    Ok(())
}

/// Changes every file below `path` and returns how many places there were.
fn mutate_tree(path: &Path) -> Result<usize> {
    let failed = |error| Failure::io("could not change", path, &error);
    let mut changed = 0;
    if path.is_dir() {
        for entry in fs::read_dir(path).map_err(failed)? {
            changed += mutate_tree(&entry.map_err(failed)?.path())?;
        }
        return Ok(changed);
    }
    let source = fs::read_to_string(path).map_err(failed)?;
    let (text, replaced) = mutate(&source);
    changed += replaced;
    fs::write(path, text).map_err(failed)?;
    Ok(changed)
}

/// Turns each `match () { () => OFF, _ => ON }` into `match false { false => OFF, _ => ON }`, which is what
/// `if false { ON } else { OFF }` means to the compiler, and counts them.
fn mutate(source: &str) -> (String, usize) {
    let mut result = String::with_capacity(source.len());
    let mut replaced = 0;
    let mut lines = source.lines().peekable();
    while let Some(line) = lines.next() {
        let arm = lines
            .peek()
            .and_then(|next| next.trim_start().strip_prefix("() => "));
        if let Some(arm) = arm
            && let Some(before) = line.strip_suffix("match () {")
        {
            result.extend([before, "match false {\nfalse => ", arm, "\n"]);
            lines.next();
            replaced += 1;
        } else {
            result.push_str(line);
            result.push('\n');
        }
    }
    (result, replaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreachable_arms_become_reachable_to_the_compiler() {
        let source =
            "before\n    match () {\n        () => $off,\n        _ => $on,\n    }\nafter\n";
        let (text, replaced) = mutate(source);
        assert_eq!(replaced, 1);
        assert_eq!(
            text,
            "before\n    match false {\nfalse => $off,\n        _ => $on,\n    }\nafter\n"
        );
    }

    #[test]
    fn other_matches_stay() {
        let source = "match x {\n    () => 1,\n}\nmatch () {\n    _ => 2,\n}\n";
        assert_eq!(mutate(source), (source.to_owned(), 0));
    }
}
