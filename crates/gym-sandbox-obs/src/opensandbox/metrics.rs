//! What the server inside a sandbox answers at `/metrics`.
//!
//! It reads `/proc`. In a plain container that is the node's: CPU share and memory are of the whole machine, and all
//! sandboxes of a node report the same. They are the sandbox's own only where it has a kernel of its own or a `/proc`
//! that is made up for it. The number of CPUs is that of the container's quota, rounded down. Nothing in the answer
//! tells which of this is the case.

use serde::Deserialize;

use crate::sample::Sample;
use crate::unavailable::Unavailable;

/// All fields are promised.
#[derive(Deserialize)]
struct Answer {
    cpu_count: f64,
    cpu_used_pct: f64,
    mem_total_mib: f64,
    mem_used_mib: f64,
    timestamp: i64,
}

/// Reads an answer. The time is taken over as it is, however odd.
///
/// # Errors
///
/// [`MalformedReading`](Unavailable::MalformedReading) when it is no JSON object of five numbers, when a number that
/// cannot be negative is, or when the time is no whole number.
pub fn parse(body: &[u8]) -> Result<Sample, Unavailable> {
    let answer: Answer = serde_json::from_slice(body).map_err(|_| Unavailable::MalformedReading)?;
    let numbers = [
        answer.cpu_count,
        answer.cpu_used_pct,
        answer.mem_total_mib,
        answer.mem_used_mib,
    ];
    if numbers
        .iter()
        .any(|number| !number.is_finite() || *number < 0.0)
    {
        return Err(Unavailable::MalformedReading);
    }
    Ok(Sample {
        timestamp_ms: Some(answer.timestamp),
        cpu_count: Some(answer.cpu_count),
        cpu_used_percentage: Some(answer.cpu_used_pct),
        memory_total_mib: Some(answer.mem_total_mib),
        memory_used_mib: Some(answer.mem_used_mib),
    })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_reading_is_taken_over_to_the_last_digit() {
        let body = br#"{"cpu_count":2,"cpu_used_pct":99.49748743719776,"mem_total_mib":24105.5625,"mem_used_mib":335.6953125,"timestamp":1796039780270}"#;
        let sample = parse(body).expect("a reading");
        assert_eq!(sample.cpu_used_percentage, Some(99.497_487_437_197_76));
        assert_eq!(sample.timestamp_ms, Some(1_796_039_780_270));
        assert_eq!(sample.cpu_count, Some(2.0));
    }

    #[test]
    fn a_field_that_is_missing_or_no_number_is_no_zero() {
        for body in [
            "",
            "{}",
            "[]",
            r#"{"error":"x"}"#,
            r#"{"cpu_count":2,"cpu_used_pct":1,"mem_total_mib":1,"timestamp":1}"#,
            r#"{"cpu_count":null,"cpu_used_pct":1,"mem_total_mib":1,"mem_used_mib":1,"timestamp":1}"#,
            r#"{"cpu_count":2,"cpu_used_pct":1,"mem_total_mib":1,"mem_used_mib":1,"timestamp":1.5}"#,
            r#"{"cpu_count":2,"cpu_used_pct":-1,"mem_total_mib":1,"mem_used_mib":1,"timestamp":1}"#,
        ] {
            assert!(parse(body.as_bytes()).is_err(), "{body}");
        }
    }
}
