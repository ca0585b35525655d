//! What a program does. The README shows this file.
#![expect(clippy::print_stderr, reason = "a program may talk to its user")]

use gym_telemetry_api::{
    DEFAULT_SHUTDOWN_BUDGET, ServerIdentity, ServerType, enter, group, init_telemetry,
    shutdown_telemetry, span,
};

fn main() {
    // Reads the environment. Off unless that says otherwise, and in a build without the feature.
    let telemetry = init_telemetry(
        ServerIdentity::builder()
            .server_name("calculator")
            .server_type(ServerType::ResourcesServers)
            .build(),
    );
    if telemetry.is_some_and(|telemetry| telemetry.is_exporting()) {
        eprintln!("this process is observed");
    }

    {
        let _entered = enter!(group::VERIFY, span::VERIFY);
        let answer: u32 = [19, 23].iter().sum();
        assert_eq!(answer, 42);
    }

    // Exports what is left, within the budget, and says what became of it.
    let receipt = shutdown_telemetry(DEFAULT_SHUTDOWN_BUDGET);
    if !receipt.is_complete() {
        eprintln!("telemetry is incomplete: {receipt:?}");
    }
}
