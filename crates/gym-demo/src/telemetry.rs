//! The telemetry settings of a run.

use std::fmt::{Display, Write as _};
use std::fs::File;
use std::path::Path;
use std::process::Command;

use gym_telemetry_api::{
    DEFAULT_SHUTDOWN_BUDGET, TELEMETRY_COMPILED_IN, TelemetryHandle, configure_telemetry_env,
    init_telemetry, install_log_bridge, load_telemetry_config,
};
use gym_telemetry_core::receipt::{Outcome, SignalReceipt};
use gym_telemetry_core::{ChildEnv, ConfigSource, ServerIdentity, env};

use crate::failure::{Failure, chain};
use crate::say;
use crate::servers::environment;

/// The configuration of a run without `--config`.
const EXAMPLE: &str = include_str!("../assets/example.yaml");

/// Any of these says where telemetry goes, so the example does not; so do the variables of [`env::EXPORTER`].
const DESTINATIONS: [&str; 7] = [
    env::OTEL_TRACES_EXPORTER,
    env::OTEL_METRICS_EXPORTER,
    env::OTEL_LOGS_EXPORTER,
    env::OTEL_EXPORTER_OTLP_ENDPOINT,
    env::OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
    env::OTEL_EXPORTER_OTLP_METRICS_ENDPOINT,
    env::OTEL_EXPORTER_OTLP_LOGS_ENDPOINT,
];

/// Reads the configuration, or the example, and settles what this process and its servers do.
///
/// `None`: telemetry is off.
///
/// # Errors
///
/// A file that cannot be read or holds a bad setting.
pub(crate) fn configure(file: Option<&Path>) -> Result<Option<ChildEnv>, Failure> {
    if !TELEMETRY_COMPILED_IN {
        if switch() != Some(false) {
            match file {
                Some(file) => say_compiled_out(format_args!(
                    "the settings in {} are not read",
                    file.display()
                )),
                None => say_compiled_out("nothing is recorded"),
            }
        }
        return Ok(None);
    }
    let source = file.map_or_else(|| ConfigSource::yaml(example()), ConfigSource::path);
    let config = load_telemetry_config(&source).map_err(|error| Failure::usage(chain(&error)))?;
    Ok(configure_telemetry_env(Some(&config)))
}

fn example() -> String {
    if env::EXPORTER.names().chain(DESTINATIONS).any(is_set) {
        EXAMPLE.to_owned()
    } else {
        format!("{EXAMPLE}  exporter: console\n")
    }
}

/// Says that a server was told to have telemetry and was built without, unless the orchestrator has said so.
pub(crate) fn warn_if_compiled_out() {
    if !TELEMETRY_COMPILED_IN && switch() == Some(true) && !is_set(environment::WARNED) {
        say_compiled_out("nothing is recorded");
    }
}

/// Tells a server of the same build not to repeat what this process has said.
pub(crate) fn spare_the_warning(command: &mut Command) {
    if !TELEMETRY_COMPILED_IN {
        command.env(environment::WARNED, "1");
    }
}

fn say_compiled_out(consequence: impl Display) {
    say::note(format_args!(
        "telemetry is not compiled in, {consequence}: build with `--features telemetry`"
    ));
}

/// What the environment says about telemetry, if it says anything; a word that nobody knows is no yes.
fn switch() -> Option<bool> {
    let word = env::ENABLED.names().find_map(variable)?;
    Some(
        ["1", "true", "yes", "on"]
            .iter()
            .any(|yes| word.eq_ignore_ascii_case(yes)),
    )
}

fn is_set(name: &str) -> bool {
    variable(name).is_some()
}

/// A blank variable counts as unset.
fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?.to_string_lossy().trim().to_owned();
    if value.is_empty() { None } else { Some(value) }
}

/// Makes the file the standard output of this process: the console exporter writes there.
pub(crate) fn direct_stdout(path: &Path) -> Result<(), Failure> {
    let directed = File::create(path).and_then(|file| Ok(rustix::stdio::dup2_stdout(file)?));
    directed.map_err(|error| Failure::run(format!("cannot write {}: {error}", path.display())))
}

/// The telemetry of this process, which may be off.
#[derive(Debug)]
#[must_use = "what was recorded last is lost without a shutdown"]
pub(crate) struct Telemetry(Option<TelemetryHandle>);

impl Telemetry {
    /// Starts it, if the environment or the configuration wants it.
    pub(crate) fn start(identity: ServerIdentity) -> Self {
        let telemetry = init_telemetry(identity);
        install_log_bridge();
        Self(telemetry)
    }

    /// Exports what is left, within the budget, and says what was lost.
    pub(crate) fn shut_down(self) {
        let Some(handle) = self.0 else { return };
        let receipt = handle.shutdown(DEFAULT_SHUTDOWN_BUDGET);
        let signals = [
            ("spans", &receipt.traces),
            ("metrics", &receipt.metrics),
            ("log records", &receipt.logs),
        ];
        for (what, signal) in signals {
            if !signal.is_complete() {
                say::note(format_args!(
                    "telemetry was lost: {}",
                    describe(what, signal)
                ));
            }
        }
    }
}

fn describe(what: &str, signal: &SignalReceipt) -> String {
    let mut text = format!("{what}: {} exported", signal.exported);
    if signal.failed > 0 {
        _ = write!(text, ", {} not delivered", signal.failed);
    }
    for (reason, count) in &signal.dropped {
        _ = write!(text, ", {count} dropped ({})", reason.as_str());
    }
    match &signal.outcome {
        Outcome::TimedOut => text.push_str(", out of time"),
        Outcome::Failed(reason) => _ = write!(text, ", {reason}"),
        _ => {}
    }
    text
}
