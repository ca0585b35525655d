//! The files that TLS needs.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::settings::{ClientFiles, TlsFile};

/// No bundle of certificates is as large as this; a device file might be.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Whose certificates the system trusts, if they are not where they usually are.
const SYSTEM_FILE: &str = "SSL_CERT_FILE";
const SYSTEM_DIRECTORY: &str = "SSL_CERT_DIR";

/// Why TLS cannot be set up. It names the variable and the file, and holds no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TlsError(String);

impl TlsError {
    fn new(file: &TlsFile, problem: impl fmt::Display) -> Self {
        Self(if file.is_pasted() {
            format!(
                "{} has to be the path of a PEM file, not the content of one",
                file.variable
            )
        } else {
            format!("{} names the file {file}, which {problem}", file.variable)
        })
    }

    /// The certificate and key of this process are readable and still no pair.
    pub(super) fn identity(client: &ClientFiles, error: &rustls::Error) -> Self {
        let (certificate, key) = (&client.certificate, &client.key);
        if matches!(error, rustls::Error::InconsistentKeys(_)) {
            Self(format!(
                "the private key in {key} ({}) does not belong to the certificate in {certificate} ({})",
                key.variable, certificate.variable
            ))
        } else if matches!(error, rustls::Error::InvalidCertificate(_)) {
            Self::new(certificate, "holds a certificate that cannot be used")
        } else {
            Self::new(key, "holds a private key of a kind that cannot be used")
        }
    }
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TlsError {}

/// The authorities in a file, of which one suffices.
pub(super) fn authorities(file: &TlsFile) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    // A bundle may hold oddities that somebody else trusts.
    let (usable, _) = roots.add_parsable_certificates(certificates(file)?);
    if usable == 0 {
        return Err(TlsError::new(
            file,
            "holds no certificate that can be trusted",
        ));
    }
    Ok(roots)
}

/// The authorities that the system trusts.
pub(super) fn system_authorities() -> Result<RootCertStore, TlsError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (usable, _) = roots.add_parsable_certificates(found.certs);
    if usable > 0 {
        return Ok(roots);
    }
    let variable = [SYSTEM_FILE, SYSTEM_DIRECTORY]
        .into_iter()
        .find_map(|name| Some((name, std::env::var_os(name)?)));
    Err(TlsError(match variable {
        Some((name, path)) => format!(
            "{name} names {:?}, where no certificate can be read",
            path.to_string_lossy()
        ),
        None => format!(
            "the system has no certificates to trust: install them, or name a PEM file in {}",
            gym_telemetry_core::env::OTEL_EXPORTER_OTLP_CERTIFICATE
        ),
    }))
}

/// All certificates in a file, of which there is one at least.
pub(super) fn certificates(file: &TlsFile) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let bytes = read(file)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match found {
        Ok(found) if found.is_empty() => {
            Err(TlsError::new(file, "holds no certificate in PEM form"))
        }
        Ok(found) => Ok(found),
        Err(_) => Err(TlsError::new(file, "is no valid PEM")),
    }
}

/// The first private key in a file.
pub(super) fn private_key(file: &TlsFile) -> Result<PrivateKeyDer<'static>, TlsError> {
    const ENCRYPTED: &[u8] = b"ENCRYPTED";
    let bytes = read(file)?;
    PrivateKeyDer::from_pem_slice(&bytes).map_err(|_| {
        let is_encrypted = bytes
            .windows(ENCRYPTED.len())
            .any(|window| window == ENCRYPTED);
        TlsError::new(
            file,
            if is_encrypted {
                "holds a private key with a pass phrase, for which nobody can be asked"
            } else {
                "holds no private key in PEM form"
            },
        )
    })
}

fn read(file: &TlsFile) -> Result<Vec<u8>, TlsError> {
    let unreadable =
        |error: io::Error| TlsError::new(file, format_args!("cannot be read: {error}"));
    // Asked first: to open a pipe would wait for somebody who writes.
    if !fs::metadata(&file.path).map_err(unreadable)?.is_file() {
        return Err(TlsError::new(file, "is no file"));
    }
    let mut bytes = Vec::new();
    File::open(&file.path)
        .and_then(|file| file.take(LARGEST).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    Ok(bytes)
}
