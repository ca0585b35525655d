//! What a library does. The README shows this file.

use gym_telemetry_api::{attribute, enter, group, in_span, set_span_attributes, span, trace_fn};

/// A span around each call. An `Err` marks it as failed; arguments are recorded only if they are named.
#[trace_fn(group::VERIFY, span::VERIFY, err, attribute::ROLLOUT_ID => rollout)]
fn verify(rollout: &str, answer: &str) -> Result<f64, String> {
    let words = count(answer);
    // Evaluated only if this span is recorded.
    set_span_attributes!("answer.words" => words);
    if words == 0 {
        return Err(String::from("there is no answer"));
    }
    Ok(1.0)
}

fn count(answer: &str) -> usize {
    let _entered = enter!(group::VERIFY, "count words", "length" => answer.len());
    answer.split_whitespace().count()
}

/// A span around a future, current whenever that is polled.
async fn rollout(id: &str) -> Result<f64, String> {
    in_span!(group::ROLLOUT, span::ROLLOUT, attribute::ROLLOUT_ID => id, err; async {
        verify(id, "sunny, 21 degrees")
    })
    .await
}

fn main() {
    let mut rollout = std::pin::pin!(rollout("3-1"));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let reward = rollout.as_mut().poll(&mut context);
    assert_eq!(reward, std::task::Poll::Ready(Ok(1.0)));
}
