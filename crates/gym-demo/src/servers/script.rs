//! The model: answers by a script, so that a run needs no GPU and always goes the same way.

use serde_json::{Value, json};

use super::wire::{Item, WeatherReply};

/// The tool that the model knows.
pub(crate) const WEATHER_TOOL: &str = "get_weather";

/// Goes on with a conversation: asks for the weather of the city in the question, puts the tool's
/// answer into words, or asks back when no city is named.
pub(crate) fn answer(conversation: &[Item]) -> Item {
    let output = conversation
        .last()
        .filter(|item| item.kind == Item::CALL_OUTPUT)
        .and_then(|item| item.output.as_deref());
    if let Some(output) = output {
        return Item::message("assistant", put_into_words(output));
    }
    let question = conversation
        .iter()
        .rfind(|item| item.role.as_deref() == Some("user"));
    match question.and_then(|item| city_in(&item.text())) {
        Some(city) => Item::call("call_1", WEATHER_TOOL, &json!({ "city": city })),
        None => Item::message("assistant", "Which city do you mean?"),
    }
}

fn put_into_words(tool_output: &str) -> String {
    match serde_json::from_str::<WeatherReply>(tool_output) {
        Ok(weather) => format!(
            "The weather in {}: {}.",
            weather.city, weather.weather_description
        ),
        Err(_) => "I could not find out.".to_owned(),
    }
}

/// The capitalised words after the last `in`.
fn city_in(question: &str) -> Option<String> {
    let (_, rest) = question.rsplit_once(" in ")?;
    let words: Vec<_> = rest
        .split_whitespace()
        .take_while(|word| word.chars().next().is_some_and(char::is_uppercase))
        .map(|word| word.trim_end_matches(['?', '.', '!', ',']))
        .collect();
    if words.is_empty() {
        None
    } else {
        Some(words.join(" "))
    }
}

/// Reads the city out of the arguments of a tool call.
pub(crate) fn city_of_call(call: &Item) -> Option<String> {
    let arguments: Value = serde_json::from_str(call.arguments.as_deref()?).ok()?;
    arguments["city"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{answer, city_of_call};
    use crate::servers::wire::Item;

    #[test]
    fn a_question_with_a_city_calls_the_tool_and_the_answer_names_the_weather() {
        let mut conversation = vec![Item::message(
            "user",
            "What is the weather in San Francisco?",
        )];
        let call = answer(&conversation);
        assert_eq!(call.kind, Item::CALL);
        assert_eq!(city_of_call(&call).as_deref(), Some("San Francisco"));

        let output = json!({ "city": "San Francisco", "weather_description": "fog, 14 °C" });
        conversation.extend([call, Item::call_output("call_1", output.to_string())]);
        let answer = answer(&conversation);
        assert!(answer.is_answer());
        assert_eq!(answer.text(), "The weather in San Francisco: fog, 14 °C.");
    }

    #[test]
    fn a_question_without_a_city_is_asked_back() {
        let reply = answer(&[Item::message("user", "Tell me about the weather.")]);
        assert!(reply.is_answer());
    }
}
