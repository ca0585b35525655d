//! Reads documented names out of Rust source, where the only description of a constant is its comment.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::root;
use crate::failure::{Failure, Result};

/// A line of code and the documentation above it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Documented {
    /// The line, trimmed.
    pub(crate) line: String,
    /// The documentation as one paragraph, links reduced to their text.
    pub(crate) meaning: String,
}

/// Reads every documented line of a file of the vocabulary crate.
pub(crate) fn vocabulary(file: &str) -> Result<Vec<Documented>> {
    let path = root().join("crates/gym-telemetry-core/src").join(file);
    read(&path).map(|text| documented(&text))
}

/// Name and value of `pub const NAME: &str = "value";`.
pub(crate) fn text_constant(item: &Documented) -> Option<(&str, &str)> {
    let (name, value) = item
        .line
        .strip_prefix("pub const ")?
        .split_once(": &str = \"")?;
    Some((name, value.strip_suffix("\";")?))
}

/// The source text of all crates but the vocabulary: what a name has to occur in to be in use.
pub(crate) fn users() -> Result<String> {
    let mut text = String::new();
    let crates = root().join("crates");
    for directory in entries(&crates)? {
        if !directory.ends_with("gym-telemetry-core") {
            collect(&directory.join("src"), &mut text)?;
        }
    }
    Ok(text)
}

/// Whether `name` occurs in `text` as a whole word.
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name).any(|(start, _)| {
        !text[..start].ends_with(is_word) && !text[start + name.len()..].starts_with(is_word)
    })
}

fn collect(directory: &Path, text: &mut String) -> Result<()> {
    for path in entries(directory)? {
        if path.is_dir() {
            collect(&path, text)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&read(&path)?);
        }
    }
    Ok(())
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>> {
    let failed = |error| Failure::io("could not list", directory, &error);
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        paths.push(entry.map_err(failed)?.path());
    }
    Ok(paths)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| Failure::io("could not read", path, &error))
}

fn documented(source: &str) -> Vec<Documented> {
    let mut items = Vec::new();
    let mut comment: Vec<&str> = Vec::new();
    for line in source.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            comment.push(text.trim());
        } else if !line.starts_with("#[") {
            if !comment.is_empty() {
                items.push(Documented {
                    line: line.to_owned(),
                    meaning: without_links(&first_paragraph(&comment)),
                });
            }
            comment.clear();
        }
    }
    items
}

fn first_paragraph(comment: &[&str]) -> String {
    let lines: Vec<&str> = comment
        .iter()
        .copied()
        .take_while(|line| !line.is_empty())
        .collect();
    lines.join(" ")
}

/// Turns links such as `[Name]` and `[Name](path)` into `Name`.
fn without_links(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("[`") {
        let Some((name, after)) = link.split_once("`]") else {
            break;
        };
        result.push_str(before);
        result.push('`');
        result.push_str(name);
        result.push('`');
        rest = match after
            .strip_prefix('(')
            .and_then(|target| target.split_once(')'))
        {
            Some((_, after)) => after,
            None => after,
        };
    }
    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_belongs_to_the_code_below_it() {
        let source = "/// One\n/// line.\n///\n/// More.\n#[must_use]\npub const A: u8 = 1;\n\npub const B: u8 = 2;\n";
        let items = documented(source);
        assert_eq!(items.len(), 1);
        assert_eq!(items[0].line, "pub const A: u8 = 1;");
        assert_eq!(items[0].meaning, "One line.");
    }

    #[test]
    fn links_are_reduced_to_their_text() {
        let text = "where [`A`] is unset, see [`B`](crate::B).";
        assert_eq!(without_links(text), "where `A` is unset, see `B`.");
    }

    #[test]
    fn only_whole_words_are_mentions() {
        assert!(mentions("env::OTEL_SERVICE_NAME)", "OTEL_SERVICE_NAME"));
        assert!(!mentions("OTEL_SERVICE_NAMES", "OTEL_SERVICE_NAME"));
        assert!(!mentions("MY_OTEL_SERVICE_NAME", "OTEL_SERVICE_NAME"));
    }
}
