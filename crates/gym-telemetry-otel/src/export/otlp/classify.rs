//! Turns errors of the transports into causes.

use std::error::Error;
use std::io;

use super::super::report::Cause;
use super::retry::{Failure, Retry};

/// What broke before the collector answered.
pub(super) fn transport_failure(error: &(dyn Error + 'static), connecting: bool) -> Failure {
    let cause = transport_cause(error, connecting);
    // A far end that speaks another protocol will go on doing so.
    let retry = if cause == Cause::OtherProtocol {
        Retry::Never
    } else {
        Retry::Soon
    };
    Failure { cause, retry }
}

fn transport_cause(error: &(dyn Error + 'static), connecting: bool) -> Cause {
    for error in chain(error) {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            match error.kind() {
                io::ErrorKind::ConnectionRefused => return Cause::ConnectionRefused,
                io::ErrorKind::TimedOut => return Cause::TimedOut,
                _ => {}
            }
        } else if let Some(error) = error.downcast_ref::<hyper::Error>() {
            if error.is_parse() || is_http2_complaint(error) {
                return Cause::OtherProtocol;
            }
        } else if error.to_string() == "dns error" {
            // hyper-util's error for a failed look-up has no type that can be named.
            return Cause::NameNotResolved;
        }
    }
    if connecting {
        Cause::Unreachable
    } else {
        Cause::ConnectionLost
    }
}

/// Whether the far end sent bytes that are no HTTP/2.
fn is_http2_complaint(error: &hyper::Error) -> bool {
    chain(error)
        .filter_map(|error| error.downcast_ref::<h2::Error>())
        .any(|error| {
            !error.is_remote()
                && !error.is_io()
                && error.reason().is_some_and(|reason| {
                    [h2::Reason::FRAME_SIZE_ERROR, h2::Reason::PROTOCOL_ERROR].contains(&reason)
                })
        })
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| {
        (*error).source()
    })
}
