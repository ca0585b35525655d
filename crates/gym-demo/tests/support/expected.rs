//! The traces that a run of the example tasks must leave behind.

use serde_json::Value;

use super::trace::{Span, draw, traces};

/// One rollout whose model is asked through `/v1/responses`, as one tree.
const ROLLOUT: &str = "\
INTERNAL gym.rollout [nemo-gym]
  CLIENT HTTP POST [nemo-gym]
    SERVER POST /run [nemo-gym/weather_agent]
      INTERNAL gym.agent.run [nemo-gym/weather_agent]
        CLIENT HTTP POST [nemo-gym/weather_agent]
          SERVER POST /v1/responses [nemo-gym/weather_agent]
            INTERNAL gym.agent.responses [nemo-gym/weather_agent]
              CLIENT HTTP POST [nemo-gym/weather_agent]
                SERVER POST /v1/responses [nemo-gym/policy_model]
                  INTERNAL gym.model.responses [nemo-gym/policy_model]
              CLIENT HTTP POST [nemo-gym/weather_agent]
                SERVER POST /get_weather [nemo-gym/weather]
              CLIENT HTTP POST [nemo-gym/weather_agent]
                SERVER POST /v1/responses [nemo-gym/policy_model]
                  INTERNAL gym.model.responses [nemo-gym/policy_model]
        CLIENT HTTP POST [nemo-gym/weather_agent]
          SERVER POST /verify [nemo-gym/weather]
            INTERNAL gym.verify [nemo-gym/weather]
";

/// The question without a city: the model asks back at once.
const ROLLOUT_WITHOUT_TOOL: &str = "\
INTERNAL gym.rollout [nemo-gym]
  CLIENT HTTP POST [nemo-gym]
    SERVER POST /run [nemo-gym/weather_agent]
      INTERNAL gym.agent.run [nemo-gym/weather_agent]
        CLIENT HTTP POST [nemo-gym/weather_agent]
          SERVER POST /v1/responses [nemo-gym/weather_agent]
            INTERNAL gym.agent.responses [nemo-gym/weather_agent]
              CLIENT HTTP POST [nemo-gym/weather_agent]
                SERVER POST /v1/responses [nemo-gym/policy_model]
                  INTERNAL gym.model.responses [nemo-gym/policy_model]
        CLIENT HTTP POST [nemo-gym/weather_agent]
          SERVER POST /verify [nemo-gym/weather]
            INTERNAL gym.verify [nemo-gym/weather]
";

/// The tree that the rollout must have.
fn expected(rollout_id: &str) -> String {
    match rollout_id.split('-').next() {
        Some("2") => ROLLOUT
            .replace(
                "/v1/responses [nemo-gym/policy_model]",
                "/v1/chat/completions [nemo-gym/policy_model]",
            )
            .replace("gym.model.responses", "gym.model.chat_completions"),
        Some("3") => ROLLOUT_WITHOUT_TOOL.to_owned(),
        _ => ROLLOUT.to_owned(),
    }
}

/// Checks the shape of each rollout's trace, and that there is no other.
pub fn assert_one_tree_for_each_rollout(spans: &[Span], results: &[Value], rollouts: usize) {
    let traces = traces(spans);
    assert_eq!(
        (results.len(), traces.len()),
        (rollouts, rollouts),
        "one trace for each rollout"
    );
    for result in results {
        let (id, trace) = (&result["rollout_id"], &result["trace_id"]);
        let (id, trace) = (
            id.as_str().expect("an id"),
            trace.as_str().expect("a trace"),
        );
        let spans = &traces[trace];
        let (sandbox, others): (Vec<_>, Vec<_>) = spans
            .iter()
            .cloned()
            .partition(|span| span.name.starts_with("gym.sandbox."));
        assert_eq!(draw(&others), expected(id), "rollout {id}");
        if !sandbox.is_empty() {
            assert_one_sandbox(&sandbox, &others);
        }
        for span in spans {
            assert_eq!(span.status, "UNSET", "{span:?}");
            assert_eq!(span.attribute("nemo.gym.rollout.id"), Some(id), "{span:?}");
        }
    }
}

/// Checks the sandbox of a rollout: every stage is there once, below the agent's run, and joined to the others.
pub fn assert_one_sandbox(spans: &[Span], others: &[Span]) {
    let run = others.iter().find(|span| span.name == "gym.agent.run");
    let run = run.map(|span| span.span_id.clone());
    let stages: Vec<&str> = spans
        .iter()
        .map(|span| span.name.as_str())
        .filter(|name| *name != "gym.sandbox.resource.sample")
        .collect();
    let mut sorted = stages.clone();
    sorted.sort_unstable();
    let expected = ["exec", "request", "resource.allocation", "start", "stop"];
    assert_eq!(sorted, expected.map(|stage| format!("gym.sandbox.{stage}")));
    assert!(spans.len() > stages.len(), "there is a sample at least");
    let request = spans[0].attribute("nemo.gym.sandbox.request.id");
    for span in spans {
        assert_eq!(span.parent_id, run, "{span:?}");
        assert_eq!(span.attribute("nemo.gym.sandbox.request.id"), request);
        assert_eq!(span.attribute("nemo.gym.sandbox.provider"), Some("local"));
        let id = span.attribute("nemo.gym.sandbox.id");
        assert_eq!(id.is_none(), span.name == "gym.sandbox.request", "{span:?}");
        if span.name == "gym.sandbox.resource.sample" {
            let used = span
                .attributes
                .get("nemo.gym.sandbox.sample.memory_used_mib");
            let used = used.and_then(Value::as_f64);
            assert!(used.is_some_and(|used| used > 0.0), "{span:?}");
        }
    }
}
