//! A collector behind TLS: certificates made for the test, and a front that ends TLS and passes the bytes on.
//!
//! Not part of the module beside it: a test that wants it includes it with `#[path]` and needs `rcgen`, `rustls` (`ring`,
//! `std`, `tls12`), `tempfile`, `tokio` and `tokio-rustls`.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test that includes this uses a part of it"
)]

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, copy_bidirectional};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

/// An authority made for a test.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    directory: TempDir,
}

/// A certificate with its key, and the files that hold both.
pub struct Identity {
    pub certificate: CertificateDer<'static>,
    pub key: PrivateKeyDer<'static>,
    pub certificate_file: PathBuf,
    pub key_file: PathBuf,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params
            .distinguished_name
            .push(DnType::CommonName, "authority of a test");
        let key = KeyPair::generate().expect("a key");
        let issuer = CertifiedIssuer::self_signed(params, key).expect("a certificate");
        let directory = tempfile::tempdir().expect("a temporary directory");
        std::fs::write(directory.path().join("ca.pem"), issuer.pem()).expect("a writable file");
        Self { issuer, directory }
    }

    /// The file with its certificate.
    pub fn file(&self) -> PathBuf {
        self.directory.path().join("ca.pem")
    }

    /// Where its files are; deleted with it.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// A certificate for the loopback interface.
    pub fn server(&self) -> Identity {
        self.identity("server", &["localhost", "127.0.0.1"], |_| {})
    }

    /// A certificate for these hosts.
    pub fn server_for(&self, hosts: &[&str]) -> Identity {
        self.identity("server", hosts, |_| {})
    }

    /// A certificate that was valid until the day before yesterday.
    pub fn expired_server(&self) -> Identity {
        self.identity("server", &["localhost", "127.0.0.1"], |params| {
            params.not_after = rcgen::date_time_ymd(2020, 1, 1);
        })
    }

    /// A certificate for a client.
    pub fn client(&self) -> Identity {
        self.identity("client", &[], |params| {
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        })
    }

    /// The authority as a server.
    pub fn as_server(&self) -> Identity {
        let certificate = self.issuer.der().clone();
        self.keep(
            "authority",
            certificate,
            self.issuer.pem(),
            self.issuer.key(),
        )
    }

    fn identity(
        &self,
        name: &str,
        hosts: &[&str],
        change: impl FnOnce(&mut CertificateParams),
    ) -> Identity {
        let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(hosts).expect("valid names");
        change(&mut params);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        self.keep(name, certificate.der().clone(), certificate.pem(), &key)
    }

    fn keep(
        &self,
        name: &str,
        certificate: CertificateDer<'static>,
        pem: String,
        key: &KeyPair,
    ) -> Identity {
        let path = |end: &str| self.directory.path().join(format!("{name}.{end}"));
        std::fs::write(path("pem"), pem).expect("a writable file");
        std::fs::write(path("key"), key.serialize_pem()).expect("a writable file");
        Identity {
            certificate,
            key: PrivateKeyDer::try_from(key.serialize_der()).expect("a key"),
            certificate_file: path("pem"),
            key_file: path("key"),
        }
    }
}

/// What a front asks of its clients.
#[derive(Clone, Copy)]
pub enum Clients<'a> {
    Anybody,
    /// Those with a certificate of this authority.
    Of(&'a Authority),
}

/// Ends TLS in front of a plain server; it stops when dropped.
pub struct Front {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Front {
    /// Starts a front that speaks every version of TLS.
    pub fn start(behind: SocketAddr, identity: &Identity, clients: Clients<'_>) -> Self {
        Self::with_versions(behind, identity, clients, rustls::ALL_VERSIONS)
    }

    /// Starts a front that speaks these versions only.
    pub fn with_versions(
        behind: SocketAddr,
        identity: &Identity,
        clients: Clients<'_>,
        versions: &[&'static SupportedProtocolVersion],
    ) -> Self {
        let config = Arc::new(server_config(identity, clients, versions));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("an address");
        listener
            .set_nonblocking(true)
            .expect("a non-blocking socket");
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime can be made");
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
                let accept = async {
                    loop {
                        let (stream, _) = listener.accept().await.expect("a connection");
                        tokio::spawn(serve(stream, behind, Arc::clone(&config)));
                    }
                };
                tokio::select! {
                    () = accept => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            address,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// `https://127.0.0.1:<port>`.
    pub fn endpoint(&self) -> String {
        format!("https://{}", self.address)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
            && !std::thread::panicking()
        {
            panic!("the front panicked");
        }
    }
}

async fn serve(stream: TcpStream, behind: SocketAddr, config: Arc<ServerConfig>) {
    let acceptor = tokio_rustls::TlsAcceptor::from(config);
    match acceptor.accept(stream).into_fallible().await {
        Ok(mut near) => {
            let mut far = TcpStream::connect(behind)
                .await
                .expect("the server behind listens");
            // Either side may end the connection at any time.
            let _ = copy_bidirectional(&mut near, &mut far).await;
        }
        Err((_, mut refused)) => {
            // To close a connection with unread bytes would reset it, and the alert might be lost with that.
            let mut rest = Vec::new();
            let drained = refused.read_to_end(&mut rest);
            let _ = tokio::time::timeout(Duration::from_secs(30), drained).await;
        }
    }
}

fn server_config(
    identity: &Identity,
    clients: Clients<'_>,
    versions: &[&'static SupportedProtocolVersion],
) -> ServerConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(versions)
        .expect("known versions");
    let builder = match clients {
        Clients::Anybody => builder.with_no_client_auth(),
        Clients::Of(authority) => {
            let mut roots = RootCertStore::empty();
            roots
                .add(authority.issuer.der().clone())
                .expect("a valid authority");
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.expect("a verifier"))
        }
    };
    let mut config = builder
        .with_single_cert(vec![identity.certificate.clone()], identity.key.clone_key())
        .expect("certificate and key belong together");
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}
