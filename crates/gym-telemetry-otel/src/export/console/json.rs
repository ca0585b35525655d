//! Writes JSON as Python's `json.dumps` does, so that a fleet's lines look alike whoever wrote them.

use std::fmt::Write;

use opentelemetry::{Array as OtelArray, KeyValue, Value};

/// A JSON text that grows.
#[derive(Default)]
pub(crate) struct Json(String);

impl Json {
    /// The text so far.
    pub(crate) fn into_string(self) -> String {
        self.0
    }

    pub(crate) fn null(&mut self) {
        self.0.push_str("null");
    }

    pub(crate) fn bool(&mut self, value: bool) {
        self.0.push_str(if value { "true" } else { "false" });
    }

    pub(crate) fn integer(&mut self, value: impl Into<i128>) {
        self.text(format_args!("{}", value.into()));
    }

    /// A number in the shortest form that reads back as `value`. JSON has no NaN and no infinity: they are strings.
    pub(crate) fn float(&mut self, value: f64) {
        if value.is_nan() {
            return self.string("NaN");
        }
        if value.is_infinite() {
            return self.string(if value > 0.0 { "Infinity" } else { "-Infinity" });
        }
        let scientific = format!("{value:e}");
        let (digits, exponent) = scientific
            .split_once('e')
            .expect("the format always has an exponent");
        let exponent: i32 = exponent.parse().expect("the exponent is a small integer");
        if (-4..16).contains(&exponent) {
            self.text(format_args!("{value:?}"));
        } else {
            let sign = if exponent < 0 { '-' } else { '+' };
            self.text(format_args!(
                "{digits}e{sign}{:02}",
                exponent.unsigned_abs()
            ));
        }
    }

    pub(crate) fn string(&mut self, value: &str) {
        self.0.push('"');
        for character in value.chars() {
            match character {
                '"' => self.0.push_str("\\\""),
                '\\' => self.0.push_str("\\\\"),
                '\n' => self.0.push_str("\\n"),
                '\r' => self.0.push_str("\\r"),
                '\t' => self.0.push_str("\\t"),
                '\u{8}' => self.0.push_str("\\b"),
                '\u{c}' => self.0.push_str("\\f"),
                ' '..='~' => self.0.push(character),
                _ => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        self.text(format_args!("\\u{unit:04x}"));
                    }
                }
            }
        }
        self.0.push('"');
    }

    pub(crate) fn value(&mut self, value: &Value) {
        match value {
            Value::Bool(value) => self.bool(*value),
            Value::I64(value) => self.integer(*value),
            Value::F64(value) => self.float(*value),
            Value::String(value) => self.string(value.as_str()),
            Value::Array(OtelArray::Bool(values)) => {
                self.array(values, |json, value| json.bool(*value));
            }
            Value::Array(OtelArray::I64(values)) => {
                self.array(values, |json, value| json.integer(*value));
            }
            Value::Array(OtelArray::F64(values)) => {
                self.array(values, |json, value| json.float(*value));
            }
            Value::Array(OtelArray::String(values)) => {
                self.array(values, |json, value| json.string(value.as_str()));
            }
            _ => self.null(),
        }
    }

    pub(crate) fn attributes<'a>(&mut self, attributes: impl IntoIterator<Item = &'a KeyValue>) {
        self.object(|object| {
            for attribute in attributes {
                object.key(attribute.key.as_str()).value(&attribute.value);
            }
        });
    }

    /// As [`Json::attributes`]; `null` if there are none.
    pub(crate) fn attributes_or_null<'a>(
        &mut self,
        attributes: impl IntoIterator<Item = &'a KeyValue>,
    ) {
        let mut attributes = attributes.into_iter().peekable();
        if attributes.peek().is_none() {
            self.null();
        } else {
            self.attributes(attributes);
        }
    }

    /// Copies `text`, which is JSON already.
    pub(crate) fn raw(&mut self, text: &str) {
        self.0.push_str(text);
    }

    pub(crate) fn array<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
    ) {
        self.0.push('[');
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.0.push_str(", ");
            }
            write(self, item);
        }
        self.0.push(']');
    }

    pub(crate) fn object(&mut self, write: impl FnOnce(&mut Object<'_>)) {
        self.0.push('{');
        write(&mut Object {
            json: self,
            empty: true,
        });
        self.0.push('}');
    }

    fn text(&mut self, text: std::fmt::Arguments<'_>) {
        self.0
            .write_fmt(text)
            .expect("a String can always be written to");
    }
}

/// An object that grows.
pub(crate) struct Object<'a> {
    json: &'a mut Json,
    empty: bool,
}

impl Object<'_> {
    /// Writes `key`; exactly one value must follow.
    pub(crate) fn key(&mut self, key: &str) -> &mut Json {
        if !std::mem::take(&mut self.empty) {
            self.json.0.push_str(", ");
        }
        self.json.string(key);
        self.json.0.push_str(": ");
        self.json
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Json)) -> String {
        let mut json = Json::default();
        write(&mut json);
        json.into_string()
    }

    #[test]
    fn floats_look_as_in_python() {
        for (value, text) in [
            (1.0, "1.0"),
            (0.1, "0.1"),
            (-0.0, "-0.0"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1e22, "1e+22"),
            (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1e-7, "1e-07"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::NAN, "\"NaN\""),
            (f64::INFINITY, "\"Infinity\""),
            (f64::NEG_INFINITY, "\"-Infinity\""),
        ] {
            assert_eq!(written(|json| json.float(value)), text);
        }
    }

    #[test]
    fn strings_are_pure_ascii_without_line_breaks() {
        let text = written(|json| json.string("é🙂\n\r\t\u{8}\u{c}\"\\\0\u{7f}\u{2028}/"));
        assert_eq!(
            text,
            r#""\u00e9\ud83d\ude42\n\r\t\b\f\"\\\u0000\u007f\u2028/""#
        );
    }

    #[test]
    fn every_kind_of_attribute_value_is_written() {
        let attributes = [
            KeyValue::new("s", "x"),
            KeyValue::new("i", i64::MIN),
            KeyValue::new(
                "as",
                Value::Array(OtelArray::String(vec!["a".into(), "b".into()])),
            ),
            KeyValue::new("ab", Value::Array(OtelArray::Bool(vec![true, false]))),
            KeyValue::new("ai", Value::Array(OtelArray::I64(vec![1, 2]))),
            KeyValue::new("af", Value::Array(OtelArray::F64(vec![f64::NAN]))),
            KeyValue::new("e", Value::Array(OtelArray::I64(vec![]))),
        ];
        assert_eq!(
            written(|json| json.attributes(&attributes)),
            r#"{"s": "x", "i": -9223372036854775808, "as": ["a", "b"], "ab": [true, false], "ai": [1, 2], "af": ["NaN"], "e": []}"#
        );
        assert_eq!(written(|json| json.attributes([])), "{}");
        assert_eq!(written(|json| json.attributes_or_null([])), "null");
    }
}
