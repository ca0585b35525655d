//! What became of an export, and why one failed.

use std::fmt;
use std::io;

use gym_telemetry_core::env;

use super::tls::TlsError;
use crate::thread::Delivery;

/// What became of the items of one export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "lost items have to be counted"]
pub(crate) struct ExportReport {
    /// Items that the destination accepted.
    pub(crate) exported: u64,
    /// Items that are lost.
    pub(crate) failed: u64,
    /// Why items are lost, or what else a person should know; worth one warning per cause.
    pub(crate) cause: Option<Cause>,
}

impl ExportReport {
    /// All `items` arrived.
    pub(crate) fn delivered(items: u64) -> Self {
        Self {
            exported: items,
            failed: 0,
            cause: None,
        }
    }

    /// The report of an export to `destination` as the telemetry thread wants it.
    pub(crate) fn to(self, destination: &str) -> Delivery {
        let trouble = self.cause.map(|cause| format!("{destination}: {cause}"));
        Delivery {
            exported: self.exported,
            failed: self.failed,
            trouble,
        }
    }

    /// All `items` are lost.
    pub(crate) fn lost(items: u64, cause: Cause) -> Self {
        Self {
            exported: 0,
            failed: items,
            cause: Some(cause),
        }
    }
}

/// Why an export did not wholly succeed.
///
/// There are few different causes and none holds text of a user or a server, so that each can be warned about
/// once and no warning can hold a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub(crate) enum Cause {
    /// Nobody listens at the endpoint.
    ConnectionRefused,
    /// The endpoint's host name has no address.
    NameNotResolved,
    /// The endpoint cannot be connected to for another reason.
    Unreachable,
    /// The connection broke before the answer came.
    ConnectionLost,
    /// No answer came in time.
    TimedOut,
    /// The far end does not speak the protocol.
    OtherProtocol,
    /// The far end does not speak TLS.
    NoTls,
    /// Nobody who is trusted has signed the collector's certificate.
    Untrusted(Trust),
    /// The collector's certificate is for another host.
    OtherName,
    /// The collector's certificate is not valid yet or any more.
    OutOfDate,
    /// The collector's certificate is one to sign others with.
    AuthorityAsServer,
    /// The collector's certificate cannot be used for another reason.
    InvalidCertificate,
    /// The collector wants a certificate of this process, which has none.
    ClientWanted,
    /// The collector does not take the certificate of this process.
    ClientRefused,
    /// TLS failed for another reason.
    TlsFailed,
    /// The collector answered with a failure.
    HttpStatus(u16),
    /// The collector answered with a failure.
    GrpcStatus(tonic::Code),
    /// The collector does not take requests of this size.
    TooLarge,
    /// The collector took only a part of the items.
    PartlyRejected,
    /// The collector took all items and warned.
    CollectorWarning,
    /// The reader of standard output is gone.
    OutputClosed,
    /// The items cannot be put into the form that the protocol asks for.
    NotEncoded,
    /// The state of the metrics could not be read.
    NotCollected,
    /// Standard output cannot be written to.
    OutputFailed(io::ErrorKind),
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ConnectionRefused => f.write_str("connection refused"),
            Self::NameNotResolved => f.write_str("host name cannot be resolved"),
            Self::Unreachable => f.write_str("cannot connect"),
            Self::ConnectionLost => f.write_str("connection lost before an answer came"),
            Self::TimedOut => f.write_str("no answer in time"),
            Self::OtherProtocol => f.write_str(
                "the far end speaks another protocol (gRPC is usually on port 4317, HTTP on port 4318)",
            ),
            Self::NoTls => f.write_str(
                "the far end does not answer in TLS: is its endpoint http:// and not https://?",
            ),
            Self::Untrusted(trust) => write!(f, "the collector's certificate is signed by nobody {trust}"),
            Self::OtherName => f.write_str("the collector's certificate is for another host name than the endpoint's"),
            Self::OutOfDate => f.write_str(
                "the collector's certificate has expired or is not valid yet, or the clock here is wrong",
            ),
            Self::AuthorityAsServer => f.write_str(
                "the collector's certificate is that of an authority (CA:TRUE), which cannot be a server's too",
            ),
            Self::InvalidCertificate => f.write_str("the collector's certificate cannot be used"),
            Self::ClientWanted => write!(
                f,
                "the collector wants a certificate of this process: {} and {} name the files",
                env::OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE,
                env::OTEL_EXPORTER_OTLP_CLIENT_KEY
            ),
            Self::ClientRefused => write!(
                f,
                "the collector does not accept the certificate of this process, which {} names",
                env::OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE
            ),
            Self::TlsFailed => f.write_str("TLS with the collector failed"),
            Self::HttpStatus(status) => write!(f, "HTTP status {status}"),
            Self::GrpcStatus(code) => write!(f, "gRPC status {code:?}"),
            Self::TooLarge => write!(
                f,
                "the request is larger than the collector accepts (those of spans are smaller with less in {})",
                env::OTEL_BSP_MAX_EXPORT_BATCH_SIZE
            ),
            Self::PartlyRejected => f.write_str("the collector rejected some of the items"),
            Self::CollectorWarning => f.write_str("the collector accepted the items with a warning"),
            Self::OutputClosed => f.write_str("standard output is closed"),
            Self::NotEncoded => f.write_str("the items could not be encoded"),
            Self::NotCollected => f.write_str("the metrics could not be collected"),
            Self::OutputFailed(kind) => write!(f, "cannot write to standard output: {kind}"),
        }
    }
}

/// Who may sign the collector's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Trust {
    /// Whom the system trusts.
    System,
    /// Those in the file that this variable names.
    File(&'static str),
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System => write!(
                f,
                "whom this system trusts: for an authority of your own, {} names a file with its certificate",
                env::OTEL_EXPORTER_OTLP_CERTIFICATE
            ),
            Self::File(variable) => write!(f, "in the file of authorities that {variable} names"),
        }
    }
}

/// Why the exporter of a signal cannot be built; the text names no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BuildError {
    /// The endpoint is no URL.
    InvalidEndpoint,
    /// The endpoint's scheme is none that can be exported to.
    UnknownScheme,
    /// TLS cannot be set up.
    Tls(TlsError),
    /// A header cannot be sent; holds its name.
    InvalidHeader(String),
    /// The exporter refuses its settings.
    Exporter,
    /// Called outside a tokio runtime.
    NoRuntime,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidEndpoint => f.write_str(
                "the endpoint is not a URL of the form http://host:port or https://host:port",
            ),
            Self::UnknownScheme => f.write_str("the endpoint's scheme is neither http nor https"),
            Self::Tls(error) => error.fmt(f),
            Self::InvalidHeader(name) => write!(
                f,
                "the header {name:?} has a name or value that cannot be sent"
            ),
            Self::Exporter => f.write_str("the exporter could not be made"),
            Self::NoRuntime => f.write_str("the exporter has to be built inside a tokio runtime"),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<TlsError> for BuildError {
    fn from(error: TlsError) -> Self {
        Self::Tls(error)
    }
}
