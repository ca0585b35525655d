//! The cases of the public W3C trace-context test suite about `tracestate`, and others like them.

use gym_telemetry_core::propagation::{ParseErrorKind, extract};
use gym_telemetry_core::{ParseError, TraceState};

const TRACEPARENT: &str = "00-12345678901234567890123456789012-1234567890123456-01";

/// What is passed on of the headers of one request.
fn passed_on(headers: &[&str]) -> Option<String> {
    let extracted = extract(|name| match name {
        "traceparent" => vec![TRACEPARENT],
        "tracestate" => headers.to_vec(),
        _ => Vec::new(),
    });
    let context = extracted
        .context
        .expect("whatever the tracestate, the traceparent counts");
    assert_eq!(&*context.to_traceparent(), TRACEPARENT);
    (!context.trace_state().is_empty()).then(|| context.trace_state().to_string())
}

fn members(count: usize) -> String {
    (1..=count)
        .map(|n| format!("bar{n:02}={n:02}"))
        .collect::<Vec<_>>()
        .join(",")
}

#[test]
fn valid_lists_are_passed_on_in_order() {
    for (headers, expected) in [
        (&["foo=1,bar=2"][..], "foo=1,bar=2"),
        (&["foo=1", ""], "foo=1"),
        (&["", "foo=1"], "foo=1"),
        (
            &["foo=1,bar=2", "rojo=1,congo=2", "baz=3"],
            "foo=1,bar=2,rojo=1,congo=2,baz=3",
        ),
        (&["foo=1 \t , \t bar=2, \t baz=3"], "foo=1,bar=2,baz=3"),
        (&["foo=1\t \t,\t \tbar=2,\t \tbaz=3"], "foo=1,bar=2,baz=3"),
        (&[" foo=1"], "foo=1"),
        (&["\tfoo=1"], "foo=1"),
        (&["foo=1 "], "foo=1"),
        (&["foo=1\t"], "foo=1"),
        (&["\t foo=1 \t"], "foo=1"),
        (&["foo=1,,bar=2, ,"], "foo=1,bar=2"),
        // The first of a key's entries is the latest.
        (&["foo=1,foo=1"], "foo=1"),
        (&["foo=1,foo=2"], "foo=1"),
        (&["foo=1", "foo=2,bar=3"], "foo=1,bar=3"),
        (&["foo=1,foobar=2,fo=3"], "foo=1,foobar=2,fo=3"),
        (&["0foo=1,t@s=2,0t@0s=3"], "0foo=1,t@s=2,0t@0s=3"),
        (&["foo= a b ,bar=2"], "foo= a b,bar=2"),
    ] {
        assert_eq!(passed_on(headers).as_deref(), Some(expected), "{headers:?}");
    }
}

#[test]
fn empty_lists_are_nothing() {
    for headers in [&[][..], &[""], &["", ""], &[" \t"], &[",, ,"]] {
        assert_eq!(passed_on(headers), None, "{headers:?}");
    }
}

#[test]
fn every_allowed_character_is_passed_on() {
    let key = "abcdefghijklmnopqrstuvwxyz0123456789_-*/";
    let value: String = ('\x20'..='\x7e')
        .filter(|c| !matches!(c, ',' | '='))
        .collect();
    for key in [key.to_owned(), format!("{key}@a-z0-9_-*/")] {
        let list = format!("{key}={value}");
        assert_eq!(passed_on(&[&list]).as_deref(), Some(&*list));
        let state: TraceState = list.parse().expect("is valid");
        assert_eq!(state.get(&key), Some(&*value));
    }
}

#[test]
fn a_malformed_list_is_dropped_as_a_whole() {
    for list in [
        "foo =1",
        "FOO=1",
        "foo.bar=1",
        "foo@=1,bar=2",
        "@foo=1,bar=2",
        "foo@@bar=1,bar=2",
        "foo@bar@baz=1,bar=2",
        "foo=bar=baz",
        "foo=,bar=3",
        "foo= ,bar=3",
        "foo",
        "foo=1,bar",
        "=1",
        "foo=1;bar=2,b\x7f=1",
        "foo=\x7f",
        "foo=a\tb",
        "foo=\u{e9}",
        "_foo=1",
        "-foo=1",
        "*foo=1",
        "/foo=1",
        "t@_s=1",
        "foo=\0",
    ] {
        assert_eq!(passed_on(&[list]), None, "{list:?}");
        assert_eq!(passed_on(&["ok=1", list]), None, "{list:?}");
    }
}

#[test]
fn thirty_two_entries_are_the_most() {
    assert_eq!(passed_on(&[&members(32)]), Some(members(32)));
    assert_eq!(passed_on(&[&members(33)]), None);
    assert_eq!(
        passed_on(&[&members(16), &members(17)]),
        None,
        "repetitions count"
    );
    assert_eq!(
        members(33)
            .parse::<TraceState>()
            .map_err(|e| ParseError::kind(&e)),
        Err(ParseErrorKind::TooManyMembers)
    );
}

#[test]
fn keys_and_values_have_a_largest_length() {
    for (key, valid) in [
        ("z".repeat(256), true),
        ("z".repeat(257), false),
        (format!("{}@{}", "t".repeat(241), "v".repeat(14)), true),
        (format!("{}@v", "t".repeat(242)), false),
        (format!("t@{}", "v".repeat(15)), false),
    ] {
        let list = format!("foo=1,{key}=1");
        assert_eq!(passed_on(&[&list]), valid.then_some(list), "{key}");
    }
    let longest = format!("foo={}", "v".repeat(256));
    assert_eq!(passed_on(&[&longest]), Some(longest.clone()));
    assert_eq!(passed_on(&[&format!("{longest}v")]), None);
}

#[test]
fn a_list_of_512_bytes_is_passed_on_whole() {
    let list = format!(
        "a={},b={},c={}",
        "v".repeat(256),
        "v".repeat(245),
        "v".repeat(3)
    );
    assert_eq!(list.len(), 512);
    assert_eq!(passed_on(&[&list]), Some(list));
}

#[test]
fn a_longer_list_loses_large_entries_first_and_then_the_last_ones() {
    let entry = |name: char, len: usize| format!("{name}={}", "v".repeat(len - 2));
    let list = |entries: &[(char, usize)]| {
        let entries: Vec<_> = entries
            .iter()
            .map(|(name, len)| entry(*name, *len))
            .collect();
        entries.join(",")
    };
    for (sent, kept) in [
        // With the commas 513 bytes: the large one goes although it is not the last.
        (
            &[('a', 128), ('b', 129), ('c', 128), ('d', 125)][..],
            &[('a', 128), ('c', 128), ('d', 125)][..],
        ),
        // Only as many large ones go as must, the last first.
        (
            &[('a', 200), ('b', 200), ('c', 128)],
            &[('a', 200), ('c', 128)],
        ),
        // Without large ones the last go.
        (
            &[
                ('a', 100),
                ('b', 100),
                ('c', 100),
                ('d', 100),
                ('e', 100),
                ('f', 100),
            ],
            &[('a', 100), ('b', 100), ('c', 100), ('d', 100), ('e', 100)],
        ),
        // Large ones first, then the last ones.
        (
            &[('a', 128), ('b', 128), ('c', 128), ('d', 128), ('e', 129)],
            &[('a', 128), ('b', 128), ('c', 128)],
        ),
    ] {
        assert_eq!(passed_on(&[&list(sent)]), Some(list(kept)), "{sent:?}");
    }
}

#[test]
fn a_single_entry_that_is_too_long_leaves_nothing() {
    let list = format!("{}={}", "k".repeat(256), "v".repeat(256));
    assert_eq!(list.len(), 513);
    assert_eq!(passed_on(&[&list]), None);
    assert_eq!(list.parse::<TraceState>(), Ok(TraceState::EMPTY));
}

#[test]
fn entries_can_be_looked_up() {
    let state: TraceState = "rojo=00f0,congo=t61 x".parse().expect("is valid");
    assert_eq!(state.get("congo"), Some("t61 x"));
    assert_eq!(state.get("con"), None);
    assert!(state.iter().eq([("rojo", "00f0"), ("congo", "t61 x")]));
}
