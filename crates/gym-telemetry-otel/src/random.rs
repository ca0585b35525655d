//! Randomness that no seed of the program and no fork repeats.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use rustix::rand::{GetRandomFlags, getrandom};

/// Twelve random lower-case hexadecimal digits.
pub(crate) fn hex12() -> String {
    format!("{:012x}", word() & 0xffff_ffff_ffff)
}

/// Eight random lower-case hexadecimal digits.
pub(crate) fn hex8() -> String {
    format!("{:08x}", word() & 0xffff_ffff)
}

/// A random number.
pub(crate) fn word() -> u64 {
    let mut bytes = [0; 8];
    // The operating system never cuts so short a request.
    if getrandom(&mut bytes, GetRandomFlags::empty()) == Ok(bytes.len()) {
        return u64::from_ne_bytes(bytes);
    }
    // A kernel without the call: the standard library finds its hasher's seed another way. The process id keeps a
    // forked child apart.
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_lower_case_hexadecimal_and_differ() {
        let is_hex = |text: &str| text.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
        let (a, b) = (hex12(), hex12());
        assert!(a.len() == 12 && is_hex(&a), "{a}");
        assert_ne!(a, b);
        let (a, b) = (hex8(), hex8());
        assert!(a.len() == 8 && is_hex(&a), "{a}");
        assert_ne!(a, b);
    }
}
