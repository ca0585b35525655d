//! A process whose traces are not sampled.

use std::future::ready;
use std::io;
use std::process::Command;
use std::time::Duration;

use gym_sandbox_obs::{SandboxRequest, Submitted};

use crate::readers::{Scripted, sample};
use crate::run::Run;

/// Tells this program that it is the process of the test.
const ROLE: &str = "GYM_TEST_UNSAMPLED";

#[tokio::test]
async fn a_start_that_is_not_sampled_is_not_read() {
    if std::env::var_os(ROLE).is_none() {
        let status = Command::new(std::env::current_exe().expect("a test is a program"))
            .args([
                "--exact",
                "unsampled::a_start_that_is_not_sampled_is_not_read",
            ])
            .env(ROLE, "1")
            .env("OTEL_TRACES_SAMPLER", "parentbased_always_off")
            .status();
        assert!(status.expect("the program starts").success());
        return;
    }
    let _run = Run::start();
    let reader = Scripted::new(|_| Box::pin(ready(Ok(sample(1)))));
    let request = SandboxRequest::builder("unsampled")
        .sample_interval(Duration::from_millis(1))
        .record();
    let mut start = request.start();
    start.created("sb", &Submitted::default());
    let sandbox = start.finish(Some(reader.clone()));
    // With sampling, there is at least the last sample.
    let stopped = sandbox.stop(ready(Ok::<_, io::Error>(()))).await;
    assert!(stopped.is_ok());
    assert_eq!(reader.readings(), 0);
}
