//! The table of the fields against what the code does with them.

use std::collections::BTreeSet;

use gym_telemetry_core::TelemetryConfig;
use gym_telemetry_core::config::{FIELDS, FieldKind, FieldVariable};

use super::super::fields::{Target, fields};

#[test]
fn the_table_of_fields_has_the_variables_and_defaults_that_are_published() {
    let published = fields(&TelemetryConfig::default());
    assert_eq!(published.len(), FIELDS.len());
    for field in &published {
        let row = FIELDS.iter().find(|row| row.name == field.name);
        let row = row.unwrap_or_else(|| panic!("{} is not in the table", field.name));
        let target = match row.variable {
            FieldVariable::Setting(setting) => Target::Setting(setting),
            FieldVariable::Standard(name) => Target::Standard(name),
            other => panic!("{other:?}"),
        };
        assert_eq!(field.target, target, "{}", field.name);
        assert_eq!(
            field.boolean.is_some(),
            row.kind == FieldKind::Boolean,
            "{}",
            field.name
        );
        let default = match field.boolean {
            Some(value) => value.to_string(),
            None => field.value.clone(),
        };
        assert_eq!(default, row.default.unwrap_or_default(), "{}", field.name);
    }
}

#[test]
fn the_schema_for_editors_has_every_field_of_the_table() {
    let text = include_str!("../../../../../docs/telemetry.schema.json");
    let schema: serde_json::Value = serde_json::from_str(text).expect("the schema is JSON");
    let names = |properties: &serde_json::Value| -> BTreeSet<String> {
        let properties = properties.as_object().expect("properties");
        properties.keys().cloned().collect()
    };
    let block = &schema["properties"]["telemetry"]["properties"];
    let nested = &block["memory_profiling"]["properties"];
    let mut found: BTreeSet<_> = names(block);
    assert!(found.remove("memory_profiling"), "{found:?}");
    for retired in ["export_rank", "export_strategy"] {
        assert!(found.remove(retired), "{retired}");
        assert_eq!(block[retired]["deprecated"], true);
    }
    let nested = names(nested);
    found.extend(nested.iter().map(|name| format!("memory_profiling.{name}")));
    let expected: BTreeSet<_> = FIELDS.iter().map(|row| row.name.to_owned()).collect();
    assert_eq!(found, expected);
}
