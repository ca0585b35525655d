//! How much one span may hold.

/// Limits of one span, with the defaults of the OpenTelemetry specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpanLimits {
    /// Attributes of a span with different keys.
    pub attributes: usize,
    /// Attributes of one event.
    pub event_attributes: usize,
    /// Attributes of one link.
    pub link_attributes: usize,
    /// Events.
    pub events: usize,
    /// Links.
    pub links: usize,
    /// Characters of a text value, each text of a list on its own. `None` is no limit.
    pub value_length: Option<usize>,
}

impl Default for SpanLimits {
    fn default() -> Self {
        Self {
            attributes: 128,
            event_attributes: 128,
            link_attributes: 128,
            events: 128,
            links: 128,
            value_length: None,
        }
    }
}

/// Cuts `text` after `limit` characters, never inside one.
pub(crate) fn cut(text: &str, limit: Option<usize>) -> &str {
    match limit {
        // A text of no more bytes than the limit has no more characters either.
        Some(limit) if text.len() > limit => match text.char_indices().nth(limit) {
            Some((end, _)) => &text[..end],
            None => text,
        },
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        let text = "ab🙂🙂";
        assert_eq!(cut(text, None), text);
        assert_eq!(cut(text, Some(5)), text);
        assert_eq!(cut(text, Some(4)), text);
        assert_eq!(cut(text, Some(3)), "ab🙂");
        assert_eq!(cut(text, Some(0)), "");
        assert_eq!(cut("", Some(0)), "");
    }

    #[test]
    fn a_cut_text_is_the_longest_prefix_within_the_limit() {
        let text = "aß€🙂\u{301}\u{0}z\u{10ffff}";
        for limit in 0..=text.chars().count() + 2 {
            let expected: String = text.chars().take(limit).collect();
            assert_eq!(cut(text, Some(limit)), expected);
        }
    }
}
