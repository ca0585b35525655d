use gym_telemetry_api::{group, managed_span, set_span_attributes, trace_fn};

fn macros(number: Option<i64>) {
    for _ in 0..3 {
        let _span = managed_span!(group::ROLLOUT, "rollout", "number" => match number {
            Some(number) => number,
            None => break,
        });
        set_span_attributes!("number" => if let Some(number) = number { number } else { continue });
        set_span_attributes!("number" => number.unwrap_or_else(|| 0), "other" => { return });
    }
}

#[trace_fn(group::ROLLOUT, "rollout", "number" => { return })]
fn attribute() {}

fn main() {}
