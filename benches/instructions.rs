//! Counts instructions with valgrind: exact where times drift. `cargo xtask bench` runs it where valgrind is present.
#![expect(missing_docs, reason = "gungraun's macros generate public items")]

use std::hint::black_box;
use std::sync::Arc;

use gungraun::{library_benchmark, library_benchmark_group, main};
use gym_benches::sites::SITES;
use gym_benches::{Stack, stacks};
use gym_concurrency::{ConcurrencyComponent, MeteredSemaphore};
use tokio::runtime::Builder;
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, yield_now};

/// Makes a stack record, and records a few times, so that what happens only at first is not counted.
fn warm(name: &str, workload: fn(&Stack) -> fn()) -> fn() {
    let stack = stacks().into_iter().find(|stack| stack.name == name);
    // A stack of another build: nothing is counted for it.
    let Some(stack) = stack else { return || {} };
    let work = workload(&stack);
    for _ in 0..3 {
        work();
    }
    (stack.flush)();
    work
}

fn sequential(name: &str) -> fn() {
    warm(name, |stack| stack.sequential)
}

fn asynchronous(name: &str) -> fn() {
    warm(name, |stack| stack.asynchronous)
}

fn empty(name: &str) -> fn() {
    warm(name, |stack| stack.empty)
}

#[library_benchmark(setup = sequential)]
#[bench::uninstrumented("uninstrumented")]
#[bench::compiled_out("compiled out")]
#[bench::group_off("group off")]
#[bench::unsampled("unsampled")]
#[bench::group_on("group on")]
#[bench::opentelemetry_sdk("opentelemetry_sdk")]
#[bench::tracing_opentelemetry("tracing-opentelemetry")]
#[bench::fastrace_opentelemetry("fastrace-opentelemetry")]
fn a_sequential(work: fn()) {
    black_box(work)();
}

#[library_benchmark(setup = asynchronous)]
#[bench::uninstrumented("uninstrumented")]
#[bench::compiled_out("compiled out")]
#[bench::group_off("group off")]
#[bench::unsampled("unsampled")]
#[bench::group_on("group on")]
#[bench::opentelemetry_sdk("opentelemetry_sdk")]
#[bench::tracing_opentelemetry("tracing-opentelemetry")]
#[bench::fastrace_opentelemetry("fastrace-opentelemetry")]
fn b_asynchronous(work: fn()) {
    black_box(work)();
}

#[library_benchmark(setup = empty)]
#[bench::uninstrumented("uninstrumented")]
#[bench::compiled_out("compiled out")]
#[bench::group_off("group off")]
#[bench::unsampled("unsampled")]
#[bench::group_on("group on")]
#[bench::opentelemetry_sdk("opentelemetry_sdk")]
#[bench::tracing_opentelemetry("tracing-opentelemetry")]
#[bench::fastrace_opentelemetry("fastrace-opentelemetry")]
fn d_empty(work: fn()) {
    black_box(work)();
}

library_benchmark_group!(
    name = facade,
    benchmarks = [a_sequential, b_asynchronous, d_empty]
);

/// Twins of one place, in a process that records, whose group is off.
fn site(name: &str, twin: fn(&gym_benches::sites::Site) -> fn()) -> fn() {
    let _recording = stacks();
    let site = SITES.iter().find(|site| site.name == name);
    twin(site.expect("the place is in the list"))
}

fn plain(name: &str) -> fn() {
    site(name, |site| site.plain)
}

fn instrumented(name: &str) -> fn() {
    site(name, |site| site.instrumented)
}

#[library_benchmark(setup = plain)]
#[bench::managed_span("managed_span")]
#[bench::enter("enter")]
#[bench::enter_around_calls("enter_around_calls")]
#[bench::trace_fn("trace_fn")]
#[bench::trace_fn_err("trace_fn_err")]
#[bench::set_attributes("set_attributes")]
#[bench::add_event("add_event")]
#[bench::in_span_async("in_span_async")]
#[bench::trace_fn_async("trace_fn_async")]
fn site_plain(work: fn()) {
    black_box(work)();
}

#[library_benchmark(setup = instrumented)]
#[bench::managed_span("managed_span")]
#[bench::enter("enter")]
#[bench::enter_around_calls("enter_around_calls")]
#[bench::trace_fn("trace_fn")]
#[bench::trace_fn_err("trace_fn_err")]
#[bench::set_attributes("set_attributes")]
#[bench::add_event("add_event")]
#[bench::in_span_async("in_span_async")]
#[bench::trace_fn_async("trace_fn_async")]
fn site_instrumented(work: fn()) {
    black_box(work)();
}

library_benchmark_group!(name = sites, benchmarks = [site_plain, site_instrumented]);

/// Slots, and tasks that share them where they are contended.
const LIMIT: u32 = 8;
const TASKS: usize = 64;
/// Acquires of one run.
const ACQUIRES: usize = 6_400;

/// Takes slots of a semaphore of either kind and gives them back; both have one shape but no trait.
macro_rules! slots {
    ($tasks:expr, $semaphore:expr) => {{
        let runtime = Builder::new_current_thread().build();
        let (runtime, semaphore) = (runtime.expect("a runtime"), Arc::new($semaphore));
        let work = move || {
            if $tasks == 1 {
                return runtime.block_on(async {
                    for _ in 0..ACQUIRES {
                        drop(black_box(semaphore.acquire().await.expect("never closed")));
                    }
                });
            }
            runtime.block_on(async {
                let mut tasks = JoinSet::new();
                for _ in 0..$tasks {
                    let semaphore = Arc::clone(&semaphore);
                    tasks.spawn(async move {
                        for _ in 0..ACQUIRES / $tasks {
                            let permit = semaphore.acquire().await.expect("never closed");
                            yield_now().await;
                            drop(permit);
                        }
                    });
                }
                tasks.join_all().await;
            });
        };
        work();
        Box::new(work)
    }};
}

fn slots(name: &str, tasks: usize) -> Box<dyn Fn()> {
    if name == "tokio" {
        slots!(tasks, Semaphore::new(LIMIT as usize))
    } else {
        let metered = MeteredSemaphore::new(LIMIT, ConcurrencyComponent::AgentServer, "bench");
        slots!(tasks, metered.expect("a valid limit"))
    }
}

fn free(name: &str) -> Box<dyn Fn()> {
    slots(name, 1)
}

fn shared(name: &str) -> Box<dyn Fn()> {
    slots(name, TASKS)
}

#[library_benchmark(setup = free)]
#[bench::tokio("tokio")]
#[bench::metered("metered")]
fn limit_uncontended(work: Box<dyn Fn()>) {
    black_box(&work)();
    // What it is made of is not counted when it goes.
    std::mem::forget(work);
}

#[library_benchmark(setup = shared)]
#[bench::tokio("tokio")]
#[bench::metered("metered")]
fn limit_contended(work: Box<dyn Fn()>) {
    black_box(&work)();
    std::mem::forget(work);
}

library_benchmark_group!(
    name = limits,
    benchmarks = [limit_uncontended, limit_contended]
);

main!(library_benchmark_groups = [facade, sites, limits]);
