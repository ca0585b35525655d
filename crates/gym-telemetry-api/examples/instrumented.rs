//! A rollout that is instrumented with every macro of the facade.
//!
//! It does the same work in both builds. Several locals serve telemetry only; they must not warn when it is compiled
//! out.

use std::fmt;
use std::pin::{Pin, pin};
use std::task::{Context as TaskContext, Poll, Waker};

use gym_telemetry_api::{
    Context, FutureExt, Parent, SpanKind, add_event, attribute, carry, enter, group, if_telemetry,
    in_span, is_span_group_enabled, managed_span, set_span_attributes, span, stopwatch, trace_fn,
};

#[derive(Debug)]
enum ToolError {
    Unknown(String),
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Unknown(tool) = self;
        write!(f, "unknown tool {tool}")
    }
}

struct Agent {
    name: &'static str,
    calls: u32,
}

impl Agent {
    #[trace_fn(group::AGENT, span::AGENT_RUN, err, attribute::SERVER_NAME => self.name, "task" => task)]
    async fn run(&mut self, task: &str) -> Result<f64, ToolError> {
        let mut answer = String::new();
        for (turn, tool) in task.split(' ').enumerate() {
            let observation =
                in_span!(group::AGENT, "turn", "turn" => turn, "tool" => tool, err; async {
                    call_tool(tool)
                })
                .await?;
            self.calls += 1;
            answer.push_str(observation);
        }
        let length = answer.len();
        set_span_attributes!("answer.length" => length);
        Ok(verify(&answer))
    }

    #[trace_fn(group::AGENT, "plan", "calls" => self.calls)]
    fn plan(&self) -> Pin<Box<dyn Future<Output = u32> + Send + '_>> {
        Box::pin(async move { self.calls * 2 })
    }
}

#[trace_fn(group::AGENT, "call tool", err, kind: SpanKind::Client)]
fn call_tool(tool: &str) -> Result<&'static str, ToolError> {
    match tool {
        "weather" => Ok("sunny"),
        "time" => Ok("noon"),
        unknown => Err(ToolError::Unknown(unknown.to_owned())),
    }
}

#[trace_fn(group::VERIFY, span::VERIFY)]
fn verify(answer: &str) -> f64 {
    let words = ["sunny", "noon"];
    let found = words.iter().filter(|word| answer.contains(**word)).count();
    add_event!("verified", "words" => found, "of" => words.len());
    if found == words.len() { 1.0 } else { 0.0 }
}

fn count_in_background(numbers: Vec<u64>) -> u64 {
    let total = carry(move || {
        let size = numbers.len();
        let entered = enter!(group::AGENT, "count", "size" => size);
        let total = numbers.iter().sum();
        add_event!(entered; "summed");
        drop(entered);
        total
    });
    std::thread::spawn(total)
        .join()
        .expect("the sum does not overflow")
}

if_telemetry!(items {
    const BUILD: &str = "observed";
} else {
    const BUILD: &str = "plain";
});

async fn rollout(id: &str) -> Result<f64, ToolError> {
    let watch = stopwatch!();
    let seed = 7;
    let rollout = managed_span!(
        group::ROLLOUT,
        span::ROLLOUT,
        parent: Parent::Root,
        record_exception: true,
        attribute::ROLLOUT_ID => id,
        "seed" => seed,
    );
    let mut agent = Agent {
        name: "weather_agent",
        calls: 0,
    };
    let reward = in_span!(rollout, err; agent.run("weather time")).await?;
    let planned = agent.plan().in_current_context().await;
    assert_eq!(planned, 4);

    let report = span!("report", "reward" => reward, "took.ms" => watch.elapsed().map(|time| time.as_secs_f64() * 1e3));
    set_span_attributes!(report; "build" => BUILD);
    let guard = enter!(report);
    if is_span_group_enabled(&group::ROLLOUT) {
        guard.update_name("report of a recorded rollout");
    }
    Ok(reward)
}

fn main() {
    let reward = block_on(rollout("3-1").in_context(Context::root().with_rollout_id("3-1")));
    assert_eq!(reward.map_err(|error| error.to_string()), Ok(1.0));
    assert_eq!(count_in_background(vec![1, 2, 3]), 6);
    assert_eq!(BUILD == "observed", if_telemetry!({ true } else { false }));
}

/// Polls a future that never waits.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future
            .as_mut()
            .poll(&mut TaskContext::from_waker(Waker::noop()))
        {
            return output;
        }
    }
}
