//! Finds who turned telemetry on in a dependency tree.

use crate::command::Invocation;
use crate::failure::{Failure, Result};

/// The facade's package.
const FACADE: &str = "gym-telemetry-api";
/// How cargo shows the feature that brings in the back end.
const FEATURE: &str = "gym-telemetry-api feature \"telemetry\"";

/// Whether telemetry is on in a tree, and by whom.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Switch {
    /// The facade is not in the tree.
    NoFacade,
    /// The facade is there, without the feature.
    Off,
    /// The feature is on. Each text is one way from it to the root.
    On(Vec<String>),
}

/// Asks cargo for the tree above the facade.
///
/// `command` is a `cargo tree` that selects the packages; it unifies features over all of them, as `cargo build` does.
pub(super) fn switch(command: Invocation) -> Result<Switch> {
    let (succeeded, output) = command
        .args([
            "--quiet",
            "--edges=features,normal",
            "--prefix=depth",
            "--no-dedupe",
        ])
        .args(["--invert", FACADE])
        .output();
    if succeeded {
        return Ok(parse(&output));
    }
    if output.is_empty() {
        return Ok(Switch::NoFacade);
    }
    Err(Failure::new(format!("`cargo tree` failed: {output}")))
}

fn parse(tree: &str) -> Switch {
    let lines: Vec<(usize, &str)> = tree.lines().filter_map(depth).collect();
    let Some(start) = lines.iter().position(|(_, text)| is_feature(text)) else {
        return Switch::Off;
    };
    let base = lines[start].0;
    let mut ways: Vec<String> = Vec::new();
    let mut way: Vec<&str> = Vec::new();
    let below = lines[start + 1..]
        .iter()
        .take_while(|(depth, _)| *depth > base);
    let mut below = below.peekable();
    while let Some((depth, text)) = below.next() {
        way.truncate(depth - base - 1);
        way.push(text);
        let is_leaf = below.peek().is_none_or(|(next, _)| next <= depth);
        if is_leaf {
            ways.push(
                way.iter()
                    .map(|text| shown(text))
                    .collect::<Vec<_>>()
                    .join(" <- "),
            );
        }
    }
    ways.sort_by_key(String::len);
    ways.dedup();
    Switch::On(ways)
}

fn depth(line: &str) -> Option<(usize, &str)> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let (depth, text) = line.split_at(digits);
    Some((depth.parse().ok()?, text))
}

fn is_feature(text: &str) -> bool {
    text.strip_prefix(FEATURE)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// A package without its path; a feature as cargo shows it.
fn shown(text: &str) -> String {
    let text = text.trim_end_matches(" (*)");
    match text.split_once(" (") {
        Some((package, path)) if path.starts_with('/') => package.to_owned(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_without_the_feature_is_off() {
        let tree = "0gym-telemetry-api v0.1.0 (/x)\n1gym-telemetry-api feature \"default\"\n2app v0.1.0 (/x)\n";
        assert_eq!(parse(tree), Switch::Off);
    }

    #[test]
    fn the_edge_that_turns_it_on_is_named() {
        let tree = "0gym-telemetry-api v0.1.0 (/x)\n\
                    1gym-telemetry-api feature \"default\"\n\
                    2app v0.1.0 (/x)\n\
                    1gym-telemetry-api feature \"telemetry\"\n\
                    2sibling feature \"fast\"\n\
                    3sibling feature \"default\"\n\
                    4app v0.1.0 (/x)\n\
                    5app feature \"default\" (command-line)\n";
        let Switch::On(ways) = parse(tree) else {
            panic!("telemetry is on");
        };
        let way = "sibling feature \"fast\" <- sibling feature \"default\" <- app v0.1.0 <- \
                   app feature \"default\" (command-line)";
        assert_eq!(ways, [way]);
    }

    #[test]
    fn two_packages_that_turn_it_on_are_both_named() {
        let tree = "0gym-telemetry-api v0.1.0\n\
                    1gym-telemetry-api feature \"telemetry\"\n\
                    2one v0.1.0 (/x)\n\
                    2two v0.1.0 (/x)\n\
                    3app v0.1.0 (/x)\n";
        let ways = vec![
            String::from("one v0.1.0"),
            String::from("two v0.1.0 <- app v0.1.0"),
        ];
        assert_eq!(parse(tree), Switch::On(ways));
    }
}
