//! Looks for names in the bytes of a program: symbols and strings alike.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::failure::{Failure, Result};

/// The names that occur in a file.
pub(super) fn occurring<'a>(file: &Path, names: &[&'a str]) -> Result<BTreeSet<&'a str>> {
    let bytes = fs::read(file).map_err(|error| Failure::io("could not read", file, &error))?;
    Ok(search(&bytes, names))
}

fn search<'a>(bytes: &[u8], names: &[&'a str]) -> BTreeSet<&'a str> {
    let mut by_first_byte: Vec<Vec<&'a str>> = vec![Vec::new(); 256];
    for name in names {
        if let Some(first) = name.bytes().next() {
            by_first_byte[usize::from(first)].push(name);
        }
    }
    let mut found = BTreeSet::new();
    for (index, byte) in bytes.iter().enumerate() {
        for name in &by_first_byte[usize::from(*byte)] {
            if bytes[index..].starts_with(name.as_bytes()) {
                found.insert(*name);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_between_other_bytes() {
        let bytes = b"\0_ZN13opentelemetry3apigym.jobgym.\xff";
        let found = search(bytes, &["opentelemetry", "gym.job", "gym.rollout", ""]);
        assert_eq!(
            found.into_iter().collect::<Vec<_>>(),
            ["gym.job", "opentelemetry"]
        );
    }
}
