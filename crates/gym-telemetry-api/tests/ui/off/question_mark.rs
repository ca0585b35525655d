use gym_telemetry_api::{add_event, enter, group, in_span, managed_span, set_span_attributes, span, trace_fn};

fn macros(text: &str) -> Result<(), std::num::ParseIntError> {
    let span = managed_span!(group::ROLLOUT, "rollout", "number" => text.parse::<i64>()?);
    let _entered = enter!(group::ROLLOUT, "rollout", kind: text.parse::<i64>()?);
    span!(text.parse::<i64>()?).end();
    set_span_attributes!(span; "number" => [text.parse::<i64>()?]);
    add_event!(span; "event", "number" => { let number = text.parse::<i64>()?; number });
    let _future = in_span!(group::ROLLOUT, "rollout", "number" => text.parse::<i64>()?; async {});
    Ok(())
}

#[trace_fn(group::ROLLOUT, "rollout", "number" => text.parse::<i64>()?)]
fn attribute(text: &str) -> Result<(), std::num::ParseIntError> {
    Ok(())
}

fn main() {}
