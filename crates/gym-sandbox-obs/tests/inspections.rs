//! Reads every inspection text of the fixtures and compares with the right answer beside it.
#![cfg(feature = "opensandbox")]

use std::path::{Path, PathBuf};

use gym_resources::{Cores, Gibibytes, Mebibytes, SandboxResourceAmounts};
use gym_sandbox_obs::Unavailable;
use gym_sandbox_obs::opensandbox::inspect;
use serde_json::{Map, Value, json};

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/inspect/cases");
    let mut cases: Vec<_> = std::fs::read_dir(folder)
        .expect("the fixtures are there")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    cases.sort();
    cases
}

fn amounts(amounts: &SandboxResourceAmounts) -> Value {
    let mut map = Map::new();
    let mut put =
        |key: &str, value: Option<Value>| value.map(|value| map.insert(key.to_owned(), value));
    put("cpu", amounts.cpu.map(|cpu| json!(Cores::get(cpu))));
    put(
        "memory_mib",
        amounts
            .memory_mib
            .map(|memory| json!(Mebibytes::get(memory))),
    );
    put(
        "disk_gib",
        amounts.disk_gib.map(|disk| json!(Gibibytes::get(disk))),
    );
    put("gpu", amounts.gpu.map(|gpu| json!(gpu)));
    put(
        "gpu_type",
        amounts.gpu_type.as_ref().map(|kind| json!(kind)),
    );
    Value::Object(map)
}

/// The answer in the fixtures' own shape.
fn answer(text: &str) -> Value {
    match inspect::parse(text) {
        Ok(inspection) => json!({
            "status": "available",
            "error": null,
            "components": inspection.components.iter().map(|component| json!({
                "name": component.name,
                "requests": amounts(&component.requests),
                "limits": amounts(&component.limits),
            })).collect::<Vec<_>>(),
            "designator": inspection.designator.map(|(kind, id)| json!({ "kind": kind.as_str(), "id": id })),
            "host": inspection.node.map(|node| json!({ "kind": "kubernetes-node", "id": node })),
        }),
        Err(error) => json!({
            "status": "unavailable",
            "error": error.error_type(),
            "components": [],
            "designator": null,
            "host": null,
        }),
    }
}

/// The right answer, with the fixtures' error labels turned into the names on the wire.
fn expected(case: &Value) -> Value {
    let error = case["error"]["kind"].as_str().map(|kind| match kind {
        "no_supported_quantity" => Unavailable::NoSupportedResources.error_type(),
        "malformed_quantity" => Unavailable::MalformedQuantity.error_type(),
        _ => Unavailable::UnrecognizedResponse.error_type(),
    });
    let mut expected = case.clone();
    expected["error"] = json!(error);
    expected
}

#[test]
fn every_inspection_is_read_as_it_should_be() {
    let cases = cases();
    assert!(cases.len() > 40, "the fixtures are whole");
    for path in cases {
        let text =
            std::fs::read_to_string(path.with_extension("txt")).expect("a text beside the answer");
        let case: Value =
            serde_json::from_str(&std::fs::read_to_string(&path).expect("readable")).expect("JSON");
        let (found, expected) = (answer(&text), expected(&case));
        for key in ["status", "error", "components", "designator", "host"] {
            assert_eq!(
                numbers(&found[key]),
                numbers(&expected[key]),
                "{key} of {}",
                path.display()
            );
        }
    }
}

#[test]
fn no_shortened_inspection_is_read_as_a_whole_one_with_other_amounts() {
    for path in cases() {
        let text =
            std::fs::read_to_string(path.with_extension("txt")).expect("a text beside the answer");
        for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
            // Whatever it says, it neither panics nor loops.
            let _ = inspect::parse(&text[..end]);
        }
    }
}

/// Writes whole floats as integers, so that `1.0` and `1` compare equal.
fn numbers(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.iter().map(numbers).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), numbers(value)))
            .collect(),
        other => other.clone(),
    }
}
