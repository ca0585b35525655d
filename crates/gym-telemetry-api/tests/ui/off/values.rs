use std::collections::HashMap;

use gym_telemetry_api::{add_event, group, managed_span, set_span_attributes};

fn main() {
    let map = HashMap::<String, String>::new();
    let span = managed_span!(group::ROLLOUT, "rollout", "map" => map);
    set_span_attributes!(span; "char" => 'c');
    add_event!(span; "event", 7 => "a key that is a number");
    add_event!(span; 7);
}
