//! What is asked before anything is set up.

use gym_telemetry_core::MemoryProfilingConfig;
use gym_telemetry_core::env;

use crate::handover::is_switched_on;
use crate::settings::{self, Lookup};
use crate::test_env::Vars;

#[test]
fn the_cheap_gates_answer_without_errors() {
    for (vars, enabled, metrics) in [
        (vec![], false, true),
        (vec![("NEMO_LENS_ENABLED", " YES ")], true, true),
        (
            vec![("NEMO_GYM_OTEL_ENABLED", "0"), ("NEMO_LENS_ENABLED", "1")],
            false,
            true,
        ),
        (
            vec![
                ("NEMO_GYM_OTEL_ENABLED", "maybe"),
                ("NEMO_LENS_ENABLED", "1"),
            ],
            false,
            true,
        ),
        (
            vec![("NEMO_GYM_OTEL_ENABLED", ""), ("NEMO_LENS_ENABLED", "1")],
            true,
            true,
        ),
        (vec![("NEMO_LENS_METRICS_ENABLED", "0")], false, false),
        (
            vec![
                ("NEMO_GYM_OTEL_METRICS_ENABLED", "1"),
                ("NEMO_LENS_METRICS_ENABLED", "0"),
            ],
            false,
            true,
        ),
        (
            vec![("NEMO_GYM_OTEL_METRICS_ENABLED", "sure")],
            false,
            false,
        ),
        (
            vec![
                ("NEMO_GYM_OTEL_ENABLED", "1"),
                ("OTEL_SDK_DISABLED", " True "),
            ],
            false,
            false,
        ),
        (
            vec![("NEMO_GYM_OTEL_ENABLED", "1"), ("OTEL_SDK_DISABLED", "1")],
            true,
            true,
        ),
    ] {
        let env = Vars::new(&vars);
        assert_eq!(
            is_switched_on(&env, env::ENABLED, false),
            enabled,
            "{vars:?}"
        );
        assert_eq!(
            is_switched_on(&env, env::METRICS_ENABLED, true),
            metrics,
            "{vars:?}"
        );
    }
    let junk =
        Vars::new(&[("NEMO_LENS_ENABLED", "1")]).with_bytes("NEMO_GYM_OTEL_ENABLED", b"\xff");
    assert!(is_switched_on(&junk, env::ENABLED, false));
}

#[test]
fn memory_profiling_takes_the_environment_over_the_defaults() {
    let read = |vars: &[(&str, &str)], defaults| {
        let env = Vars::new(vars);
        settings::memory_profiling(&mut Lookup::new(&env), defaults)
    };
    let mut defaults = MemoryProfilingConfig::default();
    defaults.enabled = true;
    defaults.interval_seconds = 5.0;
    assert_eq!(read(&[], defaults).expect("defaults"), defaults);
    let interval = "NEMO_GYM_OTEL_MEMORY_PROFILING_INTERVAL_SECONDS";
    let config = read(&[(interval, "0.25")], defaults).expect("valid");
    assert_eq!((config.enabled, config.interval_seconds), (true, 0.25));
    let config = read(
        &[("NEMO_GYM_OTEL_MEMORY_PROFILING_ENABLED", "off")],
        defaults,
    )
    .expect("valid");
    assert_eq!((config.enabled, config.interval_seconds), (false, 5.0));
    for garbage in ["0", "-1", "NaN", "inf", "fast"] {
        let error = read(&[(interval, garbage)], defaults).expect_err(garbage);
        assert_eq!(error.field(), Some(interval));
        assert!(error.to_string().contains("interval_seconds"), "{error}");
    }
}
