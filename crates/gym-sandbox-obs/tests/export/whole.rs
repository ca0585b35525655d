//! Sandboxes that live as they should.

use std::collections::HashSet;
use std::future::ready;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gym_resources::{Cores, SandboxResources};
use gym_sandbox_obs::{BorrowedSandbox, SandboxRequest, Submitted, Unavailable};
use gym_telemetry_api::{Context, FutureExt, in_span};
use gym_telemetry_core::{group, span};
use opentelemetry_proto::tonic::trace::v1::Span;

use crate::readers::{Scripted, hang, sample};
use crate::run::{Run, attribute, foreign, has_failed, until};

/// Long enough for values to be looked at before they are too old.
const INTERVAL: Duration = Duration::from_secs(1);

fn resources() -> SandboxResources {
    SandboxResources {
        cpu: Cores::new(2.0).ok(),
        memory_mib: Some(4096),
        disk_gib: Some(20),
        gpu: Some(0),
        gpu_type: Some("H100".to_owned()),
    }
}

fn submitted() -> Submitted {
    let half = SandboxResources {
        cpu: Cores::new(1.0).ok(),
        memory_mib: Some(2048),
        ..resources()
    };
    Submitted {
        requests: half.amounts(),
        limits: resources().amounts(),
    }
}

/// One sandbox with two samples: one while it runs, one at its end.
async fn live(run: &Run) -> io::Result<()> {
    let proxy = SandboxResources {
        memory_mib: Some(64),
        ..SandboxResources::default()
    };
    let judge = SandboxResources {
        gpu: Some(1),
        ..resources()
    };
    let (resources, stops) = (resources(), Arc::new(AtomicBool::new(false)));
    let request = SandboxRequest::builder("whole")
        .resources(&resources)
        .sidecar("proxy", &proxy)
        .sidecar("judge", &judge)
        .sample_interval(INTERVAL)
        .record();
    let mut start = request.start();
    start.run(async { Ok::<_, io::Error>(()) }).await?;
    start.created("sb-1", &submitted());
    start.retried();
    let is_stopping = Arc::clone(&stops);
    let reader = Scripted::new(move |number| {
        let is_last = is_stopping.load(Ordering::SeqCst);
        match number {
            0 => Box::pin(std::future::ready(Ok(sample(1)))),
            _ if is_last => Box::pin(std::future::ready(Ok(sample(2)))),
            _ => hang(),
        }
    });
    let sandbox = start.finish(Some(reader.clone()));
    // The second one hangs, so that exactly one was read by now.
    until("two readings", || reader.readings() > 1).await;
    assert_eq!(run.value("whole", "gym.sandbox.active"), Some(1.0));
    assert_eq!(
        run.value("whole", "gym.sandbox.memory_used_mib"),
        Some(100.0)
    );
    let code = sandbox
        .exec(async { Ok::<_, io::Error>(3) }, |code| Some(*code))
        .await?;
    assert_eq!(code, 3);
    stops.store(true, Ordering::SeqCst);
    let delete = async {
        let readings = reader.readings();
        for (gauge, value) in [
            ("gym.sandbox.cpu_count", 4.0),
            ("gym.sandbox.cpu_used_percentage", 2.5),
            ("gym.sandbox.memory_total_mib", 24_105.562_5),
            ("gym.sandbox.memory_used_mib", 200.0),
        ] {
            assert_eq!(run.value("whole", gauge), Some(value), "{gauge}");
        }
        assert_eq!(reader.readings(), readings, "sampling is over");
        Ok::<_, io::Error>(())
    };
    sandbox.stop(delete).await?;
    assert_eq!(Arc::strong_count(&reader), 1, "nothing holds the reader");
    Ok(())
}

pub(crate) async fn one_sandbox_is_joined_from_request_to_stop(run: &Run) {
    let context = Context::current().with_rollout_id("7-1");
    let rollout = in_span!(group::ROLLOUT, span::ROLLOUT, err; live(run)).in_context(context);
    rollout.await.expect("nothing fails");

    let rollout = run.span("gym.rollout");
    let spans = run.spans("whole");
    let names: Vec<_> = spans.iter().map(|span| span.name.as_str()).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    let expected = [
        "gym.sandbox.exec",
        "gym.sandbox.request",
        "gym.sandbox.resource.allocation",
        "gym.sandbox.resource.sample",
        "gym.sandbox.resource.sample",
        "gym.sandbox.start",
        "gym.sandbox.stop",
    ];
    assert_eq!(sorted, expected);
    assert_eq!(names[..2], ["gym.sandbox.request", "gym.sandbox.start"]);
    let requests: HashSet<_> = spans
        .iter()
        .map(|span| attribute(span, "request.id"))
        .collect();
    assert_eq!(requests.len(), 1);
    assert!(requests.iter().all(Option::is_some));
    for span in &spans {
        assert_eq!(span.trace_id, rollout.trace_id, "{}", span.name);
        assert_eq!(span.parent_span_id, rollout.span_id, "{}", span.name);
        assert_eq!(foreign(span, "nemo.gym.rollout.id").as_deref(), Some("7-1"));
        assert!(!has_failed(span), "{}", span.name);
        let id = (span.name != "gym.sandbox.request").then_some("sb-1");
        assert_eq!(attribute(span, "id").as_deref(), id, "{}", span.name);
    }
    the_request_says_what_was_asked_for(&spans[0]);
    the_start_says_what_was_submitted(&spans[1]);
    the_allocation_says_what_was_given(&run.one("whole", "gym.sandbox.resource.allocation"));
    for (number, span) in run
        .named("whole", "gym.sandbox.resource.sample")
        .iter()
        .enumerate()
    {
        let number = i32::try_from(number).expect("a small number") + 1;
        assert_eq!(
            attribute(span, "sample.timestamp_ms"),
            Some((1_788_257_472_000 + i64::from(number)).to_string())
        );
        let used = Some(format!("{number}.5"));
        assert_eq!(attribute(span, "sample.cpu_used_percentage"), used);
        assert_eq!(
            attribute(span, "resource.status").as_deref(),
            Some("available")
        );
        assert_eq!(
            attribute(span, "resource.source").as_deref(),
            Some("test.sample")
        );
    }
    let exec = run.one("whole", "gym.sandbox.exec");
    assert_eq!(attribute(&exec, "return_code").as_deref(), Some("3"));
    let stop = run.one("whole", "gym.sandbox.stop");
    assert_eq!(attribute(&stop, "abandoned"), None);
    for (metric, value) in [
        ("gym.sandbox.active", Some(0.0)),
        ("gym.sandbox.startup_duration_ms", Some(1.0)),
        ("gym.sandbox.exec_duration_ms", Some(1.0)),
        ("gym.sandbox.create_retry_total", Some(1.0)),
        ("gym.sandbox.memory_used_mib", None),
    ] {
        assert_eq!(run.value("whole", metric), value, "{metric}");
    }
}

fn the_request_says_what_was_asked_for(request: &Span) {
    for (key, value) in [
        ("requested.count", Some("1")),
        ("requested.cpu", Some("2")),
        ("requested.memory_mib", Some("4096")),
        ("requested.disk_gib", Some("20")),
        ("requested.gpu", Some("0")),
        ("requested.gpu_type", Some("H100")),
        ("requested.sidecar_count", Some("2")),
        ("requested.sidecar.0.name", Some("proxy")),
        ("requested.sidecar.0.memory_mib", Some("64")),
        ("requested.sidecar.0.cpu", None),
        ("requested.sidecar.1.name", Some("judge")),
        ("requested.sidecar.1.cpu", Some("2")),
        ("requested.sidecar.1.memory_mib", Some("4096")),
        ("requested.sidecar.1.disk_gib", Some("20")),
        ("requested.sidecar.1.gpu", Some("1")),
        ("requested.sidecar.1.gpu_type", Some("H100")),
    ] {
        assert_eq!(attribute(request, key).as_deref(), value, "{key}");
    }
}

fn the_start_says_what_was_submitted(start: &Span) {
    for (key, value) in [
        ("submitted.requests.cpu", Some("1")),
        ("submitted.requests.memory_mib", Some("2048")),
        ("submitted.requests.disk_gib", Some("20")),
        ("submitted.requests.gpu", Some("0")),
        ("submitted.requests.gpu_type", Some("H100")),
        ("submitted.limits.cpu", Some("2")),
        ("submitted.limits.memory_mib", Some("4096")),
        ("submitted.limits.disk_gib", Some("20")),
        ("submitted.limits.gpu", Some("0")),
        ("submitted.limits.gpu_type", Some("H100")),
        ("requested.cpu", None),
    ] {
        assert_eq!(attribute(start, key).as_deref(), value, "{key}");
    }
}

fn the_allocation_says_what_was_given(allocation: &Span) {
    for (key, value) in [
        ("allocation.component_count", Some("2")),
        ("allocation.component.0.name", Some("sandbox")),
        ("allocation.component.0.limits.cpu", Some("1.5")),
        ("allocation.component.0.limits.memory_mib", Some("1.5")),
        ("allocation.component.0.requests.cpu", None),
        ("allocation.component.1.name", Some("judge")),
        ("allocation.component.1.requests.cpu", Some("1")),
        ("allocation.component.1.requests.memory_mib", Some("512")),
        ("allocation.component.1.requests.disk_gib", Some("2.5")),
        ("allocation.component.1.requests.gpu", Some("1")),
        ("allocation.component.1.requests.gpu_type", Some("H100")),
        ("allocation.component.1.limits.cpu", Some("2")),
        ("allocation.component.1.limits.memory_mib", Some("1024")),
        ("allocation.component.1.limits.disk_gib", Some("2.5")),
        ("allocation.component.1.limits.gpu", Some("1")),
        ("allocation.component.1.limits.gpu_type", Some("H100")),
        ("allocation.component.2.name", None),
        ("allocation.designator.kind", Some("kubernetes")),
        ("allocation.designator.id", Some("namespaces/ns/pods/p")),
        ("allocation.host.kind", Some("kubernetes-node")),
        ("allocation.host.id", Some("node-1")),
        ("resource.status", Some("available")),
        ("resource.source", Some("test.allocation")),
    ] {
        assert_eq!(attribute(allocation, key).as_deref(), value, "{key}");
    }
    assert_eq!(foreign(allocation, "error.type"), None);
}

pub(crate) async fn services_of_a_collection_are_requested_before_the_first_starts(run: &Run) {
    let services = ["web", "db", "cache"];
    let requests = services.map(|service| {
        SandboxRequest::builder("compose")
            .service("collection-1", service)
            .sample_interval(INTERVAL)
            .record()
    });
    let mut start = requests[0].start();
    start.created("web-1", &Submitted::default());
    let reader = Scripted::new(|number| Box::pin(ready(Ok(sample(i32::from(number > 0))))));
    let web = start.finish(Some(reader));
    web.exec(async { Ok::<_, io::Error>(0) }, |code| Some(*code))
        .await
        .expect("does not fail");
    let mut start = requests[1].start();
    let failed = start.run(async { Err::<(), _>("no room") }).await;
    assert_eq!(failed, Err("no room"));
    drop(start);
    web.stop(async { Ok::<_, io::Error>(()) })
        .await
        .expect("does not fail");

    let requested = run.named("compose", "gym.sandbox.request");
    let ids: HashSet<_> = requested
        .iter()
        .map(|span| attribute(span, "request.id"))
        .collect();
    assert_eq!(ids.len(), 3);
    let starts = run.named("compose", "gym.sandbox.start");
    assert_eq!(starts.len(), 2);
    let first = starts[0].start_time_unix_nano;
    for (span, service) in requested.iter().zip(services) {
        assert!(span.end_time_unix_nano <= first, "all requests come first");
        assert_eq!(attribute(span, "service.id").as_deref(), Some(service));
        assert_eq!(
            attribute(span, "collection.id").as_deref(),
            Some("collection-1")
        );
    }
    assert_eq!(attribute(&starts[0], "service.id").as_deref(), Some("web"));
    assert_eq!(attribute(&starts[0], "submitted.requests.memory_mib"), None);
    for name in ["exec", "resource.allocation", "resource.sample", "stop"] {
        let of_web = run.named("compose", &format!("gym.sandbox.{name}"));
        assert!(!of_web.is_empty(), "{name}");
        for span in of_web {
            assert_eq!(attribute(&span, "service.id").as_deref(), Some("web"));
            assert_eq!(
                attribute(&span, "collection.id").as_deref(),
                Some("collection-1")
            );
        }
    }
    assert!(has_failed(&starts[1]) && attribute(&starts[1], "id").is_none());
    assert_eq!(run.value("compose", "gym.sandbox.active"), Some(0.0));
}

pub(crate) async fn a_borrowed_sandbox_is_neither_counted_nor_read(run: &Run) {
    let borrowed = BorrowedSandbox::connect("borrowed", "sb-9");
    let failed = borrowed
        .exec(async { Err::<i64, _>("gone") }, |code| Some(*code))
        .await;
    assert_eq!(failed, Err("gone"));
    let rollout = Context::current().with_rollout_id("r-9");
    let call = borrowed.exec(async { Ok::<_, io::Error>(0) }, |code| Some(*code));
    assert_eq!(call.in_context(rollout).await.ok(), Some(0));
    drop(borrowed);
    let spans = run.spans("borrowed");
    let rollouts = [0, 1].map(|call: usize| foreign(&spans[call], "nemo.gym.rollout.id"));
    assert_eq!(rollouts, [None, Some("r-9".to_owned())]);
    assert_eq!(spans.len(), 2);
    assert_eq!(attribute(&spans[0], "id").as_deref(), Some("sb-9"));
    assert!(has_failed(&spans[0]) && attribute(&spans[0], "return_code").is_none());
    assert_eq!(run.value("borrowed", "gym.sandbox.active"), None);
    assert_eq!(
        run.value("borrowed", "gym.sandbox.exec_duration_ms"),
        Some(2.0)
    );
}

pub(crate) async fn nothing_is_read_without_a_reader_or_an_interval(run: &Run) {
    let never = SandboxRequest::builder("never")
        .sample_interval(Duration::ZERO)
        .record();
    let mut start = never.start();
    start.created("n-1", &Submitted::default());
    let reader = Scripted::new(|_| hang());
    let sandbox = start.finish(Some(reader.clone()));
    assert_eq!(Arc::strong_count(&reader), 1, "the reader is not kept");
    sandbox
        .stop(async { Ok::<_, io::Error>(()) })
        .await
        .expect("does not fail");
    let names: Vec<_> = run
        .spans("never")
        .into_iter()
        .map(|span| span.name)
        .collect();
    assert_eq!(
        names,
        [
            "gym.sandbox.request",
            "gym.sandbox.start",
            "gym.sandbox.stop"
        ]
    );

    let mut start = SandboxRequest::builder("unreadable").record().start();
    start.created("u-1", &Submitted::default());
    let reader = Scripted::without_allocation(Unavailable::HttpStatus(404));
    let sandbox = start.finish(Some(reader));
    sandbox
        .stop(async { Ok::<_, io::Error>(()) })
        .await
        .expect("does not fail");
    let allocation = run.one("unreadable", "gym.sandbox.resource.allocation");
    assert_eq!(
        foreign(&allocation, "error.type").as_deref(),
        Some("http_404")
    );
    assert_eq!(
        attribute(&allocation, "resource.status").as_deref(),
        Some("unavailable")
    );
    assert_eq!(attribute(&allocation, "allocation.component_count"), None);
    assert!(
        !has_failed(&allocation),
        "what is not available is no error"
    );
}
