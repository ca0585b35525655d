//! What a collector receives of the sandboxes of a process. Telemetry is set up once per process, so this is one test;
//! another way to set it up has a process of its own.

#[path = "../../../gym-telemetry-otel/tests/support/mod.rs"]
mod collector;
mod failures;
#[path = "../../../gym-demo/tests/registry/findings.rs"]
mod findings;
mod limits;
mod readers;
mod run;
#[path = "../../../gym-demo/tests/registry/sandboxes.rs"]
mod sandboxes;
mod unsampled;
mod whole;

use run::Run;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_receives_the_life_of_each_sandbox() {
    let run = Run::start();
    whole::one_sandbox_is_joined_from_request_to_stop(&run).await;
    whole::services_of_a_collection_are_requested_before_the_first_starts(&run).await;
    whole::a_borrowed_sandbox_is_neither_counted_nor_read(&run).await;
    whole::nothing_is_read_without_a_reader_or_an_interval(&run).await;
    failures::a_creation_that_fails_leaves_a_request_and_a_failed_start(&run).await;
    failures::a_start_that_succeeds_when_tried_again_has_not_failed(&run).await;
    failures::a_sandbox_that_was_never_created_is_recorded_without_an_id(&run).await;
    failures::a_cancelled_start_leaves_its_request_and_no_sandbox(&run).await;
    failures::a_failed_upload_releases_the_sandbox(&run).await;
    failures::a_reader_that_panics_loses_readings_and_nothing_else(&run).await;
    failures::a_reader_that_panics_wherever_it_can_ends_no_sampling(&run).await;
    failures::a_reader_that_hangs_delays_a_stop_by_its_bound_only(&run).await;
    failures::a_reader_that_blocks_the_thread_delays_a_stop_by_its_bound_only(&run).await;
    failures::a_failed_deletion_still_ends_everything(&run).await;
    failures::a_forgotten_sandbox_is_abandoned_on_record(&run).await;
    failures::a_runtime_that_goes_away_takes_its_sandboxes_along(&run).await;
    limits::readings_without_room_are_skipped_and_counted(&run).await;
    limits::a_gauge_ends_with_its_sandbox_and_when_it_is_stale(&run).await;
    run.end();
}
