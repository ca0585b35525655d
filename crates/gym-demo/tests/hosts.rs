//! Servers at addresses of their own: traces join wherever the servers of a run are.

mod support;

use support::run::Run;
use support::trace::{draw, traces};

#[test]
fn servers_with_addresses_and_host_names_of_their_own_share_one_trace() {
    let places = [
        ("--agent-at", "127.0.0.2=weather-agent"),
        ("--model-at", "127.0.0.3=policy.models.svc.cluster.local"),
        // A name that nothing but the run itself vouches for.
        ("--resources-at", "127.0.0.4=weather.example.com"),
    ];
    let run = Run::new()
        .args(places.iter().flat_map(|(option, place)| [*option, *place]))
        .args(["--rollouts", "2"]);
    let run = run.finish().succeeded();
    let spans = run.spans();
    let traces = traces(&spans);
    assert_eq!(traces.len(), 2);
    for spans in traces.values() {
        let tree = draw(spans);
        for service in ["policy_model", "weather_agent", "weather"] {
            assert!(
                tree.contains(&format!("[nemo-gym/{service}]")),
                "{service} in\n{tree}"
            );
        }
    }
    let urls: Vec<_> = spans
        .iter()
        .filter_map(|span| span.attribute("url.full"))
        .collect();
    for host in [
        "//weather-agent:",
        "//policy.models.svc.cluster.local:",
        "//weather.example.com:",
    ] {
        assert!(
            urls.iter().any(|url| url.contains(host)),
            "{host} in {urls:?}"
        );
    }
}
