//! What goes wrong inside TLS.
//!
//! HTTP/2 hands the errors of its connection on as text, and an alert of the far end may come long after the
//! handshake. So they are noted where they happen, and asked for when a request has failed.

use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use rustls::{AlertDescription as Alert, CertificateError, Error};

use super::super::report::{Cause, Trust};

/// A note of the last thing that went wrong; all clones are one.
#[derive(Clone)]
pub(in crate::export) struct Trouble {
    trust: Trust,
    has_client: bool,
    noted: Arc<Mutex<Option<Cause>>>,
}

impl Trouble {
    pub(super) fn new(trust: Trust, has_client: bool) -> Self {
        Self {
            trust,
            has_client,
            noted: Arc::default(),
        }
    }

    /// Notes that the far end does not answer in TLS.
    pub(super) fn no_tls(&self) {
        *self.noted.lock() = Some(Cause::NoTls);
    }

    /// Notes an error of a TLS stream; one of the connection below is none.
    pub(in crate::export) fn note(&self, error: &io::Error) {
        let error = error.get_ref().and_then(|error| error.downcast_ref());
        if let Some(error) = error {
            *self.noted.lock() = Some(self.cause(error));
        }
    }

    /// Takes the note.
    pub(in crate::export) fn take(&self) -> Option<Cause> {
        self.noted.lock().take()
    }

    fn cause(&self, error: &Error) -> Cause {
        match error {
            Error::InvalidCertificate(error) => self.certificate_cause(error),
            Error::AlertReceived(alert) => self.alert_cause(*alert),
            Error::InvalidMessage(_) => Cause::NoTls,
            Error::NoApplicationProtocol => Cause::OtherProtocol,
            _ => Cause::TlsFailed,
        }
    }

    fn certificate_cause(&self, error: &CertificateError) -> Cause {
        match error {
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                Cause::Untrusted(self.trust)
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                Cause::OtherName
            }
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => Cause::OutOfDate,
            // The type of this error belongs to a crate below rustls.
            CertificateError::Other(error) if error.to_string() == "CaUsedAsEndEntity" => {
                Cause::AuthorityAsServer
            }
            _ => Cause::InvalidCertificate,
        }
    }

    fn alert_cause(&self, alert: Alert) -> Cause {
        match alert {
            Alert::NoApplicationProtocol => Cause::OtherProtocol,
            Alert::CertificateRequired
            | Alert::NoCertificate
            | Alert::BadCertificate
            | Alert::UnknownCA
            | Alert::UnsupportedCertificate
            | Alert::CertificateRevoked
            | Alert::CertificateExpired
            | Alert::CertificateUnknown
            | Alert::AccessDenied
            | Alert::DecryptError => {
                if self.has_client {
                    Cause::ClientRefused
                } else {
                    Cause::ClientWanted
                }
            }
            _ => Cause::TlsFailed,
        }
    }
}
