//! Compares two listings of assembly and finds the first function that differs.

use std::collections::HashMap;
use std::fmt::Write as _;

/// How two listings compare.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// The same bytes.
    Equal,
    /// The same bytes but for the compiler's numbers in symbol names. A closure in the checked arguments takes a number
    /// that the next closure of the function would have had; no instruction depends on it.
    EqualButForSymbolNumbers,
    /// Different code; the text shows the first function that differs, both bodies.
    Different(String),
}

/// Compares an instrumented listing with the plain one.
pub(crate) fn compare(instrumented: &str, plain: &str) -> Comparison {
    if instrumented == plain {
        return Comparison::Equal;
    }
    let instrumented = renumber(instrumented);
    let plain = renumber(plain);
    if instrumented == plain {
        return Comparison::EqualButForSymbolNumbers;
    }
    Comparison::Different(first_difference(&instrumented, &plain))
}

/// How many functions a listing has.
pub(crate) fn count_functions(listing: &str) -> usize {
    functions(listing).len()
}

/// Replaces the hash at the end of each mangled symbol by the order of its first appearance.
fn renumber(listing: &str) -> String {
    const MARK: &str = "17h";
    const DIGITS: usize = 16;
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut result = String::with_capacity(listing.len());
    let mut rest = listing;
    while let Some(start) = rest.find(MARK) {
        let (before, from_mark) = rest.split_at(start);
        result.push_str(before);
        let hash = from_mark
            .get(MARK.len()..MARK.len() + DIGITS)
            .filter(|hash| hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .filter(|_| from_mark[MARK.len() + DIGITS..].starts_with('E'));
        if let Some(hash) = hash {
            let next = numbers.len();
            let number = *numbers.entry(hash).or_insert(next);
            write!(result, "17h{number}").expect("writing to a string cannot fail");
            rest = &from_mark[MARK.len() + DIGITS..];
        } else {
            result.push_str(MARK);
            rest = &from_mark[MARK.len()..];
        }
    }
    result.push_str(rest);
    result
}

/// A function of a listing.
#[derive(Debug, PartialEq, Eq)]
struct Function<'a> {
    name: &'a str,
    body: Vec<&'a str>,
}

/// Cuts a listing into functions: from a label of a symbol that was declared one to its end mark.
fn functions(listing: &str) -> Vec<Function<'_>> {
    let mut functions = Vec::new();
    let mut open: Option<Function<'_>> = None;
    for line in listing.lines() {
        if line.starts_with(".Lfunc_end") {
            functions.extend(open.take());
        } else if let Some(function) = &mut open {
            function.body.push(line);
        } else if let Some(name) = line.strip_suffix(':')
            && !name.starts_with(['.', '\t', ' '])
        {
            let body = Vec::new();
            open = Some(Function { name, body });
        }
    }
    functions
}

fn first_difference(instrumented: &str, plain: &str) -> String {
    let left = functions(instrumented);
    let right = functions(plain);
    let name_of = |function: Option<&Function<'_>>| {
        function.map_or_else(
            || String::from("(none)"),
            |function| readable(function.name),
        )
    };
    for index in 0..left.len().max(right.len()) {
        let (one, other) = (left.get(index), right.get(index));
        if one == other {
            continue;
        }
        return format!(
            "first difference, instrumented `{}`:\n{}\nplain `{}`:\n{}",
            name_of(one),
            body_of(one),
            name_of(other),
            body_of(other)
        );
    }
    let line = instrumented
        .lines()
        .zip(plain.lines())
        .position(|(one, other)| one != other);
    match line {
        Some(line) => format!(
            "all functions are equal, the data differs in line {}:\n  instrumented {}\n  plain        {}",
            line + 1,
            instrumented.lines().nth(line).unwrap_or_default(),
            plain.lines().nth(line).unwrap_or_default()
        ),
        None => String::from("all functions are equal, one listing has more data"),
    }
}

fn body_of(function: Option<&Function<'_>>) -> String {
    function.map_or_else(
        || String::from("    (no such function)"),
        |function| function.body.join("\n"),
    )
}

/// `_ZN5probe4work17h0E` as `probe::work`.
fn readable(symbol: &str) -> String {
    let Some(mut rest) = symbol.strip_prefix("_ZN") else {
        return symbol.to_owned();
    };
    let mut parts = Vec::new();
    loop {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let Ok(length) = rest[..digits].parse::<usize>() else {
            break;
        };
        let Some(part) = rest.get(digits..digits + length) else {
            break;
        };
        parts.push(part);
        rest = &rest[digits + length..];
    }
    parts
        .join("::")
        .replace("_$u7b$$u7b$", "{")
        .replace("$u7d$$u7d$", "}")
        .replace("$LT$", "<")
        .replace("$GT$", ">")
        .replace("$u20$", " ")
        .replace("..", "::")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(hash: &str, instruction: &str) -> String {
        format!(
            "\t.text\n_ZN5probe4work17h{hash}E:\n\t{instruction}\n\tretq\n.Lfunc_end0:\n\t.section .rodata\n"
        )
    }

    #[test]
    fn same_bytes_are_equal() {
        let one = listing("0123456789abcdef", "nop");
        assert_eq!(compare(&one, &one), Comparison::Equal);
        assert_eq!(count_functions(&one), 1);
    }

    #[test]
    fn numbers_in_symbols_are_told_apart_from_code() {
        let one = listing("0123456789abcdef", "nop");
        let other = listing("fedcba9876543210", "nop");
        assert_eq!(compare(&one, &other), Comparison::EqualButForSymbolNumbers);
    }

    #[test]
    fn two_symbols_that_become_one_are_a_difference() {
        let one = format!(
            "{}{}",
            listing("0123456789abcdef", "nop"),
            "call 17h0123456789abcdefE\n"
        );
        let other = format!(
            "{}{}",
            listing("0123456789abcdef", "nop"),
            "call 17hfedcba9876543210E\n"
        );
        assert!(matches!(compare(&one, &other), Comparison::Different(_)));
    }

    #[test]
    fn a_different_function_is_shown_with_both_bodies() {
        let one = listing("0123456789abcdef", "pushq %rax");
        let other = listing("0123456789abcdef", "nop");
        let Comparison::Different(text) = compare(&one, &other) else {
            panic!("the code differs");
        };
        assert!(text.contains("`probe::work`"), "{text}");
        assert!(text.contains("pushq %rax"), "{text}");
        assert!(text.contains("nop"), "{text}");
    }

    #[test]
    fn different_data_alone_is_a_difference() {
        let one = format!("{}\t.asciz \"a\"\n", listing("0123456789abcdef", "nop"));
        let other = format!("{}\t.asciz \"b\"\n", listing("0123456789abcdef", "nop"));
        let Comparison::Different(text) = compare(&one, &other) else {
            panic!("the data differs");
        };
        assert!(text.contains("line 7"), "{text}");
    }
}
