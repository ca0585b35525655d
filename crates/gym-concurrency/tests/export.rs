//! What a collector receives of the limits of a process. Telemetry is set up once per process, so this is one test.
#![expect(clippy::float_cmp, reason = "the counts are small whole numbers")]

#[path = "../../gym-telemetry-otel/tests/support/mod.rs"]
mod collector;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use collector::Collector;
use gym_concurrency::{ConcurrencyComponent, MeteredSemaphore};
use gym_telemetry_api::__private::observe;
use gym_telemetry_api::{
    ServerIdentity, TelemetryConfig, TelemetryHandle, configure_telemetry_env, init_telemetry,
    shutdown_telemetry,
};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;

const BUDGET: Duration = Duration::from_secs(30);

/// A point's attributes and its value: a gauge's or sum's number, a histogram's count.
type Points = Vec<(BTreeMap<String, String>, f64)>;

struct Run {
    collector: Collector,
    telemetry: TelemetryHandle,
}

impl Run {
    /// Exports now and returns the points of one metric, none if it was not in that export.
    fn points(&self, name: &str) -> Points {
        let before = self.collector.received().metrics.len();
        let _ = self.telemetry.flush(BUDGET);
        let received = self
            .collector
            .wait_until("an export", |received| received.metrics.len() > before);
        let last = received.metrics.last().expect("one has arrived");
        let metrics = last
            .body
            .resource_metrics
            .iter()
            .flat_map(|metrics| &metrics.scope_metrics)
            .flat_map(|metrics| &metrics.metrics);
        metrics
            .filter(|metric| metric.name == name)
            .flat_map(|metric| points(metric.data.as_ref().expect("a metric has data")))
            .collect()
    }

    /// The value of the only point of one metric.
    fn value(&self, name: &str) -> f64 {
        let points = self.points(name);
        assert_eq!(points.len(), 1, "{name}: {points:?}");
        points[0].1
    }
}

fn points(data: &Data) -> Points {
    let numbers = match data {
        Data::Gauge(gauge) => &gauge.data_points,
        Data::Sum(sum) => {
            assert!(sum.is_monotonic);
            &sum.data_points
        }
        Data::Histogram(histogram) => {
            return histogram
                .data_points
                .iter()
                .map(|point| (attributes(&point.attributes), as_float(point.count)))
                .collect();
        }
        other => panic!("unexpected {other:?}"),
    };
    numbers
        .iter()
        .map(|point| {
            let value = match point.value.expect("a point has a value") {
                Value::AsInt(value) => as_float(u64::try_from(value).expect("not negative")),
                Value::AsDouble(value) => value,
            };
            (attributes(&point.attributes), value)
        })
        .collect()
}

fn attributes(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    attributes
        .iter()
        .map(|pair| {
            let value = collector::text(attributes, &pair.key).expect("an attribute has a value");
            (pair.key.clone(), value)
        })
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn as_float(number: u64) -> f64 {
    number as f64
}

fn start() -> Run {
    let collector = Collector::start();
    let mut config = TelemetryConfig::default();
    config.enabled = true;
    config.otlp_endpoint = Some(collector.endpoint());
    configure_telemetry_env(Some(&config)).expect("telemetry is on");
    let telemetry = init_telemetry(ServerIdentity::default()).expect("telemetry is on");
    Run {
        collector,
        telemetry,
    }
}

fn limit(slots: u32, name: &'static str) -> MeteredSemaphore {
    MeteredSemaphore::new(slots, ConcurrencyComponent::AgentServer, name).expect("a valid limit")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_receives_what_the_limits_are_doing() {
    let run = start();
    a_full_limit_is_seen_before_anybody_is_admitted(&run).await;
    equal_limits_are_summed_and_dropped_ones_vanish(&run).await;
    counters_outlive_their_limit(&run).await;
    waits_are_exported_by_outcome(&run).await;
    a_thousand_limits_leave_nothing_behind(&run);
    a_panicking_callback_of_another_takes_nothing_away(&run);
    let _ = shutdown_telemetry(BUDGET);
}

async fn a_full_limit_is_seen_before_anybody_is_admitted(run: &Run) {
    let upstream = Arc::new(limit(100, "upstream_requests").with_server_name("weather_agent"));
    let held = upstream.acquire_many(100).await.expect("free");
    let waiting: Vec<_> = (0..75)
        .map(|_| tokio::spawn(Arc::clone(&upstream).acquire_owned()))
        .collect();
    until(|| upstream.queued() == 75).await;

    let expected: BTreeMap<String, String> = [
        ("nemo.gym.concurrency.component", "agent_server"),
        ("nemo.gym.concurrency.limit_name", "upstream_requests"),
        ("nemo.gym.server.name", "weather_agent"),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .into();
    assert_eq!(upstream.attributes().len(), 3);
    for (name, value) in [
        ("gym.concurrency.limit", 100.0),
        ("gym.concurrency.active", 100.0),
        ("gym.concurrency.available", 0.0),
        ("gym.concurrency.queue_depth", 75.0),
        ("gym.concurrency.peak_active", 100.0),
        ("gym.concurrency.peak_queue_depth", 75.0),
        ("gym.concurrency.admission_cancelled_total", 0.0),
    ] {
        assert_eq!(run.points(name), [(expected.clone(), value)], "{name}");
    }
    assert!(run.value("gym.concurrency.oldest_wait_ms") > 0.0);
    assert_eq!(
        run.points("gym.concurrency.admission_timeouts_total"),
        [],
        "no timeout, no series"
    );
    drop(held);
    for caller in waiting {
        drop(caller.await.expect("not aborted").expect("not closed"));
    }
    assert_eq!(run.value("gym.concurrency.active"), 0.0);
    assert_eq!(run.value("gym.concurrency.oldest_wait_ms"), 0.0);
}

async fn equal_limits_are_summed_and_dropped_ones_vanish(run: &Run) {
    let (one, two) = (limit(3, "equal"), limit(4, "equal"));
    let held = one.acquire().await.expect("free");
    let points = run.points("gym.concurrency.limit");
    assert_eq!(points.len(), 1, "{points:?}");
    assert_eq!(points[0].1, 7.0);
    // No server owns the limit.
    let expected: BTreeMap<String, String> = [
        ("nemo.gym.concurrency.component", "agent_server"),
        ("nemo.gym.concurrency.limit_name", "equal"),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .into();
    assert_eq!(points[0].0, expected);
    assert_eq!(run.value("gym.concurrency.available"), 6.0);
    drop(two);
    assert_eq!(run.value("gym.concurrency.limit"), 3.0);
    drop(held);
    drop(one);
    assert_eq!(run.points("gym.concurrency.limit"), []);
}

async fn counters_outlive_their_limit(run: &Run) {
    let timed = || limit(1, "timed").with_admission_timeout(Duration::from_millis(1));
    let first = timed();
    assert_eq!(run.value("gym.concurrency.admission_timeouts_total"), 0.0);
    let held = first.acquire().await.expect("free");
    assert!(first.acquire().await.expect_err("full").is_timeout());
    assert_eq!(run.value("gym.concurrency.admission_timeouts_total"), 1.0);
    assert_eq!(run.value("gym.concurrency.admission_cancelled_total"), 0.0);
    drop(held);
    drop(first);
    assert_eq!(run.points("gym.concurrency.admission_timeouts_total"), []);
    let second = timed();
    assert_eq!(run.value("gym.concurrency.admission_timeouts_total"), 1.0);
    drop(second);
}

async fn waits_are_exported_by_outcome(run: &Run) {
    let waits = Arc::new(limit(1, "waits").with_admission_timeout(Duration::from_millis(1)));
    let held = waits.acquire().await.expect("free");
    assert!(waits.acquire().await.expect_err("full").is_timeout());
    // The limit's own timeout is far away: the caller's comes first.
    let patient = Arc::new(limit(1, "waits").with_admission_timeout(BUDGET));
    let patient_held = patient.acquire().await.expect("free");
    let given_up = tokio::time::timeout(Duration::from_millis(1), patient.acquire()).await;
    assert!(given_up.is_err());
    let admitted = tokio::spawn(Arc::clone(&patient).acquire_owned());
    until(|| patient.queued() == 1).await;
    drop(patient_held);
    drop(admitted.await.expect("not aborted").expect("granted"));
    let mut outcomes: Vec<_> = run
        .points("gym.concurrency.wait_duration_ms")
        .into_iter()
        .filter(|(attributes, _)| attributes["nemo.gym.concurrency.limit_name"] == "waits")
        .map(|(attributes, count)| {
            (
                attributes["nemo.gym.concurrency.wait_outcome"].clone(),
                count,
            )
        })
        .collect();
    outcomes.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = ["cancelled", "granted", "timeout"].map(|outcome| (outcome.to_owned(), 1.0));
    assert_eq!(outcomes, expected);
    assert_eq!(run.value("gym.concurrency.admission_cancelled_total"), 1.0);
    drop(held);
}

fn a_thousand_limits_leave_nothing_behind(run: &Run) {
    for number in 0..1_000 {
        drop(limit(1, "many").with_server_name(number.to_string()));
    }
    for name in [
        "gym.concurrency.limit",
        "gym.concurrency.admission_cancelled_total",
    ] {
        assert_eq!(run.points(name), [], "{name}");
    }
}

/// Callbacks run in the order in which they were registered: this one comes before that of the limits.
fn a_panicking_callback_of_another_takes_nothing_away(run: &Run) {
    let calls = Arc::new(AtomicU32::new(0));
    let foreign = observe({
        let calls = Arc::clone(&calls);
        move |_| {
            calls.fetch_add(1, Ordering::Relaxed);
            panic!("a callback that is not ours");
        }
    });
    let here = limit(5, "beside_a_panic");
    for round in 1..=3 {
        assert_eq!(run.value("gym.concurrency.limit"), 5.0);
        assert!(calls.load(Ordering::Relaxed) >= round, "the callback ran");
    }
    drop(foreign);
    drop(here);
}

async fn until(condition: impl Fn() -> bool) {
    tokio::time::timeout(BUDGET, async {
        while !condition() {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("the condition is met in time");
}
