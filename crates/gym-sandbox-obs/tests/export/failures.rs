//! Sandboxes, readers and owners that fail.

use std::future::{pending, ready};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gym_sandbox_obs::{
    Allocation, Reading, ResourceReader, Sample, SandboxObservation, SandboxRequest, Submitted,
};

use crate::collector::text;
use crate::readers::{Scripted, hang, sample};
use crate::run::{PATIENCE, Run, attribute, foreign, has_failed, until};

const SOON: Duration = Duration::from_millis(1);

fn running(provider: &str, reader: &Arc<Scripted>) -> SandboxObservation {
    running_with(provider, reader.clone())
}

fn running_with(provider: &str, reader: Arc<dyn ResourceReader>) -> SandboxObservation {
    let request = SandboxRequest::builder(provider)
        .sample_interval(SOON)
        .record();
    let mut start = request.start();
    start.created("sb", &Submitted::default());
    start.finish(Some(reader))
}

fn active(run: &Run, provider: &str) -> Option<f64> {
    run.value(provider, "gym.sandbox.active")
}

pub(crate) async fn a_creation_that_fails_leaves_a_request_and_a_failed_start(run: &Run) {
    let request = SandboxRequest::builder("fails").record();
    let mut start = request.start();
    let failed = start.run(ready(Err::<(), _>("no quota"))).await;
    assert_eq!(failed, Err("no quota"));
    drop(start);
    let spans = run.spans("fails");
    assert_eq!(spans.len(), 2);
    assert!(!has_failed(&spans[0]) && has_failed(&spans[1]));
    assert_eq!(attribute(&spans[1], "id"), None);
    assert_eq!(
        attribute(&spans[1], "request.id"),
        request.id().map(str::to_owned)
    );
    assert_eq!(active(run, "fails"), None, "there was no sandbox");
    assert_eq!(run.value("fails", "gym.sandbox.startup_duration_ms"), None);
}

pub(crate) async fn a_start_that_succeeds_when_tried_again_has_not_failed(run: &Run) {
    let mut start = SandboxRequest::builder("retried").record().start();
    let failed = start.run(ready(Err::<(), _>("busy"))).await;
    assert_eq!(failed, Err("busy"));
    start.retried();
    assert!(start.run(ready(Ok::<_, io::Error>(()))).await.is_ok());
    start.created("sb", &Submitted::default());
    let sandbox = start.finish(None);
    let stopped = sandbox.stop(ready(Ok::<_, io::Error>(()))).await;
    assert!(stopped.is_ok());
    let started = run.one("retried", "gym.sandbox.start");
    assert!(!has_failed(&started) && started.events.is_empty());

    let mut start = SandboxRequest::builder("retried in vain").record().start();
    for reason in ["busy", "still busy"] {
        let failed = start.run(ready(Err::<(), _>(reason))).await;
        assert_eq!(failed, Err(reason));
        if reason == "busy" {
            start.retried();
        }
    }
    drop(start);
    let started = run.one("retried in vain", "gym.sandbox.start");
    let status = started.status.as_ref().expect("it failed");
    assert!(has_failed(&started));
    assert!(status.message.ends_with("still busy"), "{status:?}");
    assert_eq!(started.events.len(), 1);
    let event = &started.events[0].attributes;
    assert_eq!(text(event, "exception.type").as_deref(), Some("&str"));
}

pub(crate) async fn a_sandbox_that_was_never_created_is_recorded_without_an_id(run: &Run) {
    let sandbox = SandboxRequest::builder("nameless")
        .record()
        .start()
        .finish(None);
    assert_eq!(active(run, "nameless"), Some(1.0));
    let stopped = sandbox.stop(ready(Ok::<_, io::Error>(()))).await;
    assert!(stopped.is_ok());
    let stop = run.one("nameless", "gym.sandbox.stop");
    assert_eq!(attribute(&stop, "id"), None);
    assert_eq!(active(run, "nameless"), Some(0.0));
}

pub(crate) async fn a_cancelled_start_leaves_its_request_and_no_sandbox(run: &Run) {
    let request = SandboxRequest::builder("cancelled").record();
    let create = async {
        let mut start = request.start();
        start.created("sb", &Submitted::default());
        start.run(pending::<Result<(), io::Error>>()).await
    };
    assert!(tokio::time::timeout(SOON, create).await.is_err());
    let spans = run.spans("cancelled");
    let names: Vec<_> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "gym.sandbox.request",
            "gym.sandbox.start",
            "gym.sandbox.stop"
        ]
    );
    assert!(spans.iter().all(|span| !has_failed(span)));
    assert_eq!(attribute(&spans[2], "abandoned").as_deref(), Some("true"));
    assert_eq!(active(run, "cancelled"), Some(0.0));
}

pub(crate) async fn a_failed_upload_releases_the_sandbox(run: &Run) {
    let mut start = SandboxRequest::builder("upload").record().start();
    start.created("sb", &Submitted::default());
    assert_eq!(active(run, "upload"), Some(1.0));
    let failed = start.run(ready(Err::<(), _>("disk full"))).await;
    assert_eq!(failed, Err("disk full"));
    let deleted = start.stop(ready(Ok::<_, io::Error>(5))).await;
    assert_eq!(deleted.ok(), Some(5));
    let started = run.one("upload", "gym.sandbox.start");
    assert!(has_failed(&started));
    assert_eq!(attribute(&started, "id").as_deref(), Some("sb"));
    let stopped = run.one("upload", "gym.sandbox.stop");
    assert_eq!(attribute(&stopped, "abandoned"), None);
    assert!(!has_failed(&stopped));
    assert_eq!(active(run, "upload"), Some(0.0));
}

pub(crate) async fn a_reader_that_panics_loses_readings_and_nothing_else(run: &Run) {
    let reader = Scripted::new(|number| match number {
        0 => Box::pin(async { panic!("killed on purpose") }),
        1 => panic!("killed on purpose, before the reading began"),
        _ => Box::pin(ready(Ok(sample(3)))),
    });
    let sandbox = running("panics", &reader);
    until("a reading after the panics", || reader.readings() > 3).await;
    sandbox
        .stop(ready(Ok::<_, io::Error>(())))
        .await
        .expect("does not fail");
    let samples = run.named("panics", "gym.sandbox.resource.sample");
    for span in &samples[..2] {
        assert_eq!(
            foreign(span, "error.type").as_deref(),
            Some("malformed_reading")
        );
        assert_eq!(attribute(span, "sample.cpu_count"), None);
    }
    assert_eq!(
        attribute(&samples[2], "sample.cpu_used_percentage").as_deref(),
        Some("3.5")
    );
    assert_eq!(active(run, "panics"), Some(0.0));
    assert_eq!(Arc::strong_count(&reader), 1);
}

/// Panics wherever it can.
#[derive(Debug)]
struct Hostile(Arc<AtomicBool>);

impl ResourceReader for Hostile {
    fn allocation_source(&self) -> &'static str {
        panic!("killed on purpose, when asked for a name")
    }

    fn sample_source(&self) -> &'static str {
        panic!("killed on purpose, when asked for a name")
    }

    fn allocation(&self) -> Reading<'_, Allocation> {
        panic!("killed on purpose, before the reading began")
    }

    fn sample(&self) -> Reading<'_, Sample> {
        Box::pin(async { panic!("killed on purpose") })
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
        panic!("killed on purpose, at last");
    }
}

pub(crate) async fn a_reader_that_panics_wherever_it_can_ends_no_sampling(run: &Run) {
    let is_gone = Arc::new(AtomicBool::new(false));
    let steady = Scripted::new(|_| Box::pin(ready(Ok(sample(1)))));
    let neighbour = running("neighbour", &steady);
    let hostile = running_with("hostile", Arc::new(Hostile(Arc::clone(&is_gone))));
    until("a reading that failed", || {
        !run.named("hostile", "gym.sandbox.resource.sample")
            .is_empty()
    })
    .await;
    hostile
        .stop(ready(Ok::<_, io::Error>(())))
        .await
        .expect("does not fail");
    until("the reader is let go", || is_gone.load(Ordering::SeqCst)).await;
    let before = steady.readings();
    until("the neighbour is still read", || {
        steady.readings() > before + 2
    })
    .await;
    drop(neighbour);
    let span = &run.named("hostile", "gym.sandbox.resource.sample")[0];
    let error = foreign(span, "error.type");
    assert_eq!(error.as_deref(), Some("malformed_reading"));
    assert_eq!(attribute(span, "resource.source"), None);
    assert_eq!(active(run, "hostile"), Some(0.0));
}

pub(crate) async fn a_reader_that_hangs_delays_a_stop_by_its_bound_only(run: &Run) {
    let reader = Scripted::new(|_| hang());
    let sandbox = running("hangs", &reader);
    until("a reading", || reader.readings() > 0).await;
    let called = Instant::now();
    let code = sandbox
        .exec(ready(Ok::<_, io::Error>(0)), |code| Some(*code))
        .await;
    assert!(
        code.is_ok() && called.elapsed() < Duration::from_secs(1),
        "an exec waits for nobody"
    );
    let deleted_at = async { Ok::<_, io::Error>(Instant::now()) };
    let deleted_at = sandbox.stop(deleted_at).await.expect("does not fail");
    let waited = deleted_at - called;
    assert!(waited >= Duration::from_millis(1_900), "{waited:?}");
    assert!(waited < PATIENCE / 2, "{waited:?}");
    let samples = run.named("hangs", "gym.sandbox.resource.sample");
    let last = samples.last().expect("the last sample is on record");
    assert_eq!(foreign(last, "error.type").as_deref(), Some("timeout"));
    assert_eq!(run.value("hangs", "gym.sandbox.cpu_count"), None);
    assert_eq!(Arc::strong_count(&reader), 1);
}

pub(crate) async fn a_reader_that_blocks_the_thread_delays_a_stop_by_its_bound_only(run: &Run) {
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    let reader = Scripted::new(move |_| {
        // Ends when the test lets go of the other side.
        let _ = released
            .lock()
            .map(|released| released.recv_timeout(PATIENCE));
        Box::pin(ready(Ok(sample(1))))
    });
    let blocking = running("blocks", &reader);
    until("a reading", || reader.readings() > 0).await;
    let bystander = Scripted::new(|_| Box::pin(ready(Ok(sample(1)))));
    let bystander = running("bystander", &bystander);
    let called = Instant::now();
    let deleted = async { Ok::<_, io::Error>(()) };
    let (one, other) = tokio::join!(
        blocking.stop(deleted),
        bystander.stop(ready(Ok::<_, io::Error>(())))
    );
    assert!(one.is_ok() && other.is_ok());
    let waited = called.elapsed();
    assert!(waited < Duration::from_secs(5), "{waited:?}");
    drop(release);
    until("the reader is let go", || Arc::strong_count(&reader) == 1).await;
    assert_eq!(active(run, "blocks"), Some(0.0));
}

pub(crate) async fn a_failed_deletion_still_ends_everything(run: &Run) {
    let reader = Scripted::new(|_| Box::pin(ready(Ok(sample(1)))));
    let sandbox = running("delete", &reader);
    let failed = sandbox.stop(ready(Err::<(), _>("busy"))).await;
    assert_eq!(failed, Err("busy"));
    assert!(has_failed(&run.one("delete", "gym.sandbox.stop")));
    assert_eq!(active(run, "delete"), Some(0.0));
    assert_eq!(Arc::strong_count(&reader), 1);
}

pub(crate) async fn a_forgotten_sandbox_is_abandoned_on_record(run: &Run) {
    let reader = Scripted::new(|_| Box::pin(ready(Ok(sample(1)))));
    let sandbox = running("forgotten", &reader);
    until("a reading", || reader.readings() > 0).await;
    drop(sandbox);
    until("the reader is let go", || Arc::strong_count(&reader) == 1).await;
    let stop = run.one("forgotten", "gym.sandbox.stop");
    assert_eq!(attribute(&stop, "abandoned").as_deref(), Some("true"));
    assert_eq!(attribute(&stop, "id").as_deref(), Some("sb"));
    assert_eq!(active(run, "forgotten"), Some(0.0));
    assert_eq!(run.named("forgotten", "gym.sandbox.request").len(), 1);
}

pub(crate) async fn a_runtime_that_goes_away_takes_its_sandboxes_along(run: &Run) {
    let reader = Scripted::new(|_| hang());
    let owned = Arc::clone(&reader);
    let is_running = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&is_running);
    let application = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.expect("a runtime can be built");
        runtime.spawn(async move {
            let sandbox = running("vanished", &owned);
            seen.store(true, Ordering::SeqCst);
            sandbox.stop(pending::<Result<(), io::Error>>()).await
        });
        // Far enough for the reading to be under way, and no further.
        runtime.block_on(async {
            while !is_running.load(Ordering::SeqCst) {
                tokio::task::yield_now().await;
            }
        });
    });
    application.join().expect("the application does not panic");
    until("the reader is let go", || Arc::strong_count(&reader) == 1).await;
    let stop = run.one("vanished", "gym.sandbox.stop");
    assert_eq!(attribute(&stop, "abandoned").as_deref(), Some("true"));
    assert_eq!(active(run, "vanished"), Some(0.0));
    assert_eq!(run.named("vanished", "gym.sandbox.request").len(), 1);
    assert_eq!(run.named("vanished", "gym.sandbox.start").len(), 1);
}
