//! What a limit allocates beyond tokio's semaphore on the threads that use it: nothing, once its list of waiting callers
//! is as long as it gets. One test, because it starts telemetry once it has counted without.

#[path = "../../gym-telemetry-otel/tests/support/allocations.rs"]
mod counting;

use std::sync::Arc;

use gym_concurrency::{ConcurrencyComponent, MeteredSemaphore};
use gym_telemetry_api::if_telemetry;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, yield_now};

const LIMIT: u32 = 8;
const TASKS: usize = 64;
const ROUNDS: usize = 50;

/// Returns what this thread allocates while many tasks share a semaphore of either kind; both have one shape but no trait.
macro_rules! allocations {
    ($runtime:expr, $semaphore:expr) => {{
        let semaphore = $semaphore;
        counting::allocations(|| {
            $runtime.block_on(async {
                let mut tasks = JoinSet::new();
                for _ in 0..TASKS {
                    let semaphore = Arc::clone(semaphore);
                    tasks.spawn(async move {
                        for _ in 0..ROUNDS {
                            let permit = semaphore.acquire().await.expect("never closed");
                            // The others wait meanwhile.
                            yield_now().await;
                            drop(permit);
                            drop(semaphore.try_acquire());
                        }
                    });
                }
                while let Some(outcome) = tasks.join_next().await {
                    outcome.expect("no task panics");
                }
            })
        })
    }};
}

fn assert_equal(runtime: &Runtime, state: &str) {
    let tokios = Arc::new(Semaphore::new(LIMIT as usize));
    let ours = MeteredSemaphore::new(LIMIT, ConcurrencyComponent::AgentServer, "counted");
    let ours = Arc::new(ours.expect("a valid limit"));
    // What is set up at the first use only, the list of waiting callers among it.
    let _ = (allocations!(runtime, &tokios), allocations!(runtime, &ours));
    let expected = allocations!(runtime, &tokios);
    assert!(expected > 0, "nothing is counted");
    assert_eq!(allocations!(runtime, &ours), expected, "{state}");
}

#[test]
fn waiting_for_a_limit_allocates_what_waiting_for_a_semaphore_does() {
    let runtime = Builder::new_current_thread()
        .build()
        .expect("a runtime of one thread");
    assert_equal(&runtime, "nothing is exported");
    if_telemetry!({
        let mut config = gym_telemetry_api::TelemetryConfig::default();
        config.enabled = true;
        // Nobody listens, which does not matter here.
        config.otlp_endpoint = Some("http://127.0.0.1:9".to_owned());
        let _handed_over = gym_telemetry_api::configure_telemetry_env(Some(&config));
        let identity = gym_telemetry_api::ServerIdentity::default();
        let telemetry = gym_telemetry_api::init_telemetry(identity).expect("telemetry is on");
        assert!(telemetry.is_exporting());
        assert_equal(&runtime, "metrics are exported");
        let _receipt = telemetry.shutdown(std::time::Duration::ZERO);
    } else {});
}
