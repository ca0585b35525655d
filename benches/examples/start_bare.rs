//! A program that does nothing: what `start_off` is compared with.

fn main() {}
