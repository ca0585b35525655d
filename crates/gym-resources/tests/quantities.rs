//! Reads every quantity of the fixture: a text, and the amount it means or that it means none.

use gym_resources::{Cores, Gibibytes, Mebibytes, gpu_count_from_quantity};
use serde_json::Value;

fn cases() -> Vec<Value> {
    let fixture: Value = serde_json::from_str(include_str!("fixtures/quantities.json"))
        .expect("the fixture is JSON");
    fixture["cases"]
        .as_array()
        .expect("cases is a list")
        .clone()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "the fixture's device counts are small"
)]
fn read(kind: &str, text: &str) -> Result<f64, String> {
    match kind {
        "cpu" => Cores::from_quantity(text).map(Cores::get),
        "memory" => Mebibytes::from_quantity(text).map(Mebibytes::get),
        "disk" => Gibibytes::from_quantity(text).map(Gibibytes::get),
        "gpu" => gpu_count_from_quantity(text).map(|count| count as f64),
        other => panic!("unknown kind {other}"),
    }
    .map_err(|error| error.to_string())
}

#[test]
fn every_quantity_is_read_exactly_or_refused() {
    let cases = cases();
    assert!(cases.len() > 150, "the fixture is whole");
    for case in cases {
        let text = case["text"].as_str().expect("text");
        let found = read(case["kind"].as_str().expect("kind"), text);
        match case.get("value").and_then(Value::as_f64) {
            Some(value) => assert_eq!(
                found.as_ref().map(|amount| amount.to_bits()),
                Ok(value.to_bits()),
                "{} {text:.60}: {found:?}, not {value}",
                case["id"]
            ),
            None => assert!(found.is_err(), "{} {text:.60}: {found:?}", case["id"]),
        }
    }
}

#[test]
fn canonical_texts_are_kubernetes_own() {
    let mut compared = 0;
    for case in cases() {
        let (text, canonical) = (
            case["text"].as_str().expect("text"),
            case["kubernetes"]["canonical"].as_str(),
        );
        let exponent = text.contains(['e', 'E']) && !text.ends_with("Ei") && !text.ends_with('E');
        let written = match case["kind"].as_str() {
            Some("cpu") if !text.ends_with('i') => {
                Cores::from_quantity(text).map(Cores::to_quantity)
            }
            Some("memory") if text.ends_with('i') => {
                Mebibytes::from_quantity(text).map(Mebibytes::to_quantity)
            }
            Some("disk") if text.ends_with('i') => {
                Gibibytes::from_quantity(text).map(Gibibytes::to_quantity)
            }
            _ => continue,
        };
        // Kubernetes keeps exponents, plus signs, leading zeros and a bare dot as they were written.
        let kept = exponent
            || text.starts_with('+')
            || text.starts_with("00")
            || text.contains("5.m")
            || case.get("ambiguous").is_some();
        let capped = canonical.is_some_and(|canonical| canonical == "9223372036854775807");
        if let (Ok(written), Some(canonical), false, false) = (written, canonical, kept, capped) {
            // Above 17 digits the nearest float is not the text itself.
            if text.len() < 17 {
                assert_eq!(written, canonical, "{} {text}", case["id"]);
                compared += 1;
            }
        }
    }
    assert!(compared > 40, "only {compared} texts were compared");
}
