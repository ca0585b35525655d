//! Python's printed form of a dictionary of texts.

/// Reads `{'key': 'value', …}`; `None` when the text is anything else.
pub(super) fn string_map(text: &str) -> Option<Vec<(String, String)>> {
    let mut rest = text.strip_prefix('{')?;
    let mut entries = Vec::new();
    if rest == "}" {
        return Some(entries);
    }
    loop {
        let (key, after) = string(rest)?;
        let (value, after) = string(after.strip_prefix(": ")?)?;
        entries.push((key, value));
        if after == "}" {
            return Some(entries);
        }
        rest = after.strip_prefix(", ")?;
    }
}

/// Reads one quoted text and returns it with what follows.
fn string(text: &str) -> Option<(String, &str)> {
    let mut chars = text.chars();
    let quote = chars.next().filter(|quote| matches!(quote, '\'' | '"'))?;
    let mut value = String::new();
    loop {
        match chars.next()? {
            '\\' => value.push(match chars.next()? {
                escaped @ ('\\' | '\'' | '"') => escaped,
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'x' => code_point(&mut chars, 2)?,
                'u' => code_point(&mut chars, 4)?,
                'U' => code_point(&mut chars, 8)?,
                _ => return None,
            }),
            end if end == quote => return Some((value, chars.as_str())),
            other => value.push(other),
        }
    }
}

fn code_point(chars: &mut std::str::Chars<'_>, digits: u32) -> Option<char> {
    let mut code = 0_u32;
    for _ in 0..digits {
        code = code
            .checked_mul(16)?
            .checked_add(chars.next()?.to_digit(16)?)?;
    }
    char::from_u32(code)
}

#[cfg(test)]
mod tests {
    use super::string_map;

    #[test]
    fn quotes_and_escapes_are_pythons() {
        let text = r#"{'a': '1', "it's": '2', 'both\'"': '3', 'b\\': '\n\t\x41\u00e9\U0001f642', 'ü': ''}"#;
        let expected = [
            ("a", "1"),
            ("it's", "2"),
            ("both'\"", "3"),
            ("b\\", "\n\tAé🙂"),
            ("ü", ""),
        ];
        let found = string_map(text).expect("a map");
        assert_eq!(
            found
                .iter()
                .map(|(k, v)| (k.as_str(), v.as_str()))
                .collect::<Vec<_>>(),
            expected
        );
        assert_eq!(string_map("{}"), Some(Vec::new()));
    }

    #[test]
    fn anything_else_is_no_map() {
        for text in [
            "",
            "{",
            "}",
            "{'a'}",
            "{'a': 1}",
            "{'a': 'b'",
            "{'a': 'b",
            "{'a':'b'}",
            "{'a': 'b',}",
            "{'a': 'b'} ",
            "{'a': '\\q'}",
            "{'a': '\\ud800'}",
            "{'a': '\\x4'}",
            "[]",
            "{'a': None}",
            "{, 'a': 'b'}",
        ] {
            assert_eq!(string_map(text), None, "{text}");
        }
    }
}
