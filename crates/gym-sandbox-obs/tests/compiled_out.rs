//! What is left of the observation in a build without telemetry.

use std::convert::Infallible;
use std::future::ready;
use std::mem::size_of_val;

use gym_sandbox_obs::{BorrowedSandbox, SandboxRequest, Submitted};
use gym_telemetry_api::TELEMETRY_COMPILED_IN;

/// A future that is as large as it is.
fn work() -> impl Future<Output = Result<i64, Infallible>> {
    let bytes = [1_u8; 100];
    async move {
        ready(()).await;
        Ok(i64::from(bytes[99]))
    }
}

#[test]
fn compiled_out_an_observation_is_nothing_and_a_call_is_what_it_wraps() {
    let request = SandboxRequest::builder("nobody").record();
    let mut start = request.start();
    let starting = size_of_val(&start.run(work()));
    start.created("s-1", &Submitted::default());
    let sizes = [size_of_val(&request), size_of_val(&start)];
    let sandbox = start.finish(None);
    let borrowed = BorrowedSandbox::connect("nobody", "s-1");
    let observed = [size_of_val(&sandbox), size_of_val(&borrowed)];
    let executing = size_of_val(&sandbox.exec(work(), |code| Some(*code)));
    let calls = [
        starting,
        executing,
        size_of_val(&borrowed.exec(work(), |code| Some(*code))),
        size_of_val(&sandbox.stop(work())),
    ];
    if TELEMETRY_COMPILED_IN {
        assert!(observed.iter().all(|size| *size > 0));
    } else {
        assert_eq!((sizes, observed), ([0, 0], [0, 0]));
        assert_eq!(calls, [size_of_val(&work()); 4]);
    }
}
