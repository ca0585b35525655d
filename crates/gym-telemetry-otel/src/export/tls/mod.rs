//! TLS to a collector.
//!
//! There is one provider of cryptography, and it is named here: whatever other provider the host program installed
//! for itself makes no difference.

mod files;
mod trouble;

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub(crate) use self::files::TlsError;
pub(in crate::export) use self::trouble::Trouble;
use super::report::{BuildError, Trust};
use crate::settings::TlsFiles;

/// The protocol that is spoken inside TLS, as it is named while the connection is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::export) enum Inner {
    Http1,
    Http2,
}

impl Inner {
    const fn alpn(self) -> &'static [u8] {
        match self {
            Self::Http1 => b"http/1.1",
            Self::Http2 => b"h2",
        }
    }
}

/// How to speak TLS to one collector.
#[derive(Clone)]
pub(in crate::export) struct Tls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    trouble: Trouble,
}

impl Tls {
    /// Reads the files. `host` is the host of the URL.
    pub(in crate::export) fn build(
        files: &TlsFiles,
        host: &str,
        inner: Inner,
    ) -> Result<Self, BuildError> {
        let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned())
            .map_err(|_| BuildError::InvalidEndpoint)?;
        let mut config = client_config(files)?;
        config.alpn_protocols = vec![inner.alpn().to_vec()];
        let trust = files
            .certificate
            .as_ref()
            .map_or(Trust::System, |file| Trust::File(file.variable));
        Ok(Self {
            config: Arc::new(config),
            name,
            trouble: Trouble::new(trust, files.client.is_some()),
        })
    }

    /// Where what goes wrong inside TLS is noted.
    pub(in crate::export) fn trouble(&self) -> &Trouble {
        &self.trouble
    }

    pub(in crate::export) async fn connect(
        &self,
        stream: TcpStream,
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let connecting =
            TlsConnector::from(Arc::clone(&self.config)).connect(self.name.clone(), stream);
        connecting.await.inspect_err(|error| {
            if error.kind() == std::io::ErrorKind::UnexpectedEof {
                self.trouble.no_tls();
            } else {
                self.trouble.note(error);
            }
        })
    }
}

/// Reads the files, to tell whether they can be used.
///
/// # Errors
///
/// If a file cannot be read or does not hold what it should.
pub(crate) fn check(files: &TlsFiles) -> Result<(), TlsError> {
    client_config(files).map(drop)
}

fn client_config(files: &TlsFiles) -> Result<ClientConfig, TlsError> {
    let roots = match &files.certificate {
        Some(file) => files::authorities(file)?,
        None => files::system_authorities()?,
    };
    let builder =
        ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider has cipher suites for every default version")
            .with_root_certificates(roots);
    let Some(client) = &files.client else {
        return Ok(builder.with_no_client_auth());
    };
    let chain = files::certificates(&client.certificate)?;
    let key = files::private_key(&client.key)?;
    builder
        .with_client_auth_cert(chain, key)
        .map_err(|error| TlsError::identity(client, &error))
}
