//! A program with telemetry compiled in and switched off: what starting costs it more than `start_bare`.

use gym_telemetry_api::{ServerIdentity, enter, group, init_telemetry};

fn main() {
    let identity = ServerIdentity::builder().server_name("bench").build();
    let telemetry = init_telemetry(identity);
    let _entered = enter!(group::ROLLOUT, "a place in the program");
    assert!(
        telemetry.is_none(),
        "telemetry is off unless it is switched on"
    );
}
