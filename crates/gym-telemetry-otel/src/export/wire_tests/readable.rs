//! Text for people.

use std::time::Duration;

use gym_telemetry_core::metric;

use super::super::report::{Cause, ExportReport};
use super::{pipe, resource, run, settings, span};
use crate::metrics::{MetricsPipe, record_rollout};
use crate::settings::{ExporterKind, Protocol, Settings};
use crate::test_process::{alone, command_for, spawn};

fn readable() -> Settings {
    let mut settings = settings(Protocol::Grpc, "http://127.0.0.1:1");
    settings.traces.exporter = ExporterKind::Stdout;
    settings.metrics.exporter = ExporterKind::Stdout;
    settings
}

async fn export_metrics(settings: &Settings) -> ExportReport {
    let pipe = MetricsPipe::build(settings, &resource())
        .expect("nothing to fail")
        .expect("metrics are on");
    assert_eq!(pipe.destination(), "standard output");
    record_rollout(Duration::from_secs(1));
    pipe.collect_and_export().await
}

#[test]
fn people_can_read_spans_and_metrics() {
    let output = alone(&[], || {
        run(async {
            let pipe = pipe(&readable());
            assert_eq!(pipe.destination(), "standard output");
            let batch = vec![span("gym.job"), span("gym.rollout")];
            assert_eq!(pipe.export(batch).await, ExportReport::delivered(2));
            assert_eq!(
                pipe.export(vec![span("gym.verify")]).await,
                ExportReport::delivered(1)
            );
            assert_eq!(export_metrics(&readable()).await.failed, 0);
        });
    });
    for (part, count) in [
        ("\"nemo-gym/agent\"", 1),
        ("Name         : gym.job", 1),
        ("Name         : gym.rollout\n", 1),
        ("Name         : gym.verify", 1),
        ("TraceId      : 000000000000000000000000000000ab", 3),
        (
            &format!("Name         : {}", metric::ROLLOUT_DURATION.name),
            1,
        ),
    ] {
        assert_eq!(output.matches(part).count(), count, "{part} in {output}");
    }
}

#[test]
fn a_reader_that_has_gone_costs_the_items_and_no_panic() {
    let mut command = command_for(|| {
        let (reader, writer) = std::io::pipe().expect("a pipe can be made");
        rustix::stdio::dup2_stdout(&writer).expect("standard output can be replaced");
        drop((reader, writer));
        run(async {
            let pipe = pipe(&readable());
            let lost = ExportReport::lost(1, Cause::OutputClosed);
            assert_eq!(pipe.export(vec![span("a")]).await, lost);
            assert_eq!(export_metrics(&readable()).await.cause, lost.cause);
        });
    });
    let mut child = spawn(&mut command);
    let status = child.wait();
    let said = child.stderr();
    assert!(status.success() && !said.contains("panicked"), "{said}");
}
