//! Connections to a collector, in clear text or in TLS.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection as Pooled, HttpConnector};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tower_service::Service;

use super::tls::{Tls, Trouble};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Makes connections to one place, whatever URL the transport asks for: what it believes about TLS is of no concern.
#[derive(Clone)]
pub(super) struct Connector {
    tcp: HttpConnector,
    target: Uri,
    tls: Option<Tls>,
}

impl Connector {
    pub(super) fn new(target: Uri, tls: Option<Tls>) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        Self { tcp, target, tls }
    }
}

impl Service<Uri> for Connector {
    type Response = Connection;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Connection, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tcp.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, _asked: Uri) -> Self::Future {
        let connecting = self.tcp.call(self.target.clone());
        let tls = self.tls.clone();
        Box::pin(async move {
            let stream = connecting.await?;
            let Some(tls) = tls else {
                return Ok(Connection::Plain(stream));
            };
            let stream = tls.connect(stream.into_inner()).await?;
            Ok(Connection::Tls {
                stream: Box::new(TokioIo::new(stream)),
                trouble: tls.trouble().clone(),
            })
        })
    }
}

/// A connection.
pub(super) enum Connection {
    Plain(TokioIo<TcpStream>),
    Tls {
        stream: Box<TokioIo<TlsStream<TcpStream>>>,
        trouble: Trouble,
    },
}

/// Does the same with either kind of stream, and notes what goes wrong inside TLS.
macro_rules! with_stream {
    ($connection:expr, $stream:ident => $call:expr) => {
        match $connection.get_mut() {
            Connection::Plain(stream) => {
                let $stream = Pin::new(stream);
                $call
            }
            Connection::Tls { stream, trouble } => {
                let $stream = Pin::new(&mut **stream);
                let result = $call;
                if let Poll::Ready(Err(error)) = &result {
                    trouble.note(error);
                }
                result
            }
        }
    };
}

impl Read for Connection {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        with_stream!(self, stream => stream.poll_read(context, buffer))
    }
}

impl Write for Connection {
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

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Tls { stream, .. } => stream.is_write_vectored(),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        with_stream!(self, stream => stream.poll_write_vectored(context, parts))
    }
}

impl Pooled for Connection {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}
