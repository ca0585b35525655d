//! Attributes on their way into a span, an event or a link.

use std::borrow::Cow;

use gym_telemetry_core::value::StrArray;
use gym_telemetry_core::{Redaction, ToValue, Value};
use opentelemetry::{Array, Key, KeyValue, StringValue, Value as OtelValue};

use crate::recorder::{Entry, Owned, Scratch, SpanLimits, Writer, cut, with_entry};

/// Collects attributes; the closures that describe a span, an event or a link get one.
///
/// Secrets are replaced, texts beyond the configured length are cut, and attributes beyond the configured number
/// are dropped and counted.
#[derive(Debug)]
pub struct Attributes<'a>(Way<'a>);

/// The ways that attributes take.
#[derive(Debug)]
enum Way<'a> {
    /// Into the log of a span, one by one, as nearly all do.
    Log(Writer<'a>),
    Collector(&'a mut Collector<'a>),
}

/// Takes attributes that do not just go into the log of a span.
#[derive(Debug)]
pub(crate) struct Collector<'a> {
    sink: Sink<'a>,
    /// `None` is the default: what takes no part in a log is redacted here, the rest when the log is read.
    redaction: Option<Redaction<'a>>,
}

/// Where attributes go.
#[derive(Debug)]
enum Sink<'a> {
    /// To a span, one by one.
    Record(Writer<'a>),
    /// The same, for a span that somebody else owns.
    Entry(Entry),
    Event(&'a mut EventAttributes),
    List {
        list: &'a mut AttributeList,
        limit: usize,
        value_length: Option<usize>,
    },
}

impl<'a> Collector<'a> {
    pub(crate) fn of_record(record: Writer<'a>, redaction: Redaction<'a>) -> Self {
        Self {
            sink: Sink::Record(record),
            redaction: Some(redaction),
        }
    }

    pub(crate) fn of_entry(entry: Entry, redaction: Option<Redaction<'a>>) -> Self {
        Self {
            sink: Sink::Entry(entry),
            redaction,
        }
    }

    pub(crate) fn of_event(event: &'a mut EventAttributes) -> Self {
        Self {
            sink: Sink::Event(event),
            redaction: None,
        }
    }

    pub(crate) fn of_list(
        list: &'a mut AttributeList,
        limit: usize,
        limits: &SpanLimits,
        redaction: Redaction<'a>,
    ) -> Self {
        Self {
            sink: Sink::List {
                list,
                limit,
                value_length: limits.value_length,
            },
            redaction: Some(redaction),
        }
    }

    #[cold]
    #[inline(never)]
    fn put(&mut self, key: Cow<'static, str>, value: Value<'_>) {
        let is_clear = self.redaction.is_some();
        let value = match self.redaction {
            Some(redaction) => redaction.apply(&key, value),
            None => value,
        };
        match &mut self.sink {
            Sink::Record(record) => set_on(record, key, value, is_clear),
            Sink::Entry(entry) => {
                with_entry(*entry, |record| set_on(record, key, value, is_clear));
            }
            Sink::Event(event) => event.set(key, value),
            Sink::List {
                list,
                limit,
                value_length,
            } => list.set(key.into(), own(value, *value_length), *limit),
        }
    }
}

impl<'a> Attributes<'a> {
    #[inline]
    pub(crate) fn of_record(record: impl Into<Writer<'a>>) -> Self {
        Self(Way::Log(record.into()))
    }

    pub(crate) fn through(collector: &'a mut Collector<'a>) -> Self {
        Self(Way::Collector(collector))
    }

    /// Sets an attribute. The last value of a key wins; `None` values are skipped.
    #[inline]
    pub fn set<V>(&mut self, key: impl Into<Cow<'static, str>>, value: &V)
    where
        V: ToValue + ?Sized,
    {
        let Some(value) = value.to_value() else {
            return;
        };
        let key = key.into();
        // Neither `self` nor the key and the value have their addresses handed out, so that they need no memory.
        match &mut self.0 {
            Way::Log(record) => {
                if let Cow::Borrowed(key) = key
                    && record.append_attribute(key, &value, false)
                {
                    return;
                }
                set_unlogged(record.copy(), key, value);
            }
            Way::Collector(collector) => collector.put(key, value),
        }
    }
}

/// Sets an attribute that the log does not hold.
#[cold]
#[inline(never)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "what is borrowed has to be in memory"
)]
fn set_unlogged(record: Writer<'_>, key: Cow<'static, str>, value: Value<'_>) {
    set_on(&record, key, value, false);
}

/// Sets an attribute of a span. No foreign code runs in here.
fn set_on(record: &Owned, key: Cow<'static, str>, value: Value<'_>, is_clear: bool) {
    if let Cow::Borrowed(key) = key
        && record.append_attribute(key, &value, is_clear)
    {
        return;
    }
    record.change(|body, limits| {
        let value = if is_clear {
            value
        } else {
            Redaction::DEFAULT.apply(&key, value)
        };
        let value = own(value, limits.value_length);
        body.attributes.set(key.into(), value, limits.attributes);
    });
}

/// Attributes of an event that is being described.
#[derive(Debug)]
pub(crate) struct EventAttributes {
    scratch: Scratch,
    /// All of them, if the scratch cannot hold one.
    list: Option<AttributeList>,
    limits: SpanLimits,
}

impl EventAttributes {
    pub(crate) fn new(limits: &SpanLimits) -> Self {
        Self {
            scratch: Scratch::new(),
            list: None,
            limits: *limits,
        }
    }

    fn set(&mut self, key: Cow<'static, str>, value: Value<'_>) {
        if self.list.is_none()
            && let Cow::Borrowed(key) = key
            && self.scratch.attribute(key, &value, false)
        {
            return;
        }
        let mut list = self.take_list();
        let value = own(
            Redaction::DEFAULT.apply(&key, value),
            self.limits.value_length,
        );
        list.set(key.into(), value, self.limits.event_attributes);
        self.list = Some(list);
    }

    /// What a log can hold, unless that is not all.
    pub(crate) fn scratch(&self) -> Option<&Scratch> {
        self.list.is_none().then_some(&self.scratch)
    }

    pub(crate) fn take_list(&mut self) -> AttributeList {
        self.list.take().unwrap_or_else(|| {
            let mut list = AttributeList::default();
            for entry in self.scratch.entries() {
                list.apply(entry, self.limits.event_attributes, &self.limits);
            }
            list
        })
    }
}

/// Attributes with distinct keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct AttributeList {
    pub items: Vec<KeyValue>,
    pub dropped: u32,
}

impl AttributeList {
    pub(crate) fn set(&mut self, key: Key, value: OtelValue, limit: usize) {
        if let Some(known) = self.items.iter_mut().find(|item| item.key == key) {
            known.value = value;
        } else if self.items.len() < limit {
            self.items.push(KeyValue::new(key, value));
        } else {
            self.dropped = self.dropped.saturating_add(1);
        }
    }
}

/// A value of our own.
pub(crate) fn own(value: Value<'_>, length: Option<usize>) -> OtelValue {
    match value {
        Value::Bool(value) => OtelValue::Bool(value),
        Value::I64(value) => OtelValue::I64(value),
        Value::U64(value) => OtelValue::String(value.to_string().into()),
        Value::F64(value) => OtelValue::F64(value),
        Value::Static(text) => OtelValue::String(cut(text, length).into()),
        Value::Str(text) => OtelValue::String(own_text(text, length)),
        Value::Bools(values) => OtelValue::Array(Array::Bool(values.to_vec())),
        Value::I64s(values) => OtelValue::Array(Array::I64(values.to_vec())),
        Value::F64s(values) => OtelValue::Array(Array::F64(values.to_vec())),
        Value::Strs(texts) => OtelValue::Array(Array::String(own_texts(texts, length))),
        // A kind of value that the vocabulary gains later is shown as text until it is handled here.
        other => OtelValue::String(own_text(&format!("{other:?}"), length)),
    }
}

fn own_texts(texts: StrArray<'_>, length: Option<usize>) -> Vec<StringValue> {
    texts.iter().map(|text| own_text(text, length)).collect()
}

fn own_text(text: &str, length: Option<usize>) -> StringValue {
    cut(text, length).to_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(
        limit: usize,
        limits: &SpanLimits,
        describe: impl FnOnce(&mut Attributes<'_>),
    ) -> AttributeList {
        let mut list = AttributeList::default();
        describe(&mut Attributes::through(&mut Collector::of_list(
            &mut list,
            limit,
            limits,
            Redaction::DEFAULT,
        )));
        list
    }

    fn texts(list: &AttributeList) -> Vec<(String, String)> {
        list.items
            .iter()
            .map(|item| (item.key.to_string(), item.value.to_string()))
            .collect()
    }

    #[test]
    fn the_last_value_of_a_key_wins_and_keeps_the_place_of_the_first() {
        let list = collect(128, &SpanLimits::default(), |attributes| {
            attributes.set("a", &1_i64);
            attributes.set("b", &2_i64);
            attributes.set("a", "three");
        });
        assert_eq!(
            texts(&list),
            [("a".into(), "three".into()), ("b".into(), "2".into())]
        );
    }

    #[test]
    fn beyond_the_limit_new_keys_are_dropped_and_known_keys_still_change() {
        let list = collect(2, &SpanLimits::default(), |attributes| {
            for key in ["a", "b", "c", "d", "a"] {
                attributes.set(key, key);
            }
            attributes.set("b", &true);
        });
        assert_eq!(
            texts(&list),
            [("a".into(), "a".into()), ("b".into(), "true".into())]
        );
        assert_eq!(list.dropped, 2);
    }

    #[test]
    fn absent_values_are_skipped() {
        let list = collect(128, &SpanLimits::default(), |attributes| {
            attributes.set("none", &None::<i64>);
            attributes.set("some", &Some(1_i64));
        });
        assert_eq!(texts(&list), [("some".into(), "1".into())]);
    }

    #[test]
    fn integers_beyond_the_signed_range_become_text() {
        let list = collect(128, &SpanLimits::default(), |attributes| {
            attributes.set("n", &u64::MAX);
        });
        assert_eq!(list.items[0].value, OtelValue::from("18446744073709551615"));
    }

    #[test]
    fn secrets_are_replaced_in_texts_and_lists_of_texts() {
        let list = collect(128, &SpanLimits::default(), |attributes| {
            attributes.set("prompt", "clear");
            attributes.set("http.request.header.Authorization", "clear");
            attributes.set("token", &["clear", "clear"]);
            attributes.set("key", &7_i64);
            attributes.set("token_count", &7_i64);
        });
        assert!(!format!("{list:?}").contains("clear"));
        assert_eq!(list.items[3].value, OtelValue::I64(7));
        assert_eq!(list.items[4].value, OtelValue::I64(7));
    }

    #[test]
    fn text_values_are_cut_to_the_configured_length_in_lists_too() {
        let limits = SpanLimits {
            value_length: Some(3),
            ..SpanLimits::default()
        };
        let list = collect(128, &limits, |attributes| {
            attributes.set("word", "ab🙂🙂");
            attributes.set("static", &gym_telemetry_core::value::StaticStr("abcd"));
            attributes.set("list", &["abcd", "ab"]);
        });
        assert_eq!(list.items[0].value, OtelValue::from("ab🙂"));
        assert_eq!(list.items[1].value, OtelValue::from("abc"));
        let expected = vec![StringValue::from("abc"), StringValue::from("ab")];
        assert_eq!(
            list.items[2].value,
            OtelValue::Array(Array::String(expected))
        );
    }
}
