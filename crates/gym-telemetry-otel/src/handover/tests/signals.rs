//! Exporters, protocols and names: where the block gives way to what is said about one signal.

use std::collections::BTreeMap;

use super::{child, enabled, published};
use crate::settings::{ExporterKind, SignalKind};

#[test]
fn an_exporter_of_a_single_signal_is_not_overruled_by_the_block() {
    let mut config = enabled();
    config.logs_enabled = true;
    let words = [
        ("console", ExporterKind::Console),
        ("stdout", ExporterKind::Stdout),
    ];
    for (kind, (word, of_the_block)) in SignalKind::ALL
        .into_iter()
        .flat_map(|kind| words.map(|word| (kind, word)))
    {
        config.exporter = word.to_owned();
        let name = kind.exporter_variable();
        let variables = published(&config, &[(name, "otlp")]);
        assert!(!variables.contains_key("NEMO_GYM_OTEL_EXPORTER"), "{name}");
        assert!(!variables.contains_key(name), "{name}");
        let settings = child(&config, &[(name, "otlp")]);
        let signals =
            [&settings.traces, &settings.metrics, &settings.logs].map(|signal| signal.exporter);
        for (other, exporter) in SignalKind::ALL.into_iter().zip(signals) {
            let expected = if other == kind {
                ExporterKind::Otlp
            } else {
                of_the_block
            };
            assert_eq!(exporter, expected, "{name}: {other:?}");
        }
    }
    let vars = [
        ("OTEL_TRACES_EXPORTER", "otlp"),
        ("NEMO_LENS_EXPORTER", "console"),
    ];
    config.exporter = "otlp".to_owned();
    assert_eq!(child(&config, &vars).traces.exporter, ExporterKind::Console);
    let variables = published(&config, &[("OTEL_TRACES_EXPORTER", " ")]);
    assert_eq!(variables["NEMO_GYM_OTEL_EXPORTER"], "otlp");
}

#[test]
fn the_protocol_is_the_same_under_each_name() {
    let all = |variables: &BTreeMap<String, String>| -> Vec<String> {
        ["", "TRACES_", "METRICS_", "LOGS_"]
            .iter()
            .map(|part| {
                variables
                    .get(&format!("OTEL_EXPORTER_OTLP_{part}PROTOCOL"))
                    .cloned()
                    .unwrap_or_default()
            })
            .collect()
    };
    let mut config = enabled();
    assert_eq!(all(&published(&config, &[])), [""; 4]);
    let variables = published(&config, &[("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")]);
    assert_eq!(
        all(&variables),
        ["", "http/protobuf", "http/protobuf", "http/protobuf"]
    );
    config.otlp_protocol = Some("http/protobuf".to_owned());
    let variables = published(&config, &[("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "grpc")]);
    assert_eq!(
        all(&variables),
        ["http/protobuf", "http/protobuf", "", "http/protobuf"]
    );
    let variables = published(&config, &[("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]);
    assert_eq!(all(&variables), ["", "grpc", "grpc", "grpc"]);
    config.otlp_protocol = Some("carrier pigeon".to_owned());
    assert_eq!(
        all(&published(&config, &[])),
        ["carrier pigeon", "", "", ""]
    );
}

#[test]
fn a_service_name_of_the_launch_attributes_is_kept_unless_the_block_names_one() {
    let launch = ("OTEL_RESOURCE_ATTRIBUTES", "service.name=launched,team=rl");
    let mut config = enabled();
    assert_eq!(child(&config, &[launch]).service_name, "launched");
    config.service_name = "block".to_owned();
    assert_eq!(child(&config, &[launch]).service_name, "block");
    assert_eq!(
        child(&config, &[launch, ("OTEL_SERVICE_NAME", "own")]).service_name,
        "own"
    );
}
