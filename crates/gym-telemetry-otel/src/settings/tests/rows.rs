//! Every standard variable with values and what they come to.

/// Variables of one setting, the first of which wins.
pub(super) struct Row {
    pub(super) variables: Vec<String>,
    /// The name of the setting.
    pub(super) name: String,
    /// Its value where nobody says anything; empty if it is not listed then.
    pub(super) default: &'static str,
    /// What else has to be set for the setting to matter.
    pub(super) beside: Vec<(&'static str, &'static str)>,
    /// Texts and what they come to; the first two differ.
    pub(super) valid: Vec<(&'static str, &'static str)>,
    pub(super) garbage: &'static [&'static str],
}

const MILLISECONDS: &[&str] = &["abc", "-5", "0.3", "10s", "99999999999999999999999"];
const COUNTS: &[&str] = &["abc", "-1", "1.5", "1e3", "0x10", "99999999999999999999999"];
const SIZES: &[&str] = &["0", "abc", "-1", "1.5"];

/// Every setting that has a standard variable.
pub(super) fn rows() -> Vec<Row> {
    let mut rows = otlp_rows();
    rows.extend(other_rows());
    rows
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn otlp_rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (signal, infix) in [
        ("traces", "TRACES_"),
        ("metrics", "METRICS_"),
        ("logs", "LOGS_"),
    ] {
        let mut otlp = |setting: &str, end: &str, default, beside: &[_], valid: &[_], garbage| {
            rows.push(Row {
                variables: vec![
                    format!("OTEL_EXPORTER_OTLP_{infix}{end}"),
                    format!("OTEL_EXPORTER_OTLP_{end}"),
                ],
                name: format!("{signal}.{setting}"),
                default,
                beside: beside.to_vec(),
                valid: valid.to_vec(),
                garbage,
            });
        };
        let https = [("OTEL_EXPORTER_OTLP_ENDPOINT", "https://h:4317")];
        let bare = [("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4317")];
        let identity = [
            https[0],
            ("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "/tls/shared.pem"),
            ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/tls/shared.key"),
        ];
        otlp(
            "protocol",
            "PROTOCOL",
            "grpc",
            &[],
            &[
                ("http/protobuf", "http/protobuf"),
                ("grpc", "grpc"),
                ("GRPC", "grpc"),
            ],
            &["x", "http", "grpc,http/protobuf", "1"],
        );
        otlp(
            "endpoint",
            "ENDPOINT",
            "http://localhost:4317",
            &[],
            &[
                ("http://a:1", "http://a:1"),
                ("http://u:S3CR3T@b:2?k=S3CR3T", "http://b:2"),
                ("https://c", "https://c"),
            ],
            &[],
        );
        otlp(
            "header_names",
            "HEADERS",
            "",
            &[],
            &[
                ("a=S3CR3T,authorization=x", "a,authorization"),
                ("authorization=S3CR3T", "authorization"),
            ],
            &[],
        );
        otlp(
            "timeout_ms",
            "TIMEOUT",
            "10000",
            &[],
            &[("250", "250"), ("0", "0")],
            MILLISECONDS,
        );
        otlp(
            "compression",
            "COMPRESSION",
            "none",
            &[],
            &[("gzip", "gzip"), ("none", "none"), ("GZIP", "gzip")],
            &["snappy", "1", "gzip,none"],
        );
        otlp(
            "insecure",
            "INSECURE",
            "",
            &bare,
            &[("true", "true"), ("false", "false"), ("TRUE", "true")],
            &["1", "yes", "off", "maybe"],
        );
        otlp(
            "certificate",
            "CERTIFICATE",
            "",
            &https,
            &[("/a", "/a"), ("/b", "/b")],
            &[],
        );
        let files = [("/a", "/a"), ("/b", "/b")];
        otlp(
            "client_certificate",
            "CLIENT_CERTIFICATE",
            "/tls/shared.pem",
            &identity,
            &files,
            &[],
        );
        let keys = [("/a", "[REDACTED]"), ("/b", "[REDACTED]")];
        otlp(
            "client_key",
            "CLIENT_KEY",
            "[REDACTED]",
            &identity,
            &keys,
            &[],
        );
        rows.push(Row {
            variables: vec![format!("OTEL_{infix}EXPORTER")],
            name: format!("{signal}.exporter"),
            default: "otlp",
            beside: Vec::new(),
            valid: vec![
                ("console", "console"),
                (" STDOUT ", "stdout"),
                ("none", "none"),
                ("OTLP", "otlp"),
            ],
            garbage: &["zipkin", "otlp,console", "prometheus", "1"],
        });
    }
    rows
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn other_rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut row = |variables: &[&str], name: &str, default, beside: &[_], valid: &[_], garbage| {
        rows.push(Row {
            variables: variables.iter().map(|name| (*name).to_owned()).collect(),
            name: name.to_owned(),
            default,
            beside: beside.to_vec(),
            valid: valid.to_vec(),
            garbage,
        });
    };
    let numbers = [("7", "7"), ("0", "0")];
    let general = "OTEL_ATTRIBUTE_COUNT_LIMIT";
    for (name, own) in [
        ("limits.span_attributes", "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"),
        (
            "limits.event_attributes",
            "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT",
        ),
        ("limits.link_attributes", "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT"),
        (
            "limits.log_attributes",
            "OTEL_LOGRECORD_ATTRIBUTE_COUNT_LIMIT",
        ),
    ] {
        row(&[own, general], name, "128", &[], &numbers, COUNTS);
    }
    for (name, own) in [
        ("limits.span_events", "OTEL_SPAN_EVENT_COUNT_LIMIT"),
        ("limits.span_links", "OTEL_SPAN_LINK_COUNT_LIMIT"),
    ] {
        row(&[own], name, "128", &[], &numbers, COUNTS);
    }
    // A length of the general variable is a limit of two settings, and so is garbage in it.
    let general = "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT";
    for (name, own) in [
        (
            "limits.span_value_length",
            "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT",
        ),
        (
            "limits.log_value_length",
            "OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT",
        ),
    ] {
        row(&[own, general], name, "unlimited", &[], &numbers, COUNTS);
    }
    for (signal, prefix, queue, delay) in [
        ("traces", "OTEL_BSP", "32768", "5000"),
        ("logs", "OTEL_BLRP", "2048", "1000"),
    ] {
        let variable = |end: &str| format!("{prefix}_{end}");
        let setting = |end: &str| format!("{signal}.{end}");
        let sizes = [("1000", "1000"), ("600", "600")];
        let times = [("0", "0"), ("250", "250")];
        row(
            &[&variable("MAX_QUEUE_SIZE")],
            &setting("max_queue_size"),
            queue,
            &[],
            &sizes,
            SIZES,
        );
        row(
            &[&variable("MAX_EXPORT_BATCH_SIZE")],
            &setting("max_export_batch_size"),
            "512",
            &[],
            &sizes,
            SIZES,
        );
        row(
            &[&variable("SCHEDULE_DELAY")],
            &setting("schedule_delay_ms"),
            delay,
            &[],
            &times,
            MILLISECONDS,
        );
        row(
            &[&variable("EXPORT_TIMEOUT")],
            &setting("export_timeout_ms"),
            "",
            &[],
            &times,
            MILLISECONDS,
        );
    }
    let times = [("60000", "60000"), ("250", "250")];
    row(
        &["OTEL_METRIC_EXPORT_INTERVAL"],
        "metric_export_interval_ms",
        "10000",
        &[],
        &times,
        &["0", "abc", "-1", "1.5"],
    );
    row(
        &["OTEL_METRIC_EXPORT_TIMEOUT"],
        "metrics.export_timeout_ms",
        "",
        &[],
        &times,
        MILLISECONDS,
    );
    row(
        &["OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"],
        "metrics.temporality",
        "cumulative",
        &[],
        &[
            ("delta", "delta"),
            ("lowmemory", "lowmemory"),
            ("DELTA", "delta"),
        ],
        &["low_memory", "2", "deltas"],
    );
    row(
        &["OTEL_TRACES_SAMPLER"],
        "sampler.ratio",
        "1",
        &[],
        &[
            ("always_off", "0"),
            ("always_on", "1"),
            ("ALWAYS_OFF", "0"),
            ("parentbased_always_off", "0"),
        ],
        &["sometimes", "parentbased_", "xray", "1"],
    );
    row(
        &["OTEL_TRACES_SAMPLER_ARG"],
        "sampler.ratio",
        "1",
        &[("OTEL_TRACES_SAMPLER", "traceidratio")],
        &[("0.5", "0.5"), ("0", "0")],
        &["NaN", "inf", "-1", "1.5", "abc"],
    );
    row(
        &["OTEL_PROPAGATORS"],
        "propagate",
        "true",
        &[],
        &[("none", "false"), ("tracecontext,baggage", "true")],
        &["b3", "jaeger"],
    );
    row(
        &["OTEL_SERVICE_NAME"],
        "service_name",
        "nemo-gym",
        &[("OTEL_RESOURCE_ATTRIBUTES", "team=rl")],
        &[("a", "a"), ("b c", "b c")],
        &[],
    );
    row(
        &["OTEL_RESOURCE_ATTRIBUTES"],
        "resource_attribute_keys",
        "",
        &[],
        &[("a=1,b=S3CR3T", "a,b"), ("c=%20x", "c")],
        &["a", "=1", "a=1,b", "a=%zz"],
    );
    rows
}
