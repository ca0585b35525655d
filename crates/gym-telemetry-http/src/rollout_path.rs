//! The URL prefix `/ng-rollout/<id>` that carries a rollout id between servers.

use gym_telemetry_core::RolloutId;
use http::Uri;
use http::uri::PathAndQuery;

/// Removes a leading `/ng-rollout/<id>` from `uri` and returns the id.
///
/// An id outside the grammar leaves the URI alone: the request then meets the router as it came and ends
/// in its 404, instead of reaching a handler under a rollout that nobody can have started.
pub(crate) fn strip(uri: &mut Uri) -> Option<RolloutId> {
    let (id, path) = RolloutId::split_path(uri.path())?;
    *uri = with_path(uri, path)?;
    Some(id)
}

fn with_path(uri: &Uri, path: &str) -> Option<Uri> {
    let query = uri.query();
    let mut text = String::with_capacity(path.len() + query.map_or(0, |query| query.len() + 1));
    text.push_str(path);
    if let Some(query) = query {
        text.push('?');
        text.push_str(query);
    }
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(text).ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(uri: &str) -> (String, Option<String>) {
        let mut uri: Uri = uri.parse().expect("a valid URI");
        let id = strip(&mut uri).map(|id| id.as_str().to_owned());
        (uri.to_string(), id)
    }

    #[test]
    fn prefix_is_removed_and_its_id_returned() {
        for (uri, path, id) in [
            ("/ng-rollout/3-1/v1/responses", "/v1/responses", "3-1"),
            (
                "/ng-rollout/3-1-a2/run?x=1&y=%20",
                "/run?x=1&y=%20",
                "3-1-a2",
            ),
            ("/ng-rollout/A.b_c-9", "/", "A.b_c-9"),
            ("/ng-rollout/3-1/", "/", "3-1"),
            ("/ng-rollout/3-1?x=1", "/?x=1", "3-1"),
            ("/ng-rollout/3-1//run", "//run", "3-1"),
            ("/ng-rollout/1/ng-rollout/2/run", "/ng-rollout/2/run", "1"),
            (
                "http://user@host:81/ng-rollout/3-1/run?q",
                "http://user@host:81/run?q",
                "3-1",
            ),
        ] {
            assert_eq!(
                stripped(uri),
                (path.to_owned(), Some(id.to_owned())),
                "{uri}"
            );
        }
    }

    #[test]
    fn anything_else_is_left_alone() {
        for uri in [
            "/",
            "/run",
            "/ng-rollout",
            "/ng-rollout/",
            "/ng-rollout//run",
            "/ng-rollout/-1/run",
            "/ng-rollout/3%2D1/run",
            "/ng-rollout/3~1/run",
            "/api/ng-rollout/3-1/run",
            "/NG-rollout/3-1/run",
            "host:80",
            "*",
        ] {
            assert_eq!(
                stripped(uri),
                (uri.parse::<Uri>().expect("valid").to_string(), None),
                "{uri}"
            );
        }
    }
}
