//! Request methods as they are recorded.

use http::Method;

/// What is recorded in place of a method that HTTP does not define, so that clients cannot make up names.
pub(crate) const OTHER: &str = "_OTHER";

/// The value of `http.request.method`.
pub(crate) fn recorded(method: &Method) -> &'static str {
    match method.as_str() {
        "CONNECT" => "CONNECT",
        "DELETE" => "DELETE",
        "GET" => "GET",
        "HEAD" => "HEAD",
        "OPTIONS" => "OPTIONS",
        "PATCH" => "PATCH",
        "POST" => "POST",
        "PUT" => "PUT",
        "TRACE" => "TRACE",
        _ => OTHER,
    }
}

/// How a recorded method stands in the name of a span.
pub(crate) fn in_name(recorded: &'static str) -> &'static str {
    if recorded == OTHER { "HTTP" } else { recorded }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_that_http_does_not_define_are_recorded_as_other() {
        let known = |method: &str| recorded(&method.parse().expect("a method"));
        assert_eq!(
            [known("GET"), known("PATCH"), known("get"), known("BREW")],
            ["GET", "PATCH", OTHER, OTHER]
        );
        assert_eq!([in_name("GET"), in_name(OTHER)], ["GET", "HTTP"]);
    }
}
