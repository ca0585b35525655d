//! Files and texts that are not what they should be, and where things stand in them.

use std::fmt::Write as _;

use gym_telemetry_core::config::{
    ConfigErrorKind, ConfigFormat, ConfigSource, Origin, TelemetryConfig,
};

use super::load;
use crate::config::{lenient, strict};
use crate::test_env::Vars;

#[test]
fn the_three_formats_say_the_same() {
    let yaml = "other: {x: [1, .inf]}\ntelemetry:\n  enabled: true\n  run_id: 42\n  span_groups: \"default,sandbox\"\n  \
                memory_profiling:\n    interval_seconds: 2\n";
    let toml = "[other]\nx = [1, inf]\n[telemetry]\nenabled = true\nrun_id = 42\nspan_groups = \"default,sandbox\"\n\
                memory_profiling.interval_seconds = 2\n";
    let json = "{\"other\": {\"x\": [1]},\n\t\"telemetry\": {\n\t\t\"enabled\": true,\n\t\t\"run_id\": 42,\n\
                \t\t\"span_groups\": \"default,sandbox\",\n\t\t\"memory_profiling\": {\"interval_seconds\": 2}}}";
    for (text, format, lines) in [
        (yaml, ConfigFormat::Yaml, [3, 7, 4, 5]),
        (toml, ConfigFormat::Toml, [4, 7, 5, 6]),
        (json, ConfigFormat::Json, [3, 6, 4, 5]),
    ] {
        let loaded = load(text, format, &[]).unwrap_or_else(|error| panic!("{format:?}: {error}"));
        let config = loaded.config;
        assert!(
            config.enabled && loaded.warnings.is_empty(),
            "{format:?}: {:?}",
            loaded.warnings
        );
        assert_eq!(config.run_id.as_deref(), Some("42"), "{format:?}");
        assert_eq!(config.span_groups, "default,sandbox", "{format:?}");
        let found: Vec<_> = config
            .origins()
            .filter_map(|(_, origin)| origin.line())
            .collect();
        assert_eq!(found, lines, "{format:?}");
    }
}

#[test]
fn a_byte_order_mark_is_no_content() {
    for (text, format) in [
        ("\u{feff}telemetry: {enabled: true}", ConfigFormat::Yaml),
        ("\u{feff}telemetry = {enabled = true}", ConfigFormat::Toml),
        (
            "\u{feff}{\"telemetry\": {\"enabled\": true}}",
            ConfigFormat::Json,
        ),
    ] {
        let config = load(text, format, &[])
            .unwrap_or_else(|error| panic!("{format:?}: {error}"))
            .config;
        assert!(config.enabled, "{format:?}");
        assert_eq!(
            config.origin("enabled").and_then(Origin::line),
            Some(1),
            "{format:?}"
        );
    }
}

#[test]
fn lines_are_right_in_every_shape_of_yaml() {
    for (text, line) in [
        ("telemetry: {enabled: true}", 1),
        ("# comment\n\ntelemetry:\n  # comment\n\n  enabled: true", 6),
        ("\u{feff}telemetry:\n  enabled: true\n", 2),
        ("telemetry:\r\n  exporter: otlp\r\n  enabled: true\r\n", 3),
        ("\"telemetry\":\n  \"enabled\": true", 2),
        ("---\ntelemetry:\n  enabled: true\n...\n", 3),
        ("a: &base\n  enabled: true\ntelemetry:\n  <<: *base\n", 4),
        ("a: &base\n  enabled: true\ntelemetry: *base\n", 3),
        (
            "ä: ö\ntelemetry:\n  exporter: >\n    otlp\n  enabled: true\n",
            5,
        ),
    ] {
        let config = load(text, ConfigFormat::Yaml, &[])
            .unwrap_or_else(|error| panic!("{text}: {error}"))
            .config;
        assert!(config.enabled, "{text}");
        assert_eq!(
            config.origin("enabled").and_then(Origin::line),
            Some(line),
            "{text}"
        );
    }
}

#[test]
fn what_has_no_block_gives_the_defaults() {
    for text in [
        "",
        "  \n",
        "null",
        "~",
        "# only a comment",
        "{}",
        "other: 1",
        "telemetry:",
        "telemetry: null",
        "telemetry: {}",
    ] {
        let loaded =
            load(text, ConfigFormat::Yaml, &[]).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(loaded.config, TelemetryConfig::default(), "{text:?}");
    }
    for format in [ConfigFormat::Toml, ConfigFormat::Json] {
        assert_eq!(
            load("", format, &[]).expect("empty").config,
            TelemetryConfig::default()
        );
    }
}

#[test]
fn what_is_no_mapping_gives_defaults_to_the_reader_and_an_error_to_the_loader() {
    for (text, line) in [
        ("- telemetry", None),
        ("[1, 2]", None),
        ("text", None),
        ("42", None),
        ("true", None),
        ("a: 1\ntelemetry: [enabled]", Some(2)),
        ("telemetry: on", Some(1)),
        ("telemetry: ''", Some(1)),
    ] {
        let source = ConfigSource::yaml(text);
        let loaded =
            lenient(&source, &Vars::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(loaded.config, TelemetryConfig::default(), "{text}");
        let error = strict(&source, &Vars::default()).expect_err(text);
        assert_eq!(
            (error.kind(), error.line()),
            (ConfigErrorKind::NotAMapping, line),
            "{text}: {error}"
        );
    }
}

#[test]
fn a_broken_text_is_an_error_with_its_line_and_without_its_content() {
    for (text, format, line) in [
        (
            "telemetry:\n  otlp_headers: \"S3CR3T\n",
            ConfigFormat::Yaml,
            None,
        ),
        (
            "telemetry:\n\totlp_headers: S3CR3T\n",
            ConfigFormat::Yaml,
            Some(2),
        ),
        (
            "telemetry:\n  otlp_headers: S3CR3T\n  otlp_headers: S3CR3T\n",
            ConfigFormat::Yaml,
            Some(3),
        ),
        (
            "telemetry:\n  otlp_headers: S3CR3T: x: y\n",
            ConfigFormat::Yaml,
            Some(2),
        ),
        ("telemetry:\n  a: *S3CR3T\n", ConfigFormat::Yaml, Some(2)),
        ("a: [S3CR3T\nb: }", ConfigFormat::Yaml, None),
        ("a: 1\n---\nb: S3CR3T", ConfigFormat::Yaml, Some(3)),
        (
            "[telemetry]\notlp_headers = S3CR3T\n",
            ConfigFormat::Toml,
            Some(2),
        ),
        (
            "[telemetry]\notlp_headers = \"S3CR3T\n",
            ConfigFormat::Toml,
            Some(2),
        ),
        (
            "[telemetry]\notlp_headers = \"S3CR3T\"\notlp_headers = \"S3CR3T\"\n",
            ConfigFormat::Toml,
            Some(3),
        ),
        (
            "{\"telemetry\":\n {\"otlp_headers\": S3CR3T}}",
            ConfigFormat::Json,
            Some(2),
        ),
        ("{\"otlp_headers\": \"S3CR3T\"", ConfigFormat::Json, Some(1)),
        (
            "{\"a\": \"S3CR3T\",\n\"a\": \"S3CR3T\"}",
            ConfigFormat::Json,
            Some(2),
        ),
        ("{\"a\": \"S3CR3T\",\n}", ConfigFormat::Json, Some(2)),
    ] {
        let source = ConfigSource::text(text, format);
        for result in [
            lenient(&source, &Vars::default()),
            strict(&source, &Vars::default()),
        ] {
            let error = result.expect_err(text);
            assert_eq!(error.kind(), ConfigErrorKind::Syntax, "{text:?}: {error}");
            assert!(error.line().is_some(), "{text:?}: {error}");
            assert!(line.is_none() || error.line() == line, "{text:?}: {error}");
            assert!(
                !format!("{error} {error:?}").contains("S3CR3T"),
                "{text:?}: {error:?}"
            );
        }
    }
}

#[test]
fn a_bomb_of_aliases_is_refused_in_time() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let below = format!("*a{}", level - 1);
        let list = [below.as_str(); 9].join(", ");
        writeln!(text, "a{level}: &a{level} [{list}]").expect("memory is enough");
    }
    let error = strict(&ConfigSource::yaml(text), &Vars::default()).expect_err("too large");
    assert_eq!(error.kind(), ConfigErrorKind::Syntax);
}

#[test]
fn files_are_read_by_their_extension_and_named_in_errors() {
    let dir = tempfile::tempdir().expect("a directory");
    let write = |name: &str, content: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, content).expect("written");
        path
    };
    for (name, content) in [
        ("gym.yaml", "telemetry: {enabled: true}"),
        ("gym.yml", "telemetry: {enabled: true}"),
        ("gym.toml", "telemetry = {enabled = true}"),
        ("gym.JSON", "{\"telemetry\": {\"enabled\": true}}"),
        ("gym", "telemetry: {enabled: true}"),
    ] {
        let path = write(name, content.as_bytes());
        let config = strict(&ConfigSource::path(&path), &Vars::default())
            .expect(name)
            .config;
        assert!(config.enabled, "{name}");
        let origin = config.origin("enabled").expect("set in the file");
        assert_eq!(
            (origin.path(), origin.line()),
            (Some(path.as_path()), Some(1)),
            "{name}"
        );
    }
    let path = write("wrong.yaml", b"telemetry:\n  enabled: 3\n");
    let error = strict(&ConfigSource::path(&path), &Vars::default()).expect_err("wrong type");
    assert!(error.to_string().contains("wrong.yaml:2"), "{error}");
    let path = write("binary.yaml", b"telemetry:\n  enabled: \xff\n");
    let error = lenient(&ConfigSource::path(&path), &Vars::default()).expect_err("not UTF-8");
    assert!(error.to_string().contains("binary.yaml:2"), "{error}");
}

#[test]
fn a_file_that_cannot_be_read_stops_the_loader_and_warns_the_reader() {
    let dir = tempfile::tempdir().expect("a directory");
    for path in [dir.path().join("none.yaml"), dir.path().to_path_buf()] {
        let source = ConfigSource::path(&path);
        let error = strict(&source, &Vars::default()).expect_err("unreadable");
        assert_eq!(error.kind(), ConfigErrorKind::Unreadable);
        assert!(
            error.to_string().contains(&path.display().to_string()),
            "{error}"
        );
        let loaded = lenient(&source, &Vars::default()).expect("defaults");
        assert_eq!(loaded.config, TelemetryConfig::default());
        assert_eq!(loaded.warnings.len(), 1);
        assert!(
            loaded.warnings[0].contains(&path.display().to_string()),
            "{:?}",
            loaded.warnings
        );
    }
}

#[test]
fn a_value_without_end_is_taken_whole_or_refused_in_a_short_message() {
    let endless = "x".repeat(1 << 20);
    for field in [
        "otlp_headers",
        "otlp_endpoint",
        "service_name",
        "run_id",
        "span_groups",
    ] {
        let source = ConfigSource::yaml(format!("telemetry:\n  {field}: {endless}\n"));
        let config = strict(&source, &Vars::default()).expect(field).config;
        let debug = format!("{config:?}");
        let length = match field {
            "otlp_headers" => config.otlp_headers.map(|text| text.len()),
            "otlp_endpoint" => config.otlp_endpoint.map(|text| text.len()),
            "service_name" => Some(config.service_name.len()),
            "run_id" => config.run_id.map(|text| text.len()),
            _ => Some(config.span_groups.len()),
        };
        assert_eq!(length, Some(1 << 20), "{field}");
        assert!(field != "otlp_headers" || debug.len() < 10_000, "{field}");
    }
    for text in [
        format!("telemetry:\n  enabled: {endless}\n"),
        format!("telemetry:\n  exporter: {endless}\n"),
        format!("telemetry:\n  {endless}: 1\n  enabled: maybe\n"),
        format!("telemetry: {endless}\n"),
        format!("{endless}: 1\n{endless}: 1\n"),
        format!("telemetry:\n  a: *{endless}\n"),
        format!("telemetry:\n  otlp_headers: ${{oc.env:{endless}}}\n"),
    ] {
        let error = strict(&ConfigSource::yaml(text), &Vars::default()).expect_err("garbage");
        let (shown, debug) = (error.to_string(), format!("{error:?}"));
        assert!(
            shown.len() < 1000 && debug.len() < 3000,
            "{} bytes",
            shown.len()
        );
    }
    // A key of this length is valid in JSON only.
    let text = format!("{{\"telemetry\": {{\"{endless}\": 1}}}}");
    let unknown = ConfigSource::text(text, ConfigFormat::Json);
    let loaded = strict(&unknown, &Vars::default()).expect("unknown keys load");
    assert!(loaded.warnings.iter().all(|warning| warning.len() < 1000));
}
