//! `gym-demo env`: the hand-over for servers that something else starts.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{Write, stdout};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use gym_telemetry_core::{ChildEnv, env, mask};

use crate::cli::EnvArgs;
use crate::failure::Failure;
use crate::{say, telemetry};

/// Prints or writes the variables, one on each line, in the order of their names.
pub(crate) fn env(args: &EnvArgs) -> Result<(), Failure> {
    let Some(hand_over) = telemetry::configure(Some(&args.config))? else {
        say::note("telemetry is off: servers need no variable");
        return Ok(());
    };
    let variables = variables(&hand_over)?;
    if let Some(path) = &args.out {
        return write_secret(path, &lines(variables))
            .map_err(|error| Failure::run(format!("cannot write {}: {error}", path.display())));
    }
    let mask = |(name, value): (&String, &String)| {
        (name.clone(), mask::variable(name, value).into_owned())
    };
    let masked: BTreeMap<_, _> = variables.iter().map(mask).collect();
    if masked != variables {
        say::note("secrets are masked: use --out FILE to have them written");
    }
    let text = lines(masked);
    stdout()
        .write_all(text.as_bytes())
        .map_err(|error| Failure::run(format!("cannot print: {error}")))
}

/// What a server that this process starts would see: the telemetry variables of its own environment, and the
/// hand-over where those say nothing.
fn variables(hand_over: &ChildEnv) -> Result<BTreeMap<String, String>, Failure> {
    let mut variables = BTreeMap::new();
    for (name, value) in std::env::vars_os() {
        // Names and values that are no text cannot be telemetry settings.
        let (Ok(name), Ok(value)) = (name.into_string(), value.into_string()) else {
            continue;
        };
        if env::is_telemetry_variable(&name) && !value.trim().is_empty() {
            variables.insert(name, value);
        }
    }
    variables.extend(
        hand_over
            .vars()
            .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    match variables
        .iter()
        .find(|(_, value)| value.contains(['\n', '\r']))
    {
        None => Ok(variables),
        Some((name, _)) => Err(Failure::usage(format!(
            "{name} holds a line break: it cannot be handed over as KEY=VALUE"
        ))),
    }
}

fn lines(variables: BTreeMap<String, String>) -> String {
    variables
        .into_iter()
        .fold(String::new(), |text, (name, value)| {
            text + &name + "=" + &value + "\n"
        })
}

/// Writes a file that only its owner can read, from the first byte on.
fn write_secret(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    // The mode above is for a new file only.
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    file.write_all(text.as_bytes())
}
