//! The serde form of requests and amounts.
#![cfg(feature = "serde")]

use gym_resources::{SandboxResourceAmounts, SandboxResources};

#[test]
fn a_request_round_trips_and_leaves_out_what_is_not_stated() {
    let text = r#"{"cpu":2.0,"memory_mib":4096,"gpu":0}"#;
    let request: SandboxResources = serde_json::from_str(text).expect("a valid request");
    assert_eq!(serde_json::to_string(&request).expect("serialisable"), text);
}

#[test]
fn a_request_names_unknown_fields_and_refuses_fractions() {
    let unknown = serde_json::from_str::<SandboxResources>(r#"{"memory":1}"#).expect_err("unknown");
    assert!(unknown.to_string().contains("memory_mib"), "{unknown}");
    assert!(serde_json::from_str::<SandboxResources>(r#"{"memory_mib":1.5}"#).is_err());
}

#[test]
fn amounts_take_fractions_and_refuse_negatives() {
    let amounts: SandboxResourceAmounts =
        serde_json::from_str(r#"{"memory_mib":1.5}"#).expect("a fraction");
    assert_eq!(
        amounts.memory_mib.map(gym_resources::Mebibytes::get),
        Some(1.5)
    );
    assert!(serde_json::from_str::<SandboxResourceAmounts>(r#"{"cpu":-1}"#).is_err());
}
