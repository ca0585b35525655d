//! A small gym fleet, instrumented.
fn main() {}
