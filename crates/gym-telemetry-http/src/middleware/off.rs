//! Hands the request on.

use http::Extensions;
use reqwest::Request;
use reqwest_middleware::Next;

use super::Answer;
use crate::PropagationPolicy;

pub(super) fn handle<'a>(
    _policy: &PropagationPolicy,
    request: Request,
    extensions: &'a mut Extensions,
    next: Next<'a>,
) -> Answer<'a> {
    next.run(request, extensions)
}
