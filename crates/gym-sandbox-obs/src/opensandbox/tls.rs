//! Connections, in clear text or in TLS.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tower_service::Service;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The other end cannot be spoken to safely.
#[derive(Debug)]
pub(super) struct TlsFailure(io::Error);

impl std::fmt::Display for TlsFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no secure connection: {}", self.0)
    }
}

impl std::error::Error for TlsFailure {}

/// Connects by the scheme of the URL.
#[derive(Clone)]
pub(super) struct Connector {
    tcp: HttpConnector,
    /// Read when it is first needed: the system's authorities are many.
    config: Arc<OnceLock<Arc<ClientConfig>>>,
}

impl Connector {
    pub(super) fn new() -> Self {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        Self {
            tcp,
            config: Arc::default(),
        }
    }
}

fn client_config() -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    // What cannot be read is not trusted; without any authority every connection fails.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has cipher suites for every default version")
        .with_root_certificates(roots)
        .with_no_client_auth();
    Arc::new(config)
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tcp.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, url: Uri) -> Self::Future {
        let connecting = self.tcp.call(url.clone());
        let config = Arc::clone(&self.config);
        Box::pin(async move {
            let stream = connecting.await?;
            if url.scheme_str() != Some("https") {
                return Ok(Stream::Plain(stream));
            }
            let host = url.host().unwrap_or_default().trim_matches(['[', ']']);
            let name = ServerName::try_from(host.to_owned())
                .map_err(|error| TlsFailure(io::Error::other(error)))?;
            let config = Arc::clone(config.get_or_init(client_config));
            let connecting = TlsConnector::from(config).connect(name, stream.into_inner());
            let stream = connecting.await.map_err(TlsFailure)?;
            Ok(Stream::Tls(Box::new(TokioIo::new(stream))))
        })
    }
}

/// A connection.
pub(super) enum Stream {
    Plain(TokioIo<TcpStream>),
    Tls(Box<TokioIo<TlsStream<TcpStream>>>),
}

macro_rules! with_stream {
    ($connection:expr, $stream:ident => $call:expr) => {
        match $connection.get_mut() {
            Stream::Plain(stream) => {
                let $stream = Pin::new(stream);
                $call
            }
            Stream::Tls(stream) => {
                let $stream = Pin::new(&mut **stream);
                $call
            }
        }
    };
}

impl Read for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        with_stream!(self, stream => stream.poll_read(context, buffer))
    }
}

impl Write for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        with_stream!(self, stream => stream.poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        with_stream!(self, stream => stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        with_stream!(self, stream => stream.poll_shutdown(context))
    }
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}
