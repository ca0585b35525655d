//! Finds generated parts in a page and puts new text into them.

use crate::failure::{Failure, Result};

const BEGIN_END: &str = " -->";
const END: &str = "<!-- end -->";

/// Replaces the text of each part that is marked with `word` by what `content` makes of its name.
///
/// # Errors
///
/// If a part is not closed, or `content` fails.
pub(crate) fn replace(
    page: &str,
    word: &str,
    content: impl Fn(&str) -> Result<String>,
) -> Result<String> {
    let begin = format!("<!-- {word}: ");
    let mut result = String::with_capacity(page.len());
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        result.push_str(line);
        result.push('\n');
        let name = line
            .strip_prefix(&begin)
            .and_then(|rest| rest.strip_suffix(BEGIN_END));
        let Some(name) = name else {
            continue;
        };
        if !lines.by_ref().any(|line| line == END) {
            return Err(Failure::new(format!("`{name}` is not closed by `{END}`")));
        }
        result.push_str(content(name)?.trim_end());
        result.push('\n');
        result.push_str(END);
        result.push('\n');
    }
    Ok(result)
}

/// A Rust file as a block of code, without what at its head speaks to readers of the repository and to linters.
pub(super) fn code(file: &str) -> String {
    let body: Vec<&str> = file
        .lines()
        .skip_while(|line| line.starts_with("//!") || line.starts_with("#![") || line.is_empty())
        .collect();
    format!("```rust\n{}\n```", body.join("\n").trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Title\n<!-- generated: numbers -->\nold\nold\n<!-- end -->\ntext\n";

    #[test]
    fn only_the_generated_part_changes() {
        let page = replace(PAGE, "generated", |name| Ok(format!("new {name}")))
            .expect("the page is well formed");
        assert_eq!(
            page,
            "# Title\n<!-- generated: numbers -->\nnew numbers\n<!-- end -->\ntext\n"
        );
    }

    #[test]
    fn a_part_with_another_mark_stays() {
        let page =
            replace(PAGE, "measured", |_| Ok(String::new())).expect("the page is well formed");
        assert_eq!(page, PAGE);
    }

    #[test]
    fn a_second_run_changes_nothing() {
        let content = |_: &str| Ok(String::from("one\ntwo\n\n"));
        let once = replace(PAGE, "generated", content).expect("the page is well formed");
        let twice = replace(&once, "generated", content).expect("the page is well formed");
        assert_eq!(once, twice);
    }

    #[test]
    fn an_open_part_is_an_error_that_names_it() {
        let failure = replace("<!-- generated: numbers -->\nold\n", "generated", |_| {
            Ok(String::new())
        })
        .expect_err("the part is not closed");
        assert!(failure.to_string().contains("`numbers`"), "{failure}");
    }

    #[test]
    fn code_loses_the_comment_at_its_head() {
        let block =
            code("//! An example.\n//! More.\n#![expect(lint)]\n\nuse std::fmt;\n\nfn main() {}\n");
        assert_eq!(block, "```rust\nuse std::fmt;\n\nfn main() {}\n```");
    }
}
