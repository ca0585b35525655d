//! Builds the facade that probes are compiled against.

use std::env::consts::DLL_SUFFIX;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{Invocation, cargo, root, target_directory};
use crate::failure::{Failure, Result};

/// Which facade the checks look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    /// Telemetry compiled out: what the checks are about.
    Off,
    /// A control: telemetry compiled in.
    On,
    /// A control: compiled out, but with `if false { … }` in place of the unreachable arm.
    IfFalse,
}

impl Variant {
    /// The name for reports.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Off => "compiled out",
            Self::On => "telemetry on",
            Self::IfFalse => "`if false`",
        }
    }

    /// Features that a cargo command needs for this variant.
    pub(super) fn features(self, package: &str) -> Vec<String> {
        match self {
            Self::On => vec![format!("--features={package}/telemetry")],
            Self::Off | Self::IfFalse => Vec::new(),
        }
    }
}

/// A facade, built without and with optimisation.
#[derive(Debug)]
pub(super) struct Facade {
    /// Which one.
    pub(super) variant: Variant,
    workspace: PathBuf,
    target: PathBuf,
}

impl Facade {
    /// Builds the facade of this workspace, or a changed copy of it.
    pub(super) fn build(variant: Variant) -> Result<Self> {
        let (workspace, target) = match variant {
            Variant::Off => (root().to_owned(), "noop/off"),
            // The back end is large; most of it has been built there before.
            Variant::On => (root().to_owned(), ""),
            Variant::IfFalse => (super::mutant::workspace()?, "noop/if-false"),
        };
        let facade = Self {
            variant,
            workspace,
            target: target_directory().join(target),
        };
        for profile in facade.profiles() {
            facade
                .cargo("build")
                .args(["--package=gym-telemetry-api", "--profile", profile])
                .run()?;
        }
        Ok(facade)
    }

    /// A control only has to differ, and an optimised back end takes minutes to build.
    fn profiles(&self) -> &'static [&'static str] {
        match self.variant {
            Variant::On => &["dev"],
            Variant::Off | Variant::IfFalse => &["dev", "release"],
        }
    }

    /// A cargo command on the probes, built with this facade.
    pub(super) fn cargo(&self, subcommand: &str) -> Invocation {
        cargo([subcommand, "--quiet", "--package=noop-probes"])
            .args(self.variant.features("noop-probes"))
            .env("CARGO_TARGET_DIR", &self.target)
            .within(&self.workspace)
    }

    /// The compiler's arguments that make this facade available to a probe of that optimisation level.
    pub(super) fn compiler_arguments(&self, level: &str) -> Result<Vec<OsString>> {
        let is_optimised = level != "0" && self.profiles().contains(&"release");
        let directory = self
            .target
            .join(if is_optimised { "release" } else { "debug" });
        let dependencies = directory.join("deps");
        let library = directory.join("libgym_telemetry_api.rlib");
        let async_trait = newest(&dependencies, "libasync_trait-", DLL_SUFFIX)?;
        Ok(vec![
            "-L".into(),
            joined("dependency=", &dependencies),
            "--extern".into(),
            joined("gym_telemetry_api=", &library),
            "--extern".into(),
            joined("async_trait=", &async_trait),
        ])
    }
}

fn joined(key: &str, path: &Path) -> OsString {
    let mut argument = OsString::from(key);
    argument.push(path);
    argument
}

fn newest(directory: &Path, prefix: &str, suffix: &str) -> Result<PathBuf> {
    let failed = |error| Failure::io("could not list", directory, &error);
    let mut newest = None;
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(prefix) && name.ends_with(suffix) {
            let modified = entry
                .metadata()
                .and_then(|data| data.modified())
                .map_err(failed)?;
            newest = newest.max(Some((modified, entry.path())));
        }
    }
    newest
        .map(|(_, path)| path)
        .ok_or_else(|| Failure::new(format!("no {prefix}*{suffix} in {}", directory.display())))
}
