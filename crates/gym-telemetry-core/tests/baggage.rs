//! What baggage is passed on, and what is dropped.

use gym_telemetry_core::Baggage;
use gym_telemetry_core::propagation::{ParseErrorKind, extract, inject};

/// What is passed on of the headers of one request.
fn passed_on(headers: &[&str]) -> Option<String> {
    let extracted = extract(|name| {
        if name == "baggage" {
            headers.to_vec()
        } else {
            Vec::new()
        }
    });
    let mut written = None;
    inject(None, extracted.baggage.as_ref(), |name, value| {
        assert_eq!(name, "baggage");
        written = Some(value.to_owned());
    });
    written
}

#[test]
fn valid_baggage_is_passed_on_byte_for_byte() {
    for text in [
        "a=b",
        "a=",
        "a=b=c",
        "team=rl,user=a%20b",
        "key1=value1,key2 = value2 ; property1 ; k = v , key3=value3; propertyKey=propertyValue",
        "SomeKey=SomeValue;ValueProp=%20;flag",
        "a \t= \tb",
        "!#$%&'*+-.^_`|~09azAZ=!#$%&'()*+-./:<=>?@[]^_`{|}~",
        "a=%E9%E",
        "a=1,a=2",
    ] {
        assert_eq!(passed_on(&[text]).as_deref(), Some(text));
    }
}

#[test]
fn several_headers_are_one_list() {
    assert_eq!(
        passed_on(&["a=1", "b=2, c=3", "", " d=4\t"]).as_deref(),
        Some("a=1,b=2, c=3,d=4")
    );
}

#[test]
fn malformed_baggage_is_dropped_as_a_whole() {
    for text in [
        "a",
        "a;b=c",
        "=b",
        " =b",
        "a b=c",
        "a=b c",
        "a=\"b\"",
        "a=b\\c",
        "a=b,",
        ",a=b",
        "a=b,,c=d",
        "a=b, ,c=d",
        "a=b;",
        "a=b;;c",
        "a=b;=c",
        "a=b;c d",
        "a\u{e9}=b",
        "a=\u{e9}",
        "a=\x7f",
        "a=\0",
        "a(=b",
        "a=b;c=d\te",
    ] {
        assert_eq!(passed_on(&[text]), None, "{text:?}");
        assert_eq!(passed_on(&["ok=1", text]), None, "{text:?}");
    }
}

#[test]
fn no_header_is_no_baggage() {
    for headers in [&[][..], &[""], &["", " \t"]] {
        assert_eq!(passed_on(headers), None, "{headers:?}");
    }
}

#[test]
fn baggage_over_a_limit_is_dropped_not_cut() {
    let largest = format!("a={}", "v".repeat(8190));
    assert_eq!(passed_on(&[&largest]), Some(largest.clone()));
    assert_eq!(passed_on(&[&format!("{largest}v")]), None);
    let (half, other) = (
        format!("a={}", "v".repeat(4094)),
        format!("b={}", "v".repeat(4093)),
    );
    assert_eq!(
        passed_on(&[&half, &other]).map(|text| text.len()),
        Some(8192)
    );
    assert_eq!(passed_on(&[&half, &half]), None, "the comma counts");

    let list = |count: usize| {
        (0..count)
            .map(|n| format!("k{n}=v"))
            .collect::<Vec<_>>()
            .join(",")
    };
    for count in [1, 64, 180] {
        assert_eq!(passed_on(&[&list(count)]), Some(list(count)));
    }
    assert_eq!(passed_on(&[&list(181)]), None);
    let error = list(181)
        .parse::<Baggage>()
        .expect_err("has too many entries");
    assert_eq!(error.kind(), ParseErrorKind::TooManyMembers);
}

#[test]
fn debug_shows_the_size_only() {
    let baggage: Baggage = "user=alice".parse().expect("is valid");
    assert_eq!(format!("{baggage:?}"), "Baggage(<10 bytes>)");
}
