//! Words of callers that become attributes of metrics.

use gym_telemetry_core::outcome::is_word;

use crate::recorder::Lasting;

/// How many words a place may have: each makes a series in each process.
pub(super) const MAX_WORDS: usize = 64;

/// The words that were used in one place of an attribute, kept for the life of the process.
///
/// The list only grows, and no thread waits for another one to add a word: in a forked child that one may not be.
pub(super) struct Words<const MAX: usize = MAX_WORDS>([Lasting<Box<str>>; MAX]);

impl<const MAX: usize> Words<MAX> {
    pub(super) const fn new() -> Self {
        Self([const { Lasting::none() }; MAX])
    }

    /// The word, unless it is none or one too many.
    pub(super) fn admit(&'static self, word: &str) -> Option<&'static str> {
        if !is_word(word) {
            return None;
        }
        self.0.iter().find_map(|known| {
            let known = known
                .get()
                .unwrap_or_else(|| known.set_first(Box::new(word.into())));
            (**known == *word).then_some(&**known)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_words_are_kept_and_further_ones_refused() {
        static WORDS: Words = Words::new();
        let words: Vec<_> = (0..MAX_WORDS).map(|n| format!("word_{n}")).collect();
        for word in &words {
            assert_eq!(WORDS.admit(word), Some(&**word));
        }
        assert_eq!(WORDS.admit("one_too_many"), None);
        for word in &words {
            assert_eq!(WORDS.admit(word), Some(&**word));
        }
    }

    #[test]
    fn what_is_no_word_takes_no_place() {
        static WORDS: Words = Words::new();
        for n in 0..MAX_WORDS {
            assert_eq!(WORDS.admit(&format!("not word {n}")), None);
        }
        assert_eq!(WORDS.admit("word"), Some("word"));
    }
}
