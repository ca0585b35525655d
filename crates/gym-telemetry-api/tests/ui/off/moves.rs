use gym_telemetry_api::{enter, group, in_span, managed_span};

fn consume(text: String) -> usize {
    text.len()
}

fn main() {
    let text = String::from("moved");
    let _span = managed_span!(group::ROLLOUT, "rollout", "length" => consume(text));
    println!("{text}");

    let text = String::from("moved");
    let _future = in_span!(group::ROLLOUT, "rollout", "length" => consume(text); async move { text.len() });

    let span = managed_span!(group::ROLLOUT, "rollout");
    let _entered = enter!(span);
    span.end();

    let mut text = String::from("borrowed");
    let borrowed = &mut text;
    let _span = managed_span!(group::ROLLOUT, "rollout", "length" => text.len());
    borrowed.push('!');
}
