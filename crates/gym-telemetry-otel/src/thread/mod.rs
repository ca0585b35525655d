//! The telemetry thread.
//!
//! One thread per process owns a runtime of its own and every exporter lives on it, so that neither a blocked nor a
//! vanished runtime of the application can stall an export, and a slow collector cannot stall the application. Spans,
//! metrics and log records are separate jobs: one that hangs does not hold up the others. What the thread itself says
//! is never exported.

mod host_sink;
mod inbox;
mod logs;
mod metrics;
mod request;
mod schedule;
mod shutdown;
mod sink;
mod spans;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::thread::ThreadId;

use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

pub(crate) use host_sink::HostSpanSink;
pub(crate) use schedule::Schedule;
pub(crate) use sink::{Batch, Delivery, Job, LogSink, MetricSink, SdkSpanSink, SpanSink};

use crate::contain::{Contained, contain};
use crate::fork;
use crate::health::{component, observe_logs, observe_spans};
use crate::logs::{LogQueue, silence_thread};
use crate::recorder::Recorder;
use crate::warn::warn;
use inbox::Inbox;
use request::Request;
use shutdown::Shutdown;

/// What the telemetry thread has to do.
pub(crate) struct Plan {
    /// Where spans are recorded; `None` if they are not exported.
    pub spans: Option<(&'static Recorder, Schedule)>,
    /// `None` if metrics are not exported.
    pub metrics: Option<Schedule>,
    /// Where log records wait; `None` if they are not exported.
    pub logs: Option<(Arc<LogQueue>, Schedule)>,
    /// Builds the exporters, on the telemetry thread and inside its runtime: it may take its time.
    pub build: Box<dyn FnOnce() -> Sinks + Send>,
}

/// The exporters, or why one could not be built; the text holds no secret.
pub(crate) struct Sinks {
    pub spans: Result<Box<dyn SpanSink>, String>,
    pub metrics: Result<Box<dyn MetricSink>, String>,
    pub logs: Result<Box<dyn LogSink>, String>,
}

/// The telemetry of one process: its recorder and the way to its telemetry thread.
#[derive(Debug)]
pub(crate) struct Telemetry {
    spans: Option<Signal>,
    metrics: Option<Signal>,
    logs: Option<(Signal, Arc<LogQueue>)>,
    recorder: Option<&'static Recorder>,
    /// Whether there is an exporter for metrics, as far as is known.
    has_metrics: Arc<AtomicBool>,
    thread: ThreadId,
    shutdown: Shutdown,
}

/// The way to one signal's job.
type Signal = UnboundedSender<Request>;

impl Telemetry {
    /// Starts the telemetry thread.
    ///
    /// # Errors
    ///
    /// If the operating system refuses the thread or what its runtime needs.
    pub(crate) fn start(plan: Plan) -> std::io::Result<Self> {
        fork::watch();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .thread_name("gym-telemetry-blocking")
            .on_thread_start(silence_thread)
            .build()?;
        let runtime = Background(Some(runtime));
        let Plan {
            spans,
            metrics,
            logs,
            build,
        } = plan;
        let recorder = spans.map(|(recorder, _)| recorder);
        let (to_spans, from_spans) = unbounded_channel();
        let (to_metrics, from_metrics) = unbounded_channel();
        let (to_logs, from_logs) = unbounded_channel();
        let to_metrics = metrics.is_some().then_some(to_metrics);
        let to_logs = logs.as_ref().map(|(queue, _)| (to_logs, Arc::clone(queue)));
        let has_metrics = Arc::new(AtomicBool::new(metrics.is_some()));
        let metrics_built = Arc::clone(&has_metrics);
        let thread = std::thread::Builder::new()
            .name("gym-telemetry".to_owned())
            .spawn(move || {
                silence_thread();
                let Some(runtime) = &runtime.0 else { return };
                let sinks = {
                    let _inside = runtime.enter();
                    contain(build).unwrap_or_else(|panic| Sinks {
                        spans: Err(format!("the exporter {panic}")),
                        metrics: Err(format!("the exporter {panic}")),
                        logs: Err(format!("the exporter {panic}")),
                    })
                };
                let _observed = metrics.is_some().then(|| {
                    let none = component!("none");
                    let to_spans = sinks.spans.as_ref().map_or(none, |sink| sink.component());
                    let to_logs = sinks.logs.as_ref().map_or(none, |sink| sink.component());
                    (
                        spans.map(|(recorder, _)| observe_spans(recorder, to_spans)),
                        logs.as_ref().map(|(queue, _)| observe_logs(queue, to_logs)),
                    )
                });
                // Dropped with the job of the spans, or at once if there is none.
                let (last_span, spans_end) = oneshot::channel::<()>();
                let spans = spans.map(move |(recorder, schedule)| {
                    complain("spans", &sinks.spans);
                    let job =
                        spans::Spans::new(recorder, schedule, sinks.spans, Inbox::new(from_spans));
                    async move {
                        job.run().await;
                        drop(last_span);
                    }
                });
                let metrics = metrics.map(|schedule| {
                    complain("metrics", &sinks.metrics);
                    metrics_built.store(sinks.metrics.is_ok(), Ordering::Relaxed);
                    let inbox = Inbox::new(from_metrics);
                    metrics::Metrics::new(schedule, sinks.metrics, inbox, spans_end).run()
                });
                let logs = logs.map(|(queue, schedule)| {
                    complain("log records", &sinks.logs);
                    logs::Logs::new(queue, schedule, sinks.logs, Inbox::new(from_logs)).run()
                });
                runtime.block_on(all([
                    job("spans", spans),
                    job("metrics", metrics),
                    job("log records", logs),
                ]));
            })?;
        Ok(Self {
            spans: recorder.is_some().then_some(to_spans),
            metrics: to_metrics,
            logs: to_logs,
            recorder,
            has_metrics,
            thread: thread.thread().id(),
            shutdown: Shutdown::default(),
        })
    }

    /// Whether anything is exported.
    pub(crate) fn is_exporting(&self) -> bool {
        let has_spans = self.recorder.is_some_and(Recorder::is_accepting);
        let has_logs = self.logs.as_ref().is_some_and(|(_, queue)| queue.is_open());
        let has_metrics = self.has_metrics.load(Ordering::Relaxed);
        !self.is_shut_down() && (has_spans || has_metrics || has_logs)
    }

    /// Whether a shutdown was asked for.
    pub(crate) fn is_shut_down(&self) -> bool {
        self.shutdown.has_begun()
    }

    /// Where spans are recorded.
    pub(crate) fn recorder(&self) -> Option<&'static Recorder> {
        self.recorder
    }

    /// Where log records wait for their export.
    pub(crate) fn log_queue(&self) -> Option<&LogQueue> {
        self.logs.as_ref().map(|(_, queue)| &**queue)
    }
}

/// A runtime that may be dropped inside another one, where a thread that is refused leaves it.
struct Background(Option<Runtime>);

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            // Not waited for: a look-up of a name may hang in there.
            runtime.shutdown_background();
        }
    }
}

fn complain<T>(what: &str, sink: &Result<T, String>) {
    if let Err(trouble) = sink {
        warn(
            format!("build {what}"),
            &format_args!("{what} are not exported: {trouble}"),
        );
    }
}

/// Runs the jobs side by side.
async fn all<const N: usize>(jobs: [Work<'_>; N]) {
    let mut jobs = jobs.map(Some);
    std::future::poll_fn(|context| {
        for job in &mut jobs {
            if job
                .as_mut()
                .is_some_and(|work| work.as_mut().poll(context).is_ready())
            {
                *job = None;
            }
        }
        if jobs.iter().all(Option::is_none) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

type Work<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// A job that ends alone if it panics.
fn job<'a>(what: &'a str, work: Option<impl Future<Output = ()> + 'a>) -> Work<'a> {
    Box::pin(async move {
        let Some(work) = work else { return };
        if let Err(panic) = Contained(Box::pin(work)).await {
            warn(
                format!("job {what}"),
                &format_args!("the export of {what} {panic}"),
            );
        }
    })
}

#[cfg(test)]
mod tests {
    use tokio::runtime::{Builder, Runtime};

    use super::Background;

    fn runtime() -> Runtime {
        let runtime = Builder::new_current_thread().build();
        runtime.expect("a runtime can be built")
    }

    #[test]
    fn a_runtime_without_a_thread_may_be_dropped_inside_another() {
        runtime().block_on(async { drop(Background(Some(runtime()))) });
    }
}
