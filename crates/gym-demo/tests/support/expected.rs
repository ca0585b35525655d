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
        assert_eq!(draw(spans), expected(id), "rollout {id}");
        for span in spans {
            assert_eq!(span.status, "UNSET", "{span:?}");
            assert_eq!(span.attribute("nemo.gym.rollout.id"), Some(id), "{span:?}");
        }
    }
}
