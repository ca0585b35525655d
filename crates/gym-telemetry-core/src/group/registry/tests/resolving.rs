//! What a setting selects, and what can be registered.

use super::*;

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
