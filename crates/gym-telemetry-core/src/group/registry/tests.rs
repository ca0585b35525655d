use super::*;
use crate::group::registration::OWN;

fn group(name: &'static str) -> &'static SpanGroup {
    Box::leak(Box::new(SpanGroup::new(name)))
}

/// The gym's groups and presets, but with flags of the test's own.
fn own() -> Registry {
    let groups: Vec<_> = OWN.groups.iter().map(|known| group(known.name())).collect();
    let mut registry = Registry::default();
    registry
        .register(&Registration {
            groups: &groups,
            ..OWN
        })
        .expect("the names are valid");
    registry
}

fn library<'a>(groups: &'a [&'static SpanGroup], presets: &'a [Preset<'a>]) -> Registration<'a> {
    Registration {
        namespace: "library",
        groups,
        presets,
    }
}

fn selected(registry: &Registry, spec: &str) -> Vec<&'static str> {
    registry
        .resolve(spec)
        .groups
        .iter()
        .map(|group| group.name())
        .collect()
}

fn enabled(registry: &Registry) -> Vec<&'static str> {
    let mut names: Vec<_> = registry
        .groups()
        .filter(|group| group.is_enabled())
        .map(SpanGroup::name)
        .collect();
    names.sort_unstable();
    names
}

const DEFAULT: [&str; 4] = ["http_client", "job", "rollout", "server"];

#[test]
fn presets_select_their_members() {
    let registry = own();
    assert_eq!(selected(&registry, "default"), DEFAULT);
    assert_eq!(
        selected(&registry, "per_rollout"),
        [
            "agent",
            "http_client",
            "model_call",
            "rollout",
            "server",
            "verify"
        ]
    );
    assert_eq!(
        selected(&registry, "all"),
        OWN.groups
            .iter()
            .map(|group| group.name())
            .collect::<Vec<_>>()
    );
}

#[test]
fn presets_and_groups_mix_in_any_case_with_space_and_blanks() {
    let registry = own();
    let expected = ["http_client", "job", "rollout", "sandbox", "server"];
    for spec in [
        "default,sandbox",
        " DEFAULT , Sandbox ,, ",
        "sandbox,sandbox,default,job",
        "\tdefault,\nsandbox",
    ] {
        let resolution = registry.resolve(spec);
        assert_eq!(selected(&registry, spec), expected, "{spec:?}");
        assert_eq!(resolution.unknown, [""; 0], "{spec:?}");
        assert_eq!(resolution.warning(), None, "{spec:?}");
    }
}

#[test]
fn a_setting_without_entries_selects_nothing_silently() {
    for spec in ["", " ", ",", " , ,"] {
        let resolution = own().resolve(spec);
        assert!(resolution.groups.is_empty(), "{spec:?}");
        assert_eq!(resolution.warning(), None, "{spec:?}");
    }
}

#[test]
fn unknown_entries_are_left_out_and_reported_with_what_is_registered() {
    let registry = own();
    let resolution = registry.resolve("default,Sandbx,sandbx,foo bar");
    assert_eq!(selected(&registry, "default,Sandbx"), DEFAULT);
    assert_eq!(resolution.unknown, ["sandbx", "foo bar"]);
    let text = resolution.warning().expect("something is unknown");
    for part in [
        "\"sandbx\"",
        "\"foo bar\"",
        "sandbox",
        "model_call",
        "per_rollout",
        "all",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

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
fn presets_that_share_a_name_select_the_members_of_all() {
    let mut registry = own();
    let presets = [Preset {
        name: "default",
        members: &["training", "verify"],
    }];
    registry
        .register(&library(&[group("training")], &presets))
        .expect("the names are valid");
    assert_eq!(
        selected(&registry, "default"),
        [
            "http_client",
            "job",
            "rollout",
            "server",
            "training",
            "verify"
        ]
    );
}

#[test]
fn a_name_that_is_both_preset_and_group_selects_both() {
    let mut registry = own();
    let presets = [Preset {
        name: "sandbox",
        members: &["job"],
    }];
    registry
        .register(&library(&[], &presets))
        .expect("the names are valid");
    assert_eq!(selected(&registry, "sandbox"), ["job", "sandbox"]);
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
fn names_that_no_setting_could_select_are_refused() {
    use RegisterErrorKind::{EmptyName, InvalidName, ReservedName};
    let mut registry = own();
    assert_eq!(registry.apply_spec("all"), None);
    for (name, kind) in [
        ("", EmptyName),
        (" \t", EmptyName),
        ("all", ReservedName),
        ("ALL", ReservedName),
        ("Training", InvalidName),
        ("a,b", InvalidName),
        (" a", InvalidName),
        ("a b", InvalidName),
        ("a\u{0}", InvalidName),
    ] {
        let group = group(name);
        let member = [name];
        for registration in [
            library(&[group], &[]),
            library(&[], &[Preset { name, members: &[] }]),
            library(
                &[],
                &[Preset {
                    name: "mine",
                    members: &member,
                }],
            ),
        ] {
            let error = registry.register(&registration).expect_err("is refused");
            assert_eq!(error.kind(), kind, "{name:?}: {error}");
            assert!(!error.to_string().chars().any(char::is_control), "{error}");
        }
        assert!(!group.is_enabled());
    }
    for namespace in ["", "  "] {
        let registration = Registration {
            namespace,
            groups: &[],
            presets: &[],
        };
        assert_eq!(
            registry
                .register(&registration)
                .map_err(|error| error.kind()),
            Err(EmptyName)
        );
    }
    assert_eq!(registry.libraries.len(), 1);
}

#[test]
fn a_process_has_at_most_64_groups() {
    let mut registry = own();
    let names: Vec<&'static SpanGroup> = (0..57)
        .map(|n| group(Box::leak(format!("g{n}").into_boxed_str())))
        .collect();
    let error = registry
        .register(&library(&names, &[]))
        .expect_err("is one too many");
    assert_eq!(error.kind(), RegisterErrorKind::TooManyGroups);
    assert_eq!(registry.find("g0"), None, "nothing is registered");
    registry
        .register(&library(&names[..56], &[]))
        .expect("is the largest number");
    registry
        .register(&library(&names[1..], &[]))
        .expect("a replacement does not count twice");
    let shared = Registration {
        namespace: "other",
        groups: &[group("job")],
        presets: &[],
    };
    registry
        .register(&shared)
        .expect("a shared name does not count twice");
    let more = Registration {
        namespace: "more",
        groups: &[group("more")],
        presets: &[],
    };
    assert!(registry.register(&more).is_err());
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
