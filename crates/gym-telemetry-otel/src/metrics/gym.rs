//! The metrics of a gym run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gym_telemetry_core::{Value, attribute, metric};

use super::handle::{Histogram, IntegerGauge};
use super::observe::{Observation, observe};
use super::provider;

static ROLLOUT_DURATION: Histogram = Histogram::new(&metric::ROLLOUT_DURATION);
static VERIFY_DURATION: Histogram = Histogram::new(&metric::VERIFY_DURATION);
static SERVERS_ACTIVE: IntegerGauge = IntegerGauge::new(&metric::SERVERS_ACTIVE);
static HTTP_SERVER_REQUEST_DURATION: Histogram =
    Histogram::new(&metric::HTTP_SERVER_REQUEST_DURATION);

static VERIFY_CALLS: AtomicU64 = AtomicU64::new(0);
static VERIFY_COMPLETED: AtomicU64 = AtomicU64::new(0);

/// Records how long a rollout took; call it once per rollout, for a failed one too.
///
/// Does nothing while metrics are not exported.
pub fn record_rollout(duration: Duration) {
    ROLLOUT_DURATION.record_duration(duration);
}

/// Records how long a verify call took and whether it completed; call it once per call, for a failed one too.
///
/// A call that came to a verdict completed, whatever the reward. Does nothing while metrics are not exported.
pub fn record_verify(duration: Duration, completed: bool) {
    if !provider::are_metrics_exporting() {
        return;
    }
    VERIFY_DURATION.record_duration(duration);
    VERIFY_CALLS.fetch_add(1, Ordering::Relaxed);
    if completed {
        // After the call was counted, and the reader loads in the other order: the share never exceeds one.
        VERIFY_COMPLETED.fetch_add(1, Ordering::Release);
    }
}

/// Records how many servers of the run are up; the orchestrator calls it when they are, and with zero at the end.
///
/// Does nothing while metrics are not exported.
pub fn record_active_servers(count: u64) {
    SERVERS_ACTIVE.record(i64::try_from(count).unwrap_or(i64::MAX));
}

/// Records an inbound HTTP request after its response.
///
/// `route` is the template that matched, never the path, and `None` if none did; `status` is `None` if there was no
/// response. Methods that HTTP does not define count as `_OTHER`. Does nothing while metrics are not exported.
pub fn record_http_server_request(
    duration: Duration,
    method: &str,
    route: Option<&str>,
    status: Option<u16>,
) {
    if !provider::are_metrics_exporting() {
        return;
    }
    let attributes = [
        Some((
            attribute::HTTP_REQUEST_METHOD,
            Value::Static(known_method(method)),
        )),
        route.map(|route| (attribute::HTTP_ROUTE, Value::Str(route))),
        status.map(|status| {
            (
                attribute::HTTP_RESPONSE_STATUS_CODE,
                Value::I64(status.into()),
            )
        }),
    ];
    let attributes: Vec<_> = attributes.into_iter().flatten().collect();
    HTTP_SERVER_REQUEST_DURATION.record_duration_with(duration, &attributes);
}

fn known_method(method: &str) -> &'static str {
    const KNOWN: [&str; 10] = [
        "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "CONNECT", "TRACE", "QUERY",
    ];
    KNOWN
        .into_iter()
        .find(|known| *known == method)
        .unwrap_or("_OTHER")
}

/// Reports the share of verify calls that completed, from the first call on.
pub(super) fn observe_success_rate() -> Observation {
    observe(|observer| {
        let completed = VERIFY_COMPLETED.load(Ordering::Acquire);
        let calls = VERIFY_CALLS.load(Ordering::Relaxed);
        if calls > 0 {
            #[expect(
                clippy::cast_precision_loss,
                reason = "a share needs no more than 53 bits"
            )]
            let share = completed as f64 / calls as f64;
            observer.report(&metric::VERIFY_SUCCESS_RATE, share, &[]);
        }
    })
}
