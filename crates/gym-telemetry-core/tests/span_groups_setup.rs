//! Setting a process up, and libraries that come before and after. Alone in its process: the flags are global.

use std::sync::Mutex;

use gym_telemetry_core::SpanGroup;
use gym_telemetry_core::group::{self, JOB, Preset, Registration, SANDBOX, VERIFY};

static EARLY: SpanGroup = SpanGroup::new("job");
static LATE: SpanGroup = SpanGroup::new("late");
static REPORTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn keep(text: &str) {
    // A hook may use the registry: no lock is held.
    assert!(SpanGroup::find("verify").is_some());
    group::unregister("nobody");
    REPORTS
        .lock()
        .expect("no test panicked")
        .push(text.to_owned());
}

fn reports() -> Vec<String> {
    std::mem::take(&mut REPORTS.lock().expect("no test panicked"))
}

#[test]
fn a_process_is_set_up_and_shut_down() {
    let early = Registration {
        namespace: "early",
        groups: &[&EARLY],
        presets: &[],
    };
    group::register(&early).expect("the names are valid");
    assert!(reports().is_empty());

    // What came up before is handed over when there is somebody to hear it.
    group::set_report_hook(keep);
    let texts = reports();
    assert!(
        texts.len() == 1 && texts[0].contains("\"early\""),
        "{texts:?}"
    );

    let text = group::apply_spec("default,sandbx").expect("one name is unknown");
    assert!(
        text.contains("\"sandbx\"") && text.contains("sandbox"),
        "{text}"
    );
    assert_eq!(
        group::apply_spec("default,sandbx"),
        None,
        "the same is not said again"
    );
    assert!(JOB.is_enabled() && EARLY.is_enabled() && !SANDBOX.is_enabled());

    let late = Registration {
        namespace: "late",
        groups: &[&LATE],
        presets: &[Preset {
            name: "default",
            members: &["late", "later"],
        }],
    };
    group::register(&late).expect("the names are valid");
    assert!(LATE.is_enabled());
    let texts = reports();
    assert!(
        texts.len() == 1 && texts[0].contains("\"later\""),
        "{texts:?}"
    );
    group::register(&late).expect("registering again is harmless");
    assert!(reports().is_empty() && LATE.is_enabled());

    group::pin(&[&VERIFY]);
    assert!(VERIFY.is_enabled() && !JOB.is_enabled() && !LATE.is_enabled());
    group::pin(&[]);
    group::register(&late).expect("the names are valid");
    assert!(
        !VERIFY.is_enabled() && !LATE.is_enabled(),
        "nothing opens a process that was shut down"
    );
    assert!(reports().is_empty());
}
