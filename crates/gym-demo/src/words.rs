//! Splits a command line into words the way a shell does, without a shell.

/// Splits at white space; `'…'` and `"…"` keep it, a backslash takes the next character as it is (not inside `'…'`).
///
/// # Errors
///
/// An open quote, a backslash at the end or no word at all, as text.
pub(crate) fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                let next = characters.next().ok_or("a backslash ends the command")?;
                word.get_or_insert_default().push(next);
            }
            (None, blank) if blank.is_whitespace() => words.extend(word.take()),
            (_, other) => word.get_or_insert_default().push(other),
        }
    }
    if let Some(open) = quote {
        return Err(format!("a {open} is never closed"));
    }
    words.extend(word);
    if words.is_empty() {
        Err("the command is empty".to_owned())
    } else {
        Ok(words)
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn words_end_at_white_space_outside_of_quotes() {
        let words = split(r#"  python3 'my server.py' --note "a \"b\" c" x\ y "" "#)
            .expect("a good command");
        assert_eq!(
            words,
            ["python3", "my server.py", "--note", "a \"b\" c", "x y", ""]
        );
    }

    #[test]
    fn a_command_that_cannot_be_split_says_why() {
        assert_eq!(
            split("sh -c 'exit").expect_err("open quote"),
            "a ' is never closed"
        );
        assert_eq!(
            split("sh \\").expect_err("open escape"),
            "a backslash ends the command"
        );
        assert_eq!(split("  ").expect_err("no word"), "the command is empty");
    }
}
