//! Which flags are on.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

#[test]
fn a_setting_switches_exactly_what_it_selects() {
    let mut registry = own();
    assert_eq!(enabled(&registry), [""; 0]);
    assert_eq!(registry.apply_spec("default,verify"), None);
    assert_eq!(
        enabled(&registry),
        ["http_client", "job", "rollout", "server", "verify"]
    );
    assert_eq!(registry.apply_spec("sandbox"), None);
    assert_eq!(enabled(&registry), ["sandbox"]);
}

#[test]
fn a_registration_after_the_setting_obeys_it() {
    let mut registry = own();
    let training = group("training");
    assert!(registry.apply_spec("default,training").is_some());
    registry
        .register(&library(&[training], &[]))
        .expect("the names are valid");
    assert!(training.is_enabled());
    registry.unregister("library");
    assert!(!training.is_enabled());
    assert_eq!(enabled(&registry), DEFAULT);
}

#[test]
fn all_follows_later_registrations() {
    let mut registry = own();
    assert_eq!(registry.apply_spec("all"), None);
    let training = group("training");
    registry
        .register(&library(&[training], &[]))
        .expect("the names are valid");
    assert!(training.is_enabled());
}

#[test]
fn a_second_registration_replaces_the_first() {
    let mut registry = own();
    let (old, kept, new) = (group("old"), group("kept"), group("new"));
    assert_eq!(registry.apply_spec("all"), None);
    let presets = [Preset {
        name: "mine",
        members: &["old"],
    }];
    for _ in 0..2 {
        registry
            .register(&library(&[old, kept], &presets))
            .expect("the names are valid");
    }
    assert!(old.is_enabled() && kept.is_enabled());
    assert_eq!(selected(&registry, "mine"), ["old"]);

    registry
        .register(&library(&[kept, new], &[]))
        .expect("the names are valid");
    assert!(!old.is_enabled() && kept.is_enabled() && new.is_enabled());
    assert_eq!(registry.resolve("mine,old").unknown, ["mine", "old"]);
    assert_eq!(registry.find("old"), None);
}

#[test]
fn a_group_that_two_libraries_registered_stays_on_until_both_are_gone() {
    let mut registry = own();
    let shared = group("shared");
    registry
        .register(&library(&[shared], &[]))
        .expect("the names are valid");
    registry
        .register(&Registration {
            namespace: "other",
            groups: &[shared],
            presets: &[],
        })
        .expect("the names are valid");
    assert_eq!(registry.apply_spec("shared"), None);
    registry.unregister("library");
    assert!(shared.is_enabled());
    registry.unregister("other");
    assert!(!shared.is_enabled());
}

#[test]
fn pinned_groups_ignore_setting_and_registrations() {
    let mut registry = own();
    assert_eq!(registry.apply_spec("all"), None);
    registry.pin(&[]);
    assert_eq!(enabled(&registry), [""; 0]);
    let training = group("training");
    registry
        .register(&library(&[training], &[]))
        .expect("the names are valid");
    assert!(!training.is_enabled());

    registry.pin(&[training]);
    assert_eq!(enabled(&registry), ["training"]);
    registry
        .register(&library(&[training, group("eval")], &[]))
        .expect("the names are valid");
    assert_eq!(enabled(&registry), ["training"]);
}

#[test]
fn a_pinned_group_needs_no_registration_and_goes_off_with_the_pin() {
    let mut registry = own();
    let loose = group("loose");
    registry.pin(&[loose]);
    assert!(loose.is_enabled());
    assert_eq!(registry.apply_spec("all"), None);
    assert!(!loose.is_enabled());
    registry.pin(&[loose]);
    registry.pin(&[]);
    assert!(!loose.is_enabled());
}

#[test]
fn the_own_groups_can_be_taken_away() {
    let mut registry = own();
    assert_eq!(registry.apply_spec("default"), None);
    let job = registry.find("job").expect("is registered");
    registry.unregister("unknown");
    assert!(job.is_enabled());
    registry.unregister("nemo_gym");
    assert!(!job.is_enabled());
    let reports = registry.unreported();
    assert!(
        reports.len() == 1 && reports[0].contains("no span group is registered"),
        "{reports:?}"
    );
}

#[test]
fn a_group_that_stays_selected_is_never_off_in_between() {
    let mut registry = own();
    let training = group("training");
    let groups = [training];
    let registration = library(&groups, &[]);
    registry
        .register(&registration)
        .expect("the names are valid");
    assert_eq!(registry.apply_spec("all"), None);
    let (started, done) = (std::sync::Barrier::new(2), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            started.wait();
            while !done.load(Ordering::Relaxed) {
                assert!(training.is_enabled());
            }
        });
        started.wait();
        for _ in 0..3_000 {
            registry
                .register(&registration)
                .expect("the names are valid");
        }
        done.store(true, Ordering::Relaxed);
        watcher.join().expect("the group is never seen off");
    });
}
