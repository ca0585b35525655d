//! Forms of requests beyond plain protobuf.

use http::HeaderMap;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message;
use tonic::codec::CompressionEncoding;

/// What a collector understands. A test that needs more than [`Codecs::PLAIN`] brings the code for it, so that others
/// need no more dependencies.
#[derive(Clone, Copy, Debug)]
pub struct Codecs {
    /// The compression of gRPC messages that is taken.
    pub grpc: Option<CompressionEncoding>,
    /// Turns the body of an HTTP request to a path into protobuf; `None` refuses it.
    pub read: fn(path: &str, headers: &HeaderMap, body: &[u8]) -> Option<Vec<u8>>,
    /// Turns the answer to an HTTP request into bytes of the request's form.
    pub write: fn(headers: &HeaderMap, answer: &ExportTraceServiceResponse) -> Vec<u8>,
}

impl Codecs {
    /// Protobuf without compression.
    pub const PLAIN: Self = Self {
        grpc: None,
        read: read_plain,
        write: write_plain,
    };
}

fn read_plain(_path: &str, headers: &HeaderMap, body: &[u8]) -> Option<Vec<u8>> {
    let is_protobuf = headers
        .get("content-type")
        .is_some_and(|kind| kind == "application/x-protobuf");
    (is_protobuf && !headers.contains_key("content-encoding")).then(|| body.to_vec())
}

/// In protobuf the responses of the three services have the same fields.
fn write_plain(_headers: &HeaderMap, answer: &ExportTraceServiceResponse) -> Vec<u8> {
    answer.encode_to_vec()
}
