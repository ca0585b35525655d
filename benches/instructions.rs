//! Counts instructions with valgrind: exact where times drift. `cargo xtask bench` runs it where valgrind is present.
#![expect(missing_docs, reason = "gungraun's macros generate public items")]

use std::hint::black_box;

use gungraun::{library_benchmark, library_benchmark_group, main};
use gym_benches::sites::SITES;
use gym_benches::{Stack, stacks};

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

main!(library_benchmark_groups = [facade, sites]);
