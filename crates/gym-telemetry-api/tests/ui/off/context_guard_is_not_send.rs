use gym_telemetry_api::Context;

fn send<T: Send>(_: T) {}

fn main() {
    send(Context::current().attach());
}
