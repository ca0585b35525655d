//! What became of an export, and why one failed.

use std::fmt;
use std::io;

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
    /// The collector answered with a failure.
    HttpStatus(u16),
    /// The collector answered with a failure.
    GrpcStatus(tonic::Code),
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
            Self::HttpStatus(status) => write!(f, "HTTP status {status}"),
            Self::GrpcStatus(code) => write!(f, "gRPC status {code:?}"),
            Self::PartlyRejected => f.write_str("the collector rejected some of the items"),
            Self::CollectorWarning => f.write_str("the collector accepted the items with a warning"),
            Self::OutputClosed => f.write_str("standard output is closed"),
            Self::NotEncoded => f.write_str("the items could not be encoded"),
            Self::NotCollected => f.write_str("the metrics could not be collected"),
            Self::OutputFailed(kind) => write!(f, "cannot write to standard output: {kind}"),
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
    /// The endpoint wants TLS.
    TlsUnsupported,
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
            Self::InvalidEndpoint => f.write_str("the endpoint is not a URL of the form http://host:port"),
            Self::UnknownScheme => f.write_str("the endpoint's scheme is not http"),
            Self::TlsUnsupported => {
                f.write_str("the endpoint's scheme is https, and this build has no TLS; nothing is sent in clear text instead")
            }
            Self::InvalidHeader(name) => write!(f, "the header {name:?} has a name or value that cannot be sent"),
            Self::Exporter => f.write_str("the exporter could not be made"),
            Self::NoRuntime => f.write_str("the exporter has to be built inside a tokio runtime"),
        }
    }
}

impl std::error::Error for BuildError {}
