//! More sandboxes than can be read, and values that are too old.

use std::future::ready;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use gym_sandbox_obs::{SandboxRequest, Submitted, set_max_reads_in_flight};

use crate::readers::{Scripted, hang, sample};
use crate::run::{Run, until};

const SOON: Duration = Duration::from_millis(1);

pub(crate) async fn readings_without_room_are_skipped_and_counted(run: &Run) {
    set_max_reads_in_flight(1);
    let request = SandboxRequest::builder("crowded")
        .sample_interval(SOON)
        .record();
    let started = |reader: &Arc<Scripted>| {
        let mut start = request.start();
        start.created("sb", &Submitted::default());
        start.finish(Some(reader.clone()))
    };
    let slow = Scripted::new(|_| hang());
    let occupant = started(&slow);
    until("the only place is taken", || slow.readings() == 1).await;
    let quick = Scripted::new(|_| Box::pin(ready(Ok(sample(1)))));
    let waiting = started(&quick);
    let skipped = || run.value("crowded", "gym.sandbox.sample_skipped_total");
    until("readings are skipped", || skipped() > Some(10.0)).await;
    assert_eq!(quick.readings(), 0, "there was no room");
    drop(occupant);
    until("there is room again", || quick.readings() > 0).await;
    waiting
        .stop(ready(Ok::<_, io::Error>(())))
        .await
        .expect("does not fail");
    set_max_reads_in_flight(2048);
    assert_eq!(run.value("crowded", "gym.sandbox.active"), Some(0.0));
    let unread = run
        .named("crowded", "gym.sandbox.resource.allocation")
        .len();
    assert_eq!(unread, 2, "allocations wait for room and are not skipped");
}

pub(crate) async fn a_gauge_ends_with_its_sandbox_and_when_it_is_stale(run: &Run) {
    let stale = Scripted::new(|number| match number {
        0 => Box::pin(ready(Ok(sample(1)))),
        _ => hang(),
    });
    let request = SandboxRequest::builder("stale")
        .sample_interval(SOON)
        .record();
    let mut start = request.start();
    start.created("sb", &Submitted::default());
    let sandbox = start.finish(Some(stale.clone()));
    until("the second reading", || stale.readings() > 1).await;
    until("the value is too old", || {
        run.value("stale", "gym.sandbox.cpu_count").is_none()
    })
    .await;
    drop(sandbox);

    let fresh = Scripted::new(|_| Box::pin(ready(Ok(sample(1)))));
    let request = SandboxRequest::builder("ended")
        .sample_interval(Duration::from_millis(500))
        .record();
    let mut start = request.start();
    start.created("sb", &Submitted::default());
    let sandbox = start.finish(Some(fresh.clone()));
    until("a reading", || fresh.readings() > 0).await;
    until("a value", || {
        run.value("ended", "gym.sandbox.cpu_count") == Some(4.0)
    })
    .await;
    drop(sandbox);
    assert_eq!(run.value("ended", "gym.sandbox.cpu_count"), None);
}
