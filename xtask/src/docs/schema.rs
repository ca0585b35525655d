//! The JSON schema of the `telemetry:` block, for editors.

use std::fmt::Write as _;

use gym_telemetry_core::config::{FIELDS, Field, FieldKind};

/// Where the schema is kept.
pub(super) const PATH: &str = "docs/telemetry.schema.json";

/// Keys of earlier versions, which load and mean nothing.
const RETIRED: [&str; 2] = ["export_rank", "export_strategy"];

/// A text that names a variable may stand for a value of any type.
const FILLED: &str = r#"{ "type": "string", "pattern": "\\$\\{oc\\.env:" }"#;

/// Makes the schema.
pub(super) fn text() -> String {
    let mut properties = Vec::new();
    let mut nested: Option<(&str, Vec<String>)> = None;
    for field in FIELDS {
        let Some((outer, inner)) = field.name.split_once('.') else {
            properties.extend(nested.take().map(block));
            properties.push(property(field.name, field));
            continue;
        };
        match &mut nested {
            Some((name, inside)) if *name == outer => inside.push(property(inner, field)),
            _ => {
                properties.extend(nested.take().map(block));
                nested = Some((outer, vec![property(inner, field)]));
            }
        }
    }
    properties.extend(nested.map(block));
    properties.extend(RETIRED.map(|name| {
        format!(
            r#"{}: {{ "deprecated": true, "description": "Has no effect any more." }}"#,
            quoted(name)
        )
    }));
    let telemetry = format!(
        "{{\n\"type\": [\"object\", \"null\"],\n\"additionalProperties\": false,\n\"properties\": {{\n{}\n}}\n}}",
        properties.join(",\n")
    );
    indented(&format!(
        "{{\n\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n\
         \"title\": \"gym-telemetry configuration\",\n\"type\": \"object\",\n\
         \"properties\": {{\n\"telemetry\": {telemetry}\n}}\n}}\n"
    ))
}

fn block((name, properties): (&str, Vec<String>)) -> String {
    format!(
        "{}: {{\n\"type\": [\"object\", \"null\"],\n\"additionalProperties\": false,\n\"properties\": {{\n{}\n}}\n}}",
        quoted(name),
        properties.join(",\n")
    )
}

fn property(name: &str, field: &Field) -> String {
    let is_text = matches!(field.kind, FieldKind::Text | FieldKind::TextOrNumber);
    let value = match field.kind {
        FieldKind::Boolean => r#"{ "type": ["boolean", "null"] }"#.to_owned(),
        FieldKind::TextOrNumber => r#"{ "type": ["string", "number", "null"] }"#.to_owned(),
        FieldKind::OneOf(words) => {
            let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
            format!(r#"{{ "enum": [{}, null] }}"#, words.join(", "))
        }
        FieldKind::Seconds => r#"{ "type": ["number", "null"], "exclusiveMinimum": 0 }"#.to_owned(),
        FieldKind::SecondsOrZero => r#"{ "type": ["number", "null"], "minimum": 0 }"#.to_owned(),
        _ => r#"{ "type": ["string", "null"] }"#.to_owned(),
    };
    let mut text = format!(
        "{}: {{\n\"description\": {}",
        quoted(name),
        quoted(field.meaning)
    );
    if let Some(default) = field.default {
        let is_quoted = is_text || matches!(field.kind, FieldKind::OneOf(_));
        let default = if is_quoted {
            quoted(default)
        } else {
            default.to_owned()
        };
        write!(text, ",\n\"default\": {default}").expect("writing to a string cannot fail");
    }
    if is_text {
        write!(text, ",\n{}", value.trim_matches(['{', '}']).trim())
    } else {
        write!(text, ",\n\"anyOf\": [\n{value},\n{FILLED}\n]")
    }
    .expect("writing to a string cannot fail");
    text + "\n}"
}

/// A JSON string; the table has no characters but these that need an escape.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Indents each line by the brackets that are open before it.
fn indented(text: &str) -> String {
    let mut depth = 0_usize;
    let mut result = String::with_capacity(text.len() * 2);
    for line in text.lines() {
        let closes = line.starts_with(['}', ']']);
        if closes {
            depth -= 1;
        }
        result.push_str(&"  ".repeat(depth));
        result.push_str(line);
        result.push('\n');
        if line.ends_with(['{', '[']) {
            depth += 1;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_in_the_schema_with_its_meaning() {
        let text = text();
        for field in FIELDS {
            let name = field.name.rsplit('.').next().expect("a name");
            assert!(text.contains(&format!("\"{name}\": {{")), "{name}");
            assert!(text.contains(&quoted(field.meaning)), "{name}");
        }
    }

    #[test]
    fn brackets_close_where_they_opened() {
        let text = text();
        for (open, close) in [('{', '}'), ('[', ']')] {
            let count = |bracket| text.chars().filter(|c| *c == bracket).count();
            // One of each is open in the pattern, and in the pattern only.
            let in_patterns = text.matches(r"\\{oc").count() * usize::from(open == '{');
            assert_eq!(count(open) - in_patterns, count(close), "{open}");
        }
        assert!(text.ends_with("\n}\n"), "{text}");
    }
}
