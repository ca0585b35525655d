//! The resources server: the tool that tasks need, and the judge of the answers.

use std::sync::Arc;

use axum::extract::State;
use axum::routing::post;
use axum::{Extension, Json, Router};
use gym_telemetry_api::{record_verify, stopwatch, trace_fn};
use gym_telemetry_core::{RolloutId, attribute, group, span};

use super::error::HandlerError;
use super::weather;
use super::wire::{Item, VerifyReply, VerifyRequest, WeatherReply, WeatherRequest};

/// What the handlers know.
#[derive(Debug)]
pub(crate) struct Resources {
    name: String,
}

/// `/get_weather` and `/verify`.
pub(crate) fn router(name: String) -> Router {
    Router::new()
        .route("/get_weather", post(get_weather))
        .route("/verify", post(verify))
        .with_state(Arc::new(Resources { name }))
}

async fn get_weather(Json(request): Json<WeatherRequest>) -> Json<WeatherReply> {
    let weather_description = weather::describe(&request.city);
    Json(WeatherReply {
        city: request.city,
        weather_description,
    })
}

async fn verify(
    State(resources): State<Arc<Resources>>,
    rollout: Option<Extension<RolloutId>>,
    Json(request): Json<VerifyRequest>,
) -> Result<Json<VerifyReply>, HandlerError> {
    let watch = stopwatch!();
    let verdict = judge(&resources.name, rollout.as_deref(), request);
    if let Some(elapsed) = watch.elapsed() {
        record_verify(elapsed, verdict.is_ok());
    }
    verdict.map(Json)
}

/// Full reward for an answer that reports the right weather of the right city, else none.
#[trace_fn(group::VERIFY, span::VERIFY, err, attribute::SERVER_NAME => server, attribute::ROLLOUT_ID => rollout)]
fn judge(
    server: &str,
    rollout: Option<&RolloutId>,
    request: VerifyRequest,
) -> Result<VerifyReply, HandlerError> {
    let answer = request
        .response
        .output
        .iter()
        .rfind(|item| item.is_answer())
        .map(Item::text);
    let answer =
        answer.ok_or_else(|| HandlerError::internal("the response holds no answer to judge"))?;
    let city = request.verifier_metadata["city"]
        .as_str()
        .unwrap_or_default();
    let right =
        !city.is_empty() && answer.contains(city) && answer.contains(&weather::describe(city));
    let reward = if right { 1.0 } else { 0.0 };
    tracing::info!(reward, "judged an answer about {city:?}");
    Ok(VerifyReply {
        reward,
        response: request.response,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::judge;
    use crate::servers::weather;
    use crate::servers::wire::VerifyRequest;

    fn request(output: &serde_json::Value) -> VerifyRequest {
        serde_json::from_value(json!({
            "responses_create_params": { "input": "What is the weather in Oslo?" },
            "response": { "id": "r", "object": "response", "model": "m", "output": output },
            "verifier_metadata": { "city": "Oslo" },
        }))
        .expect("a valid request")
    }

    #[test]
    fn only_the_right_weather_of_the_right_city_is_rewarded() {
        let answer =
            |text: &str| json!([{ "type": "message", "role": "assistant", "content": text }]);
        let right = format!("The weather in Oslo: {}.", weather::describe("Oslo"));
        assert!(
            judge("weather", None, request(&answer(&right))).is_ok_and(|reply| reply.reward > 0.5)
        );
        assert!(
            judge(
                "weather",
                None,
                request(&answer("The weather in Oslo: lovely."))
            )
            .is_ok_and(|reply| reply.reward < 0.5)
        );
    }

    #[test]
    fn a_response_without_an_answer_cannot_be_judged() {
        assert!(judge("weather", None, request(&json!([]))).is_err());
    }
}
