use gym_telemetry_api::{enter, group};

fn spawn<F: Future + Send>(_: F) {}

fn main() {
    spawn(async {
        let _entered = enter!(group::ROLLOUT, "rollout");
        std::future::ready(()).await;
    });
}
