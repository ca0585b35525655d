//! The packages of the workspace and their features, read from their manifests.

use std::fs;
use std::path::PathBuf;

use crate::command::root;
use crate::failure::{Failure, Result};

/// The feature that tells the two builds apart.
pub(crate) const TELEMETRY: &str = "telemetry";

/// The back end exists in one build only: naming it as a dependency is what turns telemetry on.
const BACK_END: &str = "gym-telemetry-otel";

/// Members that are not directly below `crates`.
const TOOLS: [&str; 4] = [
    "benches/Cargo.toml",
    "crates/gym-concurrency/models/Cargo.toml",
    "xtask/Cargo.toml",
    "xtask/probes/Cargo.toml",
];

/// Which of the two builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Build {
    /// Telemetry compiled out.
    Off,
    /// Telemetry compiled in.
    On,
}

impl Build {
    /// The word for it in step names.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Off => "compiled out",
            Self::On => "compiled in",
        }
    }
}

/// One package of the workspace.
#[derive(Debug)]
pub(crate) struct Member {
    /// Its name.
    pub(crate) name: String,
    /// Its features, `default` left out, in the manifest's order.
    pub(crate) features: Vec<String>,
}

impl Member {
    /// Whether the package is part of `build`.
    pub(crate) fn is_in(&self, build: Build) -> bool {
        match build {
            Build::Off => self.name != BACK_END,
            // What has no switch is one and the same in both builds; once is enough.
            Build::On => {
                self.name == BACK_END || self.features.iter().any(|feature| feature == TELEMETRY)
            }
        }
    }

    /// All features of the package that belong to `build`.
    pub(crate) fn features_in(&self, build: Build) -> Vec<&str> {
        self.features
            .iter()
            .map(String::as_str)
            .filter(|feature| build == Build::On || *feature != TELEMETRY)
            .collect()
    }

    /// Every combination of the package's features, the empty one and the full one included.
    pub(crate) fn feature_combinations(&self) -> Vec<Vec<&str>> {
        let mut combinations = vec![Vec::new()];
        for feature in &self.features {
            for index in 0..combinations.len() {
                let mut with: Vec<&str> = combinations[index].clone();
                with.push(feature);
                combinations.push(with);
            }
        }
        combinations
    }
}

/// Reads the workspace's packages, ordered by name.
pub(crate) fn members() -> Result<Vec<Member>> {
    let mut manifests: Vec<PathBuf> = TOOLS.iter().map(|manifest| root().join(manifest)).collect();
    let crates = root().join("crates");
    let entries =
        fs::read_dir(&crates).map_err(|error| Failure::io("could not list", &crates, &error))?;
    for entry in entries {
        let entry = entry.map_err(|error| Failure::io("could not list", &crates, &error))?;
        let manifest = entry.path().join("Cargo.toml");
        if manifest.is_file() {
            manifests.push(manifest);
        }
    }
    let mut members = Vec::with_capacity(manifests.len());
    for manifest in manifests {
        let text = fs::read_to_string(&manifest)
            .map_err(|error| Failure::io("could not read", &manifest, &error))?;
        let member = parse(&text)
            .ok_or_else(|| Failure::new(format!("{} has no package name", manifest.display())))?;
        members.push(member);
    }
    members.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(members)
}

/// Finds name and features in a manifest as this workspace writes them: one key at the start of a line.
fn parse(manifest: &str) -> Option<Member> {
    let mut table = "";
    let mut name = None;
    let mut features = Vec::new();
    for line in manifest.lines() {
        if let Some(header) = line.strip_prefix('[') {
            table = header.trim_end().trim_end_matches(']');
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        let key = key.trim_end();
        let is_key = !key.is_empty()
            && key
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        if !is_key {
            continue;
        }
        match (table, key) {
            ("package", "name") => name = Some(value.trim().trim_matches('"').to_owned()),
            ("features", "default") => {}
            ("features", feature) => features.push(feature.to_owned()),
            _ => {}
        }
    }
    Some(Member {
        name: name?,
        features,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = r#"
[package]
name = "gym-example"
version.workspace = true

[features]
default = []
# A comment with an = sign.
telemetry = ["gym-telemetry-api/telemetry"]
axum = [
    "dep:axum",
]

[dependencies]
http = { workspace = true }
"#;

    #[test]
    fn name_and_features_are_found_and_nothing_else() {
        let member = parse(MANIFEST).expect("the manifest has a name");
        assert_eq!(member.name, "gym-example");
        assert_eq!(member.features, ["telemetry", "axum"]);
    }

    #[test]
    fn compiled_out_build_has_every_feature_but_telemetry() {
        let member = parse(MANIFEST).expect("the manifest has a name");
        assert_eq!(member.features_in(Build::Off), ["axum"]);
        assert_eq!(member.features_in(Build::On), ["telemetry", "axum"]);
    }

    #[test]
    fn all_feature_combinations_are_listed() {
        let member = parse(MANIFEST).expect("the manifest has a name");
        let combinations = member.feature_combinations();
        assert_eq!(combinations.len(), 4);
        assert!(combinations.contains(&vec![]));
        assert!(combinations.contains(&vec!["telemetry", "axum"]));
    }

    #[test]
    fn this_workspace_has_a_back_end_in_one_build_only() {
        let members = members().expect("the manifests can be read");
        let back_end = members
            .iter()
            .find(|member| member.name == BACK_END)
            .expect("the workspace has a back end");
        assert!(back_end.is_in(Build::On));
        assert!(!back_end.is_in(Build::Off));
        assert!(members.iter().any(|member| member.name == "xtask"));
    }
}
