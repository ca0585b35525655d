//! How a collector is reached: compression, TLS, clear text.

use std::fmt;
use std::path::PathBuf;

use gym_telemetry_core::env;

use super::lookup::{Found, Lookup, source_of};
use super::signals::SignalKind;
use crate::environment::Source;

/// How requests are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Compression {
    /// Not at all.
    #[default]
    None,
    /// With gzip.
    Gzip,
}

impl Compression {
    const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::None, Self::Gzip]
            .into_iter()
            .find(|kind| text.eq_ignore_ascii_case(kind.name()))
    }
}

/// A file in PEM form and the variable that names it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct TlsFile {
    /// The variable.
    pub(crate) variable: &'static str,
    /// The path, if it is one: people paste the content.
    pub(crate) path: PathBuf,
}

impl TlsFile {
    fn new(found: Found) -> Self {
        Self {
            variable: found.name,
            path: found.text.into(),
        }
    }

    /// Whether the path looks like the content of the file, which may be a secret.
    pub(crate) fn is_pasted(&self) -> bool {
        let text = self.path.to_string_lossy();
        let is_base64 = |text: &str| {
            text.bytes().all(|byte| {
                byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"+/=".contains(&byte)
            })
        };
        // Whatever stands in a PEM file starts with the same bits.
        text.contains("-----BEGIN")
            || (text.len() > 64 && text.starts_with('M') && is_base64(&text))
    }
}

impl fmt::Display for TlsFile {
    /// The path, in quotes; never the content of the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_pasted() {
            f.write_str("(a PEM text in place of a path)")
        } else {
            write!(f, "{:?}", self.path.to_string_lossy())
        }
    }
}

impl fmt::Debug for TlsFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The files that TLS needs. They are read by whoever makes the connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TlsFiles {
    /// The certificates that the collector's must be signed by, in place of the system's.
    pub(crate) certificate: Option<TlsFile>,
    /// The certificate of this process and its private key.
    pub(crate) client: Option<ClientFiles>,
}

impl TlsFiles {
    /// Nothing but what the system trusts.
    pub(crate) const NONE: Self = Self {
        certificate: None,
        client: None,
    };
}

/// How this process shows who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClientFiles {
    /// The certificate, with the ones between it and the root.
    pub(crate) certificate: TlsFile,
    /// The private key.
    pub(crate) key: TlsFile,
}

/// How the requests of a signal are compressed.
pub(super) fn compression(lookup: &mut Lookup<'_>, kind: SignalKind) -> Compression {
    let own = match kind {
        SignalKind::Traces => env::OTEL_EXPORTER_OTLP_TRACES_COMPRESSION,
        SignalKind::Metrics => env::OTEL_EXPORTER_OTLP_METRICS_COMPRESSION,
        SignalKind::Logs => env::OTEL_EXPORTER_OTLP_LOGS_COMPRESSION,
    };
    let found = lookup.first([own, env::OTEL_EXPORTER_OTLP_COMPRESSION]);
    let parsed = found.as_ref().map(|found| Compression::parse(&found.text));
    let (compression, source) = match (parsed, found) {
        (Some(None), Some(found)) => {
            lookup.ignore(&found, "gzip or none", "nothing is compressed");
            (Compression::None, Source::Default)
        }
        (parsed, found) => (parsed.flatten().unwrap_or_default(), source_of(found)),
    };
    lookup.record(
        format!("{}.compression", kind.name()),
        compression.name(),
        source,
    );
    compression
}

/// The files for TLS to a collector at `endpoint`.
pub(super) fn tls_files(lookup: &mut Lookup<'_>, kind: SignalKind, endpoint: &str) -> TlsFiles {
    let [certificate, client_certificate, client_key] = match kind {
        SignalKind::Traces => [
            env::OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE,
            env::OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE,
            env::OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY,
        ],
        SignalKind::Metrics => [
            env::OTEL_EXPORTER_OTLP_METRICS_CERTIFICATE,
            env::OTEL_EXPORTER_OTLP_METRICS_CLIENT_CERTIFICATE,
            env::OTEL_EXPORTER_OTLP_METRICS_CLIENT_KEY,
        ],
        SignalKind::Logs => [
            env::OTEL_EXPORTER_OTLP_LOGS_CERTIFICATE,
            env::OTEL_EXPORTER_OTLP_LOGS_CLIENT_CERTIFICATE,
            env::OTEL_EXPORTER_OTLP_LOGS_CLIENT_KEY,
        ],
    };
    let mut file = |part, own, shared| file(lookup, kind, part, own, shared);
    let certificate = file(
        "certificate",
        certificate,
        env::OTEL_EXPORTER_OTLP_CERTIFICATE,
    );
    let client_certificate = file(
        "client_certificate",
        client_certificate,
        env::OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE,
    );
    let client_key = file("client_key", client_key, env::OTEL_EXPORTER_OTLP_CLIENT_KEY);
    if !endpoint.starts_with("https://") {
        for found in [&certificate, &client_certificate, &client_key]
            .into_iter()
            .flatten()
        {
            lookup.warn(format!(
                "{} has no effect on {}: their collector is spoken to in clear text, not over https",
                found.source,
                kind.name()
            ));
        }
        return TlsFiles::NONE;
    }
    let client = match (client_certificate, client_key) {
        (Some(certificate), Some(key)) => Some(ClientFiles {
            certificate: TlsFile::new(certificate),
            key: TlsFile::new(key),
        }),
        (None, None) => None,
        (Some(alone), None) => {
            alone_is_useless(
                lookup,
                &alone,
                "a private key",
                env::OTEL_EXPORTER_OTLP_CLIENT_KEY,
            );
            None
        }
        (None, Some(alone)) => {
            let other = env::OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE;
            alone_is_useless(lookup, &alone, "a certificate", other);
            None
        }
    };
    TlsFiles {
        certificate: certificate.map(TlsFile::new),
        client,
    }
}

fn alone_is_useless(lookup: &mut Lookup<'_>, alone: &Found, lacking: &str, variable: &str) {
    lookup.warn(format!(
        "{} is not used: it needs {lacking} too, which {variable} names",
        alone.source
    ));
}

fn file(
    lookup: &mut Lookup<'_>,
    kind: SignalKind,
    part: &str,
    own: &'static str,
    shared: &'static str,
) -> Option<Found> {
    let found = lookup.first([own, shared])?;
    lookup.record(
        format!("{}.{part}", kind.name()),
        gym_telemetry_core::mask::variable(found.name, &found.text).into_owned(),
        found.source.clone(),
    );
    Some(found)
}

/// Whether an address without a scheme is spoken to in clear text, if somebody says so.
pub(super) fn insecure(lookup: &mut Lookup<'_>, kind: SignalKind) -> Option<bool> {
    let own = match kind {
        SignalKind::Traces => env::OTEL_EXPORTER_OTLP_TRACES_INSECURE,
        SignalKind::Metrics => env::OTEL_EXPORTER_OTLP_METRICS_INSECURE,
        SignalKind::Logs => env::OTEL_EXPORTER_OTLP_LOGS_INSECURE,
    };
    let found = lookup.first([own, env::OTEL_EXPORTER_OTLP_INSECURE])?;
    // The specification has no other words for booleans.
    let insecure = match found.text.to_ascii_lowercase().as_str() {
        "true" => true,
        "false" => false,
        _ => {
            lookup.ignore(
                &found,
                "true or false",
                "the scheme of the endpoint decides",
            );
            return None;
        }
    };
    lookup.record(format!("{}.insecure", kind.name()), insecure, found.source);
    Some(insecure)
}
