//! What people are told, and how often.

use super::*;

#[test]
fn an_empty_registry_is_reported_in_other_words() {
    let registry = Registry::default();
    let unknown = registry.resolve("job").warning().expect("is unknown");
    assert!(unknown.contains("no span group is registered"), "{unknown}");
    let nothing = registry.resolve("all").warning().expect("selects nothing");
    assert!(
        nothing.contains("no span group is registered") && nothing != unknown,
        "{nothing}"
    );
}

#[test]
fn a_preset_without_registered_members_is_reported_as_selecting_nothing() {
    let mut registry = own();
    registry
        .register(&library(
            &[],
            &[Preset {
                name: "later",
                members: &["training"],
            }],
        ))
        .expect("the names are valid");
    let text = registry
        .resolve("later")
        .warning()
        .expect("selects nothing");
    assert!(text.contains("\"later\" selects no group"), "{text}");
}

#[test]
fn a_report_of_a_hostile_setting_is_short_and_on_one_line() {
    let entry = format!("a\n\u{1b}[31m{}", "é".repeat(1000));
    let spec: Vec<_> = (0..1000).map(|n| format!("{entry}{n}")).collect();
    let text = own()
        .resolve(&spec.join(","))
        .warning()
        .expect("is unknown");
    assert!(
        text.len() < 16 * 1024 && text.contains("984 more"),
        "{text}"
    );
    assert!(!text.chars().any(char::is_control), "{text}");
}

#[test]
fn libraries_that_share_a_name_share_the_switch_and_it_is_reported() {
    let mut registry = own();
    assert_eq!(registry.unreported(), [""; 0]);
    let theirs = group("job");
    registry
        .register(&library(&[theirs], &[]))
        .expect("the names are valid");
    let reports = registry.unreported();
    assert_eq!(reports.len(), 1);
    for part in ["\"job\"", "\"library\"", "\"nemo_gym\""] {
        assert!(reports[0].contains(part), "{part} is not in {}", reports[0]);
    }
    assert_eq!(registry.apply_spec("job"), None);
    assert!(theirs.is_enabled() && registry.find("job").is_some_and(SpanGroup::is_enabled));
    assert_eq!(selected(&registry, "job"), ["job"], "one name is one group");

    registry.unregister("library");
    assert!(!theirs.is_enabled() && registry.find("job").is_some_and(SpanGroup::is_enabled));
}

#[test]
fn a_preset_member_that_nobody_has_is_reported_and_works_later() {
    let mut registry = own();
    let presets = [Preset {
        name: "mine",
        members: &["training", "job"],
    }];
    registry
        .register(&library(&[], &presets))
        .expect("the names are valid");
    let reports = registry.unreported();
    assert_eq!(reports.len(), 1);
    assert!(
        reports[0].contains("\"training\"") && reports[0].contains("\"mine\""),
        "{}",
        reports[0]
    );

    assert_eq!(registry.apply_spec("mine"), None);
    assert_eq!(enabled(&registry), ["job"]);
    let training = group("training");
    let other = Registration {
        namespace: "other",
        groups: &[training],
        presets: &[],
    };
    registry.register(&other).expect("the names are valid");
    assert!(training.is_enabled());
    assert_eq!(registry.unreported(), [""; 0]);
}

#[test]
fn a_condition_is_reported_once_even_if_other_things_change() {
    let mut registry = own();
    assert!(registry.apply_spec("default,sandbx").is_some());
    assert_eq!(registry.apply_spec("default,sandbx"), None);
    registry
        .register(&library(&[group("training")], &[]))
        .expect("the names are valid");
    assert_eq!(registry.unreported(), [""; 0]);
    assert_eq!(registry.apply_spec("sandbx"), None);
    assert!(
        registry
            .apply_spec("sandbx,verfy")
            .is_some_and(|text| text.contains("verfy"))
    );
    // Once one of two is known, nothing new is wrong.
    let mut registry = own();
    assert!(registry.apply_spec("training,sandbx").is_some());
    registry
        .register(&library(&[group("training")], &[]))
        .expect("the names are valid");
    assert_eq!(registry.unreported(), [""; 0]);
}

#[test]
fn a_name_that_becomes_unknown_is_reported() {
    let mut registry = own();
    registry
        .register(&library(&[group("training")], &[]))
        .expect("the names are valid");
    assert_eq!(registry.apply_spec("training"), None);
    registry.unregister("library");
    assert_eq!(registry.unreported().len(), 1);
}

#[test]
fn nothing_is_reported_without_a_setting() {
    let mut registry = own();
    registry
        .register(&library(&[group("training")], &[]))
        .expect("the names are valid");
    assert_eq!(registry.unreported(), [""; 0]);
    registry.pin(&[]);
    assert_eq!(registry.unreported(), [""; 0]);
}
