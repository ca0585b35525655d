//! The dependency check: what a compiled-out build of each package depends on is a committed list.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use super::facade::Variant;
use super::report::Finding;
use crate::command::{cargo, root};
use crate::failure::{Failure, Result};
use crate::members::{Build, Member, TELEMETRY, members};

/// The packages whose trees are no concern of users.
const TOOLS: [&str; 2] = ["gym-benches", "noop-probes"];

/// Compares the tree of every package that has the switch with its list.
pub(super) fn check(variant: Variant) -> Result<Vec<Finding>> {
    let path = list_path();
    let lists =
        fs::read_to_string(&path).map_err(|error| Failure::io("could not read", &path, &error))?;
    let mut findings = Vec::new();
    for member in switched()? {
        for selection in Selection::of(&member, variant) {
            let found = tree(&member, &selection.features)?;
            let outcome = match listed(&lists, &selection.title) {
                Some(listed) => compare(&listed, &found),
                None => Err(format!("no list in {}", path.display())),
            };
            findings.push(Finding::new("dependencies", &selection.title, outcome));
        }
    }
    Ok(findings)
}

/// Writes the list of every package as it is now.
pub(super) fn write() -> Result<()> {
    let mut text = String::from(
        "# What a build without telemetry depends on, per package: all packages of `cargo tree -e normal`, without\n\
         # versions. A package with features is listed with all of them but telemetry, and with none.\n\
         # Written by `cargo xtask check-noop --write-dependencies`, compared by `cargo xtask check-noop`.\n",
    );
    for member in switched()? {
        for Selection { title, features } in Selection::of(&member, Variant::Off) {
            let packages: Vec<String> = tree(&member, &features)?.into_iter().collect();
            write!(text, "\n[{title}]\n{}\n", packages.join("\n"))
                .expect("writing to a string cannot fail");
        }
    }
    let path = list_path();
    fs::write(&path, text).map_err(|error| Failure::io("could not write", &path, &error))
}

fn list_path() -> PathBuf {
    root().join("xtask/noop/dependencies.txt")
}

fn switched() -> Result<Vec<Member>> {
    let mut members = members()?;
    members.retain(|member| {
        let has_switch = member.features.iter().any(|feature| feature == TELEMETRY);
        has_switch && !TOOLS.contains(&member.name.as_str())
    });
    Ok(members)
}

/// Features of a package that are looked at together, and what their list is called.
struct Selection {
    title: String,
    features: String,
}

impl Selection {
    /// All features that belong to the build, and none: what a feature brings must come with nothing else.
    fn of(member: &Member, variant: Variant) -> Vec<Self> {
        let build = match variant {
            Variant::Off | Variant::IfFalse => Build::Off,
            Variant::On => Build::On,
        };
        let all = member.features_in(build).join(",");
        let bare = member.features_in(Build::Off).is_empty();
        let mut selections = vec![Self {
            title: member.name.clone(),
            features: all,
        }];
        if !bare {
            selections.push(Self {
                title: format!("{} without features", member.name),
                features: match build {
                    Build::Off => String::new(),
                    Build::On => TELEMETRY.to_owned(),
                },
            });
        }
        selections
    }
}

/// The names in a package's tree. `cargo metadata` would unify features over all members, `cargo tree -p` does not.
fn tree(member: &Member, features: &str) -> Result<BTreeSet<String>> {
    let output = cargo([
        "tree",
        "--quiet",
        "--edges=normal",
        "--prefix=none",
        "--format={p}",
    ])
    .args(["--package", &member.name, "--no-default-features"])
    .args(["--features", features])
    .capture()?;
    Ok(names(&output)
        .into_iter()
        .filter(|name| *name != member.name)
        .collect())
}

fn names(tree: &str) -> BTreeSet<String> {
    tree.lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// The list of a package, without comments.
fn listed(lists: &str, package: &str) -> Option<BTreeSet<String>> {
    let header = format!("[{package}]");
    let mut lines = lines_of(lists).skip_while(|line| *line != header);
    lines.next()?;
    Some(
        lines
            .take_while(|line| !line.starts_with('['))
            .map(str::to_owned)
            .collect(),
    )
}

fn lines_of(lists: &str) -> impl Iterator<Item = &str> {
    lists
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn compare(
    listed: &BTreeSet<String>,
    found: &BTreeSet<String>,
) -> std::result::Result<String, String> {
    if listed == found {
        return Ok(format!("{} packages, as listed", found.len()));
    }
    let joined = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
        let difference: Vec<&str> = one.difference(other).map(String::as_str).collect();
        difference.join(", ")
    };
    Err(format!(
        "not listed: {}; listed but not there: {}",
        joined(found, listed),
        joined(listed, found)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTS: &str = "# comment\n\n[one]\nalpha\nbeta\n\n[two]\ngamma\n";

    #[test]
    fn a_list_ends_where_the_next_begins() {
        let list = listed(LISTS, "one").expect("the list is there");
        assert_eq!(list.into_iter().collect::<Vec<_>>(), ["alpha", "beta"]);
        assert_eq!(listed(LISTS, "three"), None);
    }

    #[test]
    fn names_lose_version_path_and_repetition_marks() {
        let tree = "one v0.1.0 (/somewhere)\nalpha v1.2.3\nalpha v1.2.3 (*)\n";
        assert_eq!(
            names(tree).into_iter().collect::<Vec<_>>(),
            ["alpha", "one"]
        );
    }

    #[test]
    fn a_new_dependency_is_named() {
        let listed = names("alpha v1\n");
        let found = names("alpha v1\nbeta v1\n");
        let why = compare(&listed, &found).expect_err("beta is new");
        assert!(why.starts_with("not listed: beta;"), "{why}");
    }
}
