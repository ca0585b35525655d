//! The destination of a signal that goes to a collector.

use std::time::Duration;

use gym_telemetry_core::env;

use super::lookup::{Found, Lookup, Zero, source_of};
use super::signals::{self, ExporterKind, Protocol, Signal, SignalKind};
use super::transport;
use crate::environment::Source;

/// Bytes of a host and port; a host name has at most 253.
const LONGEST_AUTHORITY: usize = 512;

/// How long an export may take.
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);

/// Finds the destination. A signal whose endpoint cannot be used is off, with a warning.
pub(super) fn resolve(lookup: &mut Lookup<'_>, kind: SignalKind) -> Signal {
    let name = kind.name();
    let found = lookup.first([kind.protocol_variable(), env::OTEL_EXPORTER_OTLP_PROTOCOL]);
    let protocol = signals::protocol(lookup, found.as_ref());
    lookup.record(
        format!("{name}.protocol"),
        protocol.name(),
        source_of(found),
    );

    let Some(endpoint) = endpoint(lookup, kind, protocol) else {
        return Signal::off();
    };
    let tls = transport::tls_files(lookup, kind, &endpoint);
    let headers = headers(lookup, kind);
    let variables = [kind.timeout_variable(), env::OTEL_EXPORTER_OTLP_TIMEOUT];
    let (timeout, source) = lookup.milliseconds(&variables, TIMEOUT, Zero::NoLimit);
    lookup.record(format!("{name}.timeout_ms"), timeout.as_millis(), source);
    Signal {
        exporter: ExporterKind::Otlp,
        protocol,
        endpoint,
        headers,
        timeout,
        compression: transport::compression(lookup, kind),
        tls,
    }
}

/// The URL of the collector: the signal's own as it is, or the shared one with the signal's path.
fn endpoint(lookup: &mut Lookup<'_>, kind: SignalKind, protocol: Protocol) -> Option<String> {
    let found = lookup.first([kind.endpoint_variable(), env::OTEL_EXPORTER_OTLP_ENDPOINT]);
    let is_own = found
        .as_ref()
        .is_some_and(|found| found.name == kind.endpoint_variable());
    let base = match (&found, protocol) {
        (Some(found), _) => checked(lookup, kind, found)?,
        (None, Protocol::Grpc) => "http://localhost:4317".to_owned(),
        (None, Protocol::HttpProtobuf | Protocol::HttpJson) => "http://localhost:4318".to_owned(),
    };
    let url = match protocol {
        Protocol::HttpProtobuf | Protocol::HttpJson if !is_own => {
            with_path(lookup, kind, &base, found.as_ref())
        }
        _ => base,
    };
    let shown = gym_telemetry_core::mask::endpoint(&url).into_owned();
    lookup.record(format!("{}.endpoint", kind.name()), shown, source_of(found));
    Some(url)
}

/// A URL that can be exported to, or a warning that the signal is off.
fn checked(lookup: &mut Lookup<'_>, kind: SignalKind, found: &Found) -> Option<String> {
    let (scheme, rest) = found.text.split_once("://").unwrap_or(("", &found.text));
    let scheme = scheme.to_ascii_lowercase();
    if !matches!(&*scheme, "http" | "https" | "") || !is_authority(rest) {
        let (name, shown) = (kind.name(), found.shown());
        lookup.warn(format!(
            "{} is {shown}, which is not a URL of the form http://host:port or https://host:port; {name} are off",
            found.source
        ));
        return None;
    }
    if !scheme.is_empty() {
        return Some(format!("{scheme}://{rest}"));
    }
    let insecure = transport::insecure(lookup, kind);
    if insecure.is_none() && !is_loopback(rest) {
        let shown = found.shown();
        lookup.warn(format!(
            "{} is {shown} without a scheme; http:// is used, which is clear text",
            found.source
        ));
    }
    let scheme = if insecure == Some(false) {
        "https"
    } else {
        "http"
    };
    Some(format!("{scheme}://{rest}"))
}

/// Whether what follows the scheme starts with a host and, if it has one, a port.
fn is_authority(rest: &str) -> bool {
    let authority = authority(rest);
    if authority.len() > LONGEST_AUTHORITY {
        return false;
    }
    let uri: Option<http::uri::Authority> = authority.parse().ok();
    uri.is_some_and(|uri| {
        let has_port = !authority.ends_with(uri.host());
        !uri.host().is_empty() && (!has_port || uri.port_u16().is_some())
    })
}

/// Host and port, without credentials.
fn authority(rest: &str) -> &str {
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host)
}

fn is_loopback(rest: &str) -> bool {
    let authority = authority(rest);
    let host = match authority.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or(address),
        None => authority.split(':').next().unwrap_or(authority),
    };
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// The shared URL with the path of the signal.
fn with_path(
    lookup: &mut Lookup<'_>,
    kind: SignalKind,
    base: &str,
    found: Option<&Found>,
) -> String {
    let end = base.find(['?', '#']).unwrap_or(base.len());
    let (path, query) = base.split_at(end);
    let mut path = path.trim_end_matches('/');
    let doubled = SignalKind::ALL.iter().find_map(|kind| {
        let without = path.strip_suffix(kind.name())?;
        without
            .strip_suffix("/v1/")
            .map(|without| (kind.name(), without))
    });
    if let (Some((name, without)), Some(found)) = (doubled, found) {
        lookup.warn(format!(
            "{} ends in /v1/{name}, but the path of each signal is appended to it; that end is left out",
            found.source
        ));
        path = without.trim_end_matches('/');
    }
    format!("{path}/v1/{}{query}", kind.name())
}

/// The headers of each request: the signal's own in place of the shared ones.
fn headers(lookup: &mut Lookup<'_>, kind: SignalKind) -> Vec<(String, String)> {
    let own = lookup.variable(kind.headers_variable());
    let shared = lookup.variable(env::OTEL_EXPORTER_OTLP_HEADERS);
    if let (Some(own), Some(shared)) = (&own, &shared) {
        lookup.beat(own, shared);
    }
    let own_headers = own.as_ref().map(|found| parse_headers(lookup, found));
    let shared_headers = shared.as_ref().map(|found| parse_headers(lookup, found));
    if let (Some(own), Some(shared)) = (&own_headers, &shared_headers) {
        let lost = shared
            .iter()
            .find(|(name, _)| is_credential(name) && !own.iter().any(|(known, _)| known == name));
        if let Some((name, _)) = lost {
            lookup.warn(format!(
                "{} replaces {}, so the header {name:?} is not sent with {}",
                kind.headers_variable(),
                env::OTEL_EXPORTER_OTLP_HEADERS,
                kind.name()
            ));
        }
    }
    let headers = own_headers.or(shared_headers).unwrap_or_default();
    let names: Vec<_> = headers.iter().map(|(name, _)| name.as_str()).collect();
    let source = own.or(shared).map_or(Source::Default, |found| found.source);
    lookup.record(
        format!("{}.header_names", kind.name()),
        names.join(","),
        source,
    );
    headers
}

fn is_credential(name: &str) -> bool {
    gym_telemetry_core::Redaction::DEFAULT.is_secret(name)
        || name.contains("key")
        || name.contains("token")
}

/// `name=value,name=value`, values percent-decoded. What cannot be sent is left out with a warning.
fn parse_headers(lookup: &mut Lookup<'_>, found: &Found) -> Vec<(String, String)> {
    let mut headers: Vec<(String, String)> = Vec::new();
    for (at, pair) in found.text.split(',').enumerate() {
        if pair.trim().is_empty() {
            continue;
        }
        let header = pair.split_once('=').and_then(|(name, value)| {
            let name = http::HeaderName::from_bytes(name.trim().as_bytes()).ok()?;
            let value = decode(value.trim()).unwrap_or_else(|| value.trim().to_owned());
            http::HeaderValue::from_str(&value).ok()?;
            Some((name.as_str().to_owned(), value))
        });
        match header {
            Some((name, value)) => {
                headers.retain(|(known, _)| *known != name);
                headers.push((name, value));
            }
            // The text may be a secret whatever its place, so only the place is named.
            None => lookup.warn(format!(
                "entry {} of {} is not a header of the form name=value and is left out",
                at + 1,
                found.source
            )),
        }
    }
    headers
}

/// The attributes in `OTEL_RESOURCE_ATTRIBUTES`; as a whole or not at all, as the specification asks.
pub(crate) fn resource_attributes(lookup: &mut Lookup<'_>) -> Vec<(String, String)> {
    let Some(found) = lookup.variable(env::OTEL_RESOURCE_ATTRIBUTES) else {
        return Vec::new();
    };
    let attributes: Option<Vec<_>> = found
        .text
        .split(',')
        .filter(|pair| !pair.trim().is_empty())
        .map(|pair| {
            let (key, value) = pair.split_once('=')?;
            let key = decode(key.trim()).filter(|key| !key.is_empty())?;
            Some((key, decode(value.trim())?))
        })
        .collect();
    let Some(attributes) = attributes else {
        lookup.warn(format!(
            "{} is not of the form key=value,key=value with percent-encoded values; all of it is left out",
            found.source
        ));
        return Vec::new();
    };
    let keys: Vec<_> = attributes.iter().map(|(key, _)| key.as_str()).collect();
    lookup.record("resource_attribute_keys", keys.join(","), found.source);
    attributes
}

/// Percent-decodes; `None` when an escape is malformed or the outcome is not UTF-8.
fn decode(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let mut digit = || char::from(bytes.next()?).to_digit(16);
            let value = digit()? * 16 + digit()?;
            decoded.push(u8::try_from(value).ok()?);
        } else {
            decoded.push(byte);
        }
    }
    String::from_utf8(decoded).ok()
}
