//! An environment without telemetry settings.

use std::ffi::{OsStr, OsString};
use std::process::Command;

use super::{GYM_PREFIX, LENS_PREFIX, OTEL_PREFIX};

/// Carries of trace context that a child inherits without anyone having asked for it.
const CONTEXT_VARIABLES: [&str; 3] = ["TRACEPARENT", "TRACESTATE", "BAGGAGE"];

/// Removes every telemetry setting from the environment of a child process.
///
/// Use it for tools, sandboxes and other user code: they must not export to the run's collector, and must not see
/// its credentials. It removes `OTEL_*`, `NEMO_GYM_OTEL_*` and `NEMO_LENS_*`, whether inherited or set on `command`,
/// and `TRACEPARENT`, `TRACESTATE` and `BAGGAGE` where inherited; one that was set on `command` stays. Call it after
/// the variables of `command` are set. Names and values that are not UTF-8 are passed on as they are.
///
/// ```
/// use std::process::Command;
///
/// let mut command = Command::new("tool");
/// command.env("OTEL_EXPORTER_OTLP_HEADERS", "authorization=secret").env("LANG", "C");
/// gym_telemetry_core::env::scrub(&mut command);
/// let set: Vec<_> = command.get_envs().filter(|(_, value)| value.is_some()).collect();
/// assert_eq!(set, [("LANG".as_ref(), Some("C".as_ref()))]);
/// ```
pub fn scrub(command: &mut Command) {
    let explicit = command.get_envs().map(|(name, _)| name.to_owned());
    let mut remove: Vec<OsString> = explicit
        .filter(|name| is_telemetry_variable(name))
        .collect();
    // `vars_os` never panics; `vars` would, on the first variable that is not UTF-8.
    for (name, _) in std::env::vars_os() {
        let is_context = CONTEXT_VARIABLES.iter().any(|context| same(&name, context));
        if is_telemetry_variable(&name) || (is_context && !sets(command, &name)) {
            remove.push(name);
        }
    }
    for name in remove {
        command.env_remove(name);
    }
}

/// Whether a variable is a telemetry setting: `OTEL_*`, `NEMO_GYM_OTEL_*` or `NEMO_LENS_*`.
#[must_use]
pub fn is_telemetry_variable(name: impl AsRef<OsStr>) -> bool {
    let name = name.as_ref().as_encoded_bytes();
    [OTEL_PREFIX, GYM_PREFIX, LENS_PREFIX].iter().any(|prefix| {
        name.get(..prefix.len())
            .is_some_and(|start| same_bytes(start, prefix.as_bytes()))
    })
}

fn sets(command: &Command, name: &OsStr) -> bool {
    command
        .get_envs()
        .any(|(known, value)| value.is_some() && known == name)
}

fn same(name: &OsStr, other: &str) -> bool {
    same_bytes(name.as_encoded_bytes(), other.as_bytes())
}

/// Compares names as the operating system does.
fn same_bytes(left: &[u8], right: &[u8]) -> bool {
    if cfg!(windows) {
        left.eq_ignore_ascii_case(right)
    } else {
        left == right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_three_families_are_telemetry() {
        for name in [
            "OTEL_",
            "OTEL_SERVICE_NAME",
            "NEMO_GYM_OTEL_ENABLED",
            "NEMO_LENS_RUN_ID",
        ] {
            assert!(is_telemetry_variable(name), "{name}");
        }
        for name in [
            "",
            "OTEL",
            "MY_OTEL_X",
            "NEMO_GYM_CONFIG",
            "NEMO_GYM_OTEL",
            "HOTEL_ROOM",
            "PATH",
        ] {
            assert!(!is_telemetry_variable(name), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_utf8_are_compared_by_bytes() {
        use std::os::unix::ffi::OsStrExt;
        assert!(is_telemetry_variable(OsStr::from_bytes(b"OTEL_\xff")));
        assert!(!is_telemetry_variable(OsStr::from_bytes(b"\xffOTEL_X")));
    }
}
