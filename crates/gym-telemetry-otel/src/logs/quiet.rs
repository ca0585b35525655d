//! What is never exported: records about the export itself.

use std::cell::Cell;

use opentelemetry::logs::Severity;

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Crates that export telemetry. This one says nothing.
const EXPORTERS: [&str; 8] = [
    "opentelemetry",
    "opentelemetry_http",
    "opentelemetry_otlp",
    "opentelemetry_proto",
    "opentelemetry_sdk",
    "opentelemetry_stdout",
    // What these tell in their own name has a hyphen.
    "opentelemetry-otlp",
    "opentelemetry-stdout",
];

/// Crates that exporters are made of, and servers too. Below INFO they tell of every frame.
const TRANSPORTS: [&str; 9] = [
    "h2",
    "hyper",
    "hyper_util",
    "mio",
    "rustls",
    "tokio_rustls",
    "tokio_util",
    "tonic",
    "tower",
];

/// Exports nothing that this thread says from now on.
pub(crate) fn silence_thread() {
    IS_QUIET.set(true);
}

/// Exports nothing that this thread says during `f`.
pub(crate) fn silently<T>(f: impl FnOnce() -> T) -> T {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            IS_QUIET.set(self.0);
        }
    }
    let _guard = Restore(IS_QUIET.replace(true));
    f()
}

pub(crate) fn is_thread_quiet() -> bool {
    IS_QUIET.get()
}

/// Whether records of `target` at this level are exported at all. It is the same for every thread and time.
pub(crate) fn is_wanted(severity: Severity, target: &str) -> bool {
    let name = target.split("::").next().unwrap_or_default();
    !EXPORTERS.contains(&name) && (severity >= Severity::Info || !TRANSPORTS.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exporters_never_speak_and_transports_only_of_what_matters() {
        for (target, at_info, at_debug) in [
            ("my_server::verify", true, true),
            ("", true, true),
            ("hyperion::h2", true, true),
            ("hyper::proto::h1", true, false),
            ("h2", true, false),
            ("opentelemetry_sdk", false, false),
            ("opentelemetry-otlp", false, false),
        ] {
            assert_eq!(is_wanted(Severity::Info, target), at_info, "{target}");
            assert_eq!(is_wanted(Severity::Error, target), at_info, "{target}");
            assert_eq!(is_wanted(Severity::Debug, target), at_debug, "{target}");
            assert_eq!(is_wanted(Severity::Trace, target), at_debug, "{target}");
        }
    }

    #[test]
    fn a_thread_speaks_again_after_a_silence_even_if_it_ends_in_a_panic() {
        let panicked = std::panic::catch_unwind(|| silently(|| panic!("as the test wants")));
        assert!(panicked.is_err() && !is_thread_quiet());
        silently(|| {
            silently(|| ());
            assert!(is_thread_quiet());
        });
        assert!(!is_thread_quiet());
    }
}
