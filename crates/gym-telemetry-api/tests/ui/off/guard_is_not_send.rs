use gym_telemetry_api::{enter, group};

fn main() {
    let entered = enter!(group::ROLLOUT, "rollout");
    std::thread::spawn(move || drop(entered));
}
