//! What a collector that understands every form does.

use std::io::Read;

use http::HeaderMap;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use prost::Message;
use tonic::codec::CompressionEncoding;

use crate::collector::Codecs;

/// JSON and gzip besides plain protobuf.
pub(crate) const ALL: Codecs = Codecs {
    grpc: Some(CompressionEncoding::Gzip),
    read,
    write,
};

fn read(path: &str, headers: &HeaderMap, body: &[u8]) -> Option<Vec<u8>> {
    let body = match headers
        .get("content-encoding")
        .map(http::HeaderValue::as_bytes)
    {
        None => body.to_vec(),
        Some(b"gzip") => {
            let mut plain = Vec::new();
            flate2::read::GzDecoder::new(body)
                .read_to_end(&mut plain)
                .ok()?;
            plain
        }
        Some(_) => return None,
    };
    if !is_json(headers) {
        return Some(body);
    }
    match path {
        "/v1/traces" => from_json::<ExportTraceServiceRequest>(&body),
        "/v1/logs" => from_json::<ExportLogsServiceRequest>(&body),
        "/v1/metrics" => from_json::<ExportMetricsServiceRequest>(&body),
        _ => None,
    }
}

fn write(headers: &HeaderMap, answer: &ExportTraceServiceResponse) -> Vec<u8> {
    if is_json(headers) {
        serde_json::to_vec(answer).expect("an answer is JSON")
    } else {
        answer.encode_to_vec()
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get("content-type")
        .is_some_and(|kind| kind == "application/json")
}

fn from_json<M: Message + serde::de::DeserializeOwned>(body: &[u8]) -> Option<Vec<u8>> {
    serde_json::from_slice::<M>(body)
        .ok()
        .map(|message| message.encode_to_vec())
}
