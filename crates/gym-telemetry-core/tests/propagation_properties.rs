//! Properties of the propagation parsers over generated input.

mod support;

use gym_telemetry_core::propagation::extract;
use gym_telemetry_core::{Baggage, SpanContext, SpanId, TraceFlags, TraceId, TraceState};
use support::Generator;

const ROUNDS: u64 = 20_000;

/// What the text of a `traceparent` must be, written independently of the parser.
fn is_traceparent(text: &str) -> bool {
    let parts: Vec<&str> = text.splitn(5, '-').collect();
    let [version, trace, span, flags, rest @ ..] = parts.as_slice() else {
        return false;
    };
    let hex = |part: &str, len: usize| {
        part.len() == len && part.chars().all(|c| "0123456789abcdef".contains(c))
    };
    let id = |part: &str, len: usize| hex(part, len) && part.chars().any(|c| c != '0');
    hex(version, 2)
        && *version != "ff"
        && id(trace, 32)
        && id(span, 16)
        && hex(flags, 2)
        && (rest.is_empty() || *version != "00")
}

fn bytes<const N: usize>(generator: &mut Generator) -> [u8; N] {
    std::array::from_fn(|_| generator.next().to_be_bytes()[0])
}

fn context(generator: &mut Generator) -> SpanContext {
    let (trace, span) = (
        TraceId::from_bytes(bytes(generator)),
        SpanId::from_bytes(bytes(generator)),
    );
    let [flags] = bytes(generator);
    SpanContext::new(
        trace.expect("zeros are out of reach"),
        span.expect("zeros are out of reach"),
        TraceFlags::from_bits(flags),
        TraceState::EMPTY,
        true,
    )
}

#[test]
fn a_written_traceparent_is_read_back() {
    for seed in 0..ROUNDS {
        let context = context(&mut Generator::new(seed));
        let text = context.to_traceparent();
        assert!(is_traceparent(&text), "seed {seed}: {text}");
        assert_eq!(
            SpanContext::from_traceparent(&text),
            Ok(context),
            "seed {seed}: {text}"
        );
    }
}

#[test]
fn a_damaged_traceparent_is_accepted_only_if_it_is_still_valid() {
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..ROUNDS {
        let generator = &mut Generator::new(seed);
        let mut text: Vec<u8> = context(generator).to_traceparent().as_bytes().to_vec();
        if generator.below(2) == 0 {
            text[..2].copy_from_slice(generator.pick(&[b"00", b"01", b"cc", b"fe", b"ff"]));
        }
        for _ in 0..generator.below(3) {
            let at = generator.below(text.len());
            let byte = generator.pick(b"00001189aafgAF-- +._\t\x00\x7f");
            match generator.below(3) {
                0 => text[at] = byte,
                1 => text.insert(at, byte),
                _ => drop(text.remove(at)),
            }
        }
        if generator.below(4) == 0 {
            text.extend(generator.text(0, 5, b"-.-0a").bytes());
        }
        let text = String::from_utf8(text).expect("is ASCII");
        let result = SpanContext::from_traceparent(&text);
        assert_eq!(
            result.is_ok(),
            is_traceparent(&text),
            "seed {seed}: {text:?}"
        );
        match result {
            Ok(context) => {
                accepted += 1;
                assert_eq!(context.to_traceparent()[3..52], text[3..52], "seed {seed}");
            }
            Err(_) => refused += 1,
        }
    }
    assert!(
        accepted > ROUNDS / 20 && refused > ROUNDS / 20,
        "{accepted} accepted, {refused} refused"
    );
}

#[test]
fn valid_tracestates_keep_every_entry_within_the_limit() {
    for seed in 0..ROUNDS {
        let generator = &mut Generator::new(seed);
        let count = 1 + generator.below(32);
        let entries: Vec<_> = (0..count)
            .map(|n| {
                let system = generator.text(0, 1, b"@");
                let system = if system.is_empty() {
                    system
                } else {
                    system + &generator.text(1, 4, b"ab0")
                };
                let value = generator.text(0, 3, b" a!~;:@+") + "v";
                format!(
                    "k{n:02}{}{system}={value}",
                    generator.text(0, 3, b"abz09_-*/")
                )
            })
            .collect();
        let mut list = String::new();
        for entry in &entries {
            if !list.is_empty() {
                list += &(generator.text(0, 2, b" \t") + "," + &generator.text(0, 2, b" \t"));
            }
            list += entry;
        }
        let expected = entries.join(",");
        let state: TraceState = list
            .parse()
            .unwrap_or_else(|error| panic!("seed {seed}: {list:?}: {error}"));
        if expected.len() <= 512 {
            assert_eq!(state.as_str(), expected, "seed {seed}");
        } else {
            assert!(
                expected.starts_with(state.as_str()) && state.as_str().len() <= 512,
                "seed {seed}"
            );
            assert!(
                expected[state.as_str().len()..].starts_with(','),
                "seed {seed}: an entry is cut"
            );
        }
        assert_eq!(
            state.as_str().parse(),
            Ok(state),
            "seed {seed}: reading it again changes nothing"
        );
    }
}

#[test]
fn whatever_is_accepted_as_tracestate_is_valid_when_passed_on() {
    let mut accepted = 0;
    for seed in 0..ROUNDS {
        let generator = &mut Generator::new(seed);
        let text = generator.text(0, 12, b"aaab01==,,@_-*/ \t.A\x7f~");
        let Ok(state) = text.parse::<TraceState>() else {
            continue;
        };
        accepted += 1;
        assert_eq!(
            state.as_str().parse(),
            Ok(state.clone()),
            "seed {seed}: {text:?}"
        );
        for (key, value) in state.iter() {
            assert!(
                key.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit()),
                "seed {seed}: {text:?}"
            );
            assert!(
                !value.is_empty() && !value.ends_with([' ', '\t']),
                "seed {seed}: {text:?}"
            );
            assert_eq!(
                state.get(key),
                Some(value),
                "seed {seed}: a key occurs once"
            );
        }
        assert_eq!(
            state.is_empty(),
            state.iter().next().is_none(),
            "seed {seed}: {text:?}"
        );
    }
    assert!(accepted > ROUNDS / 20, "{accepted} accepted");
}

#[test]
fn whatever_is_accepted_as_baggage_is_passed_on_unchanged() {
    let mut accepted = 0;
    for seed in 0..ROUNDS {
        let generator = &mut Generator::new(seed);
        let text = generator.text(1, 10, b"aaab01===,;; \t%.\"\\\x7f~");
        let Ok(baggage) = text.parse::<Baggage>() else {
            continue;
        };
        accepted += 1;
        assert_eq!(baggage.as_str(), text, "seed {seed}");
        for entry in text.split(',') {
            let (key, _) = entry.split_once('=').expect("every entry has a value");
            assert!(
                !key.trim().is_empty() && !key.trim().contains([' ', '\t', ';', '"']),
                "seed {seed}: {text:?}"
            );
        }
    }
    assert!(accepted > ROUNDS / 50, "{accepted} accepted");
}

#[test]
fn arbitrary_bytes_never_panic() {
    for seed in 0..ROUNDS {
        let generator = &mut Generator::new(seed);
        let header: Vec<u8> = (0..generator.below(80))
            .map(|_| bytes::<1>(generator)[0])
            .collect();
        let extracted = extract(|_| [&header]);
        assert!(
            extracted.context.is_none(),
            "seed {seed}: no garbage has 32 digits in a row"
        );
    }
}

/// A parser that is not linear would need hours for these.
#[test]
fn hostile_headers_take_linear_time() {
    const LEN: usize = 4 << 20;
    for unit in [
        " ", ",", ";", "=", "-", "0", "a=b,", "a=b;", " \t", ", ", "a", "a@",
    ] {
        let header = unit.repeat(LEN / unit.len());
        let extracted = extract(|_| [&header]);
        assert!(
            extracted.context.is_none() && extracted.baggage.is_none(),
            "{unit:?}"
        );
        assert!(
            header
                .parse::<TraceState>()
                .is_ok_and(|state| state.is_empty())
                || header.parse::<TraceState>().is_err()
        );
    }
    let many = vec!["a=b"; LEN / 4];
    assert!(extract(|_| many.clone()).baggage.is_none());
}
