//! `${oc.env:NAME}` and `${oc.env:NAME,default}` inside the strings of a configuration file.

use crate::environment::{EnvSource, EnvValue};

/// Deepest nesting of defaults inside defaults that is followed.
const MAX_DEPTH: usize = 8;

/// A string of the file with its variables filled in.
#[cfg_attr(test, derive(Debug, PartialEq, Eq))]
pub(super) struct Interpolated {
    /// The text, or `None` when the whole string came out as `null`.
    pub(super) text: Option<String>,
    /// Whether a variable was involved at all.
    pub(super) from_environment: bool,
}

/// Characters of a variable's name that a message repeats at most.
const LONGEST_NAME: usize = 100;

/// Why a string cannot be filled in. Never holds a value, only the name of a variable.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The variable is not set (or blank) and the string gives no default.
    Missing(String),
    /// The variable holds bytes that are not Unicode.
    NotUnicode(String),
    /// A `${…}` of another kind.
    Unsupported,
    /// A `${` without its `}`.
    Unclosed,
}

impl Fault {
    /// The fault as the end of a sentence about the field.
    pub(super) fn explain(&self) -> String {
        let short = |name: &str| -> String { name.chars().take(LONGEST_NAME).collect() };
        match self {
            Self::Missing(name) => format!(
                "needs the environment variable {}, which is not set and has no default",
                short(name)
            ),
            Self::NotUnicode(name) => format!(
                "needs the environment variable {}, which is not valid Unicode",
                short(name)
            ),
            Self::Unsupported => {
                "holds a ${…} of an unknown kind, accepted are ${oc.env:NAME} and ${oc.env:NAME,default}"
                    .to_owned()
            }
            Self::Unclosed => "holds a ${ without its closing brace".to_owned(),
        }
    }
}

/// Fills in the variables of `text`. `\${` stands for a literal `${`.
pub(super) fn interpolate(text: &str, env: &dyn EnvSource) -> Result<Interpolated, Fault> {
    expand(text, env, 0)
}

fn expand(text: &str, env: &dyn EnvSource, depth: usize) -> Result<Interpolated, Fault> {
    if depth > MAX_DEPTH {
        return Err(Fault::Unsupported);
    }
    let mut out = String::with_capacity(text.len());
    let mut from_environment = false;
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let before = &rest[..start];
        let inside = &rest[start + 2..];
        if let Some(before) = before.strip_suffix('\\') {
            out.push_str(before);
            out.push_str("${");
            rest = inside;
            continue;
        }
        let end = closing_brace(inside).ok_or(Fault::Unclosed)?;
        let value = variable(&inside[..end], env, depth)?;
        from_environment = true;
        let after = &inside[end + 1..];
        match value {
            // `null` means "no value" only where it is the whole string.
            None if out.is_empty() && before.is_empty() && after.is_empty() => {
                return Ok(Interpolated {
                    text: None,
                    from_environment,
                });
            }
            None => {
                out.push_str(before);
                out.push_str("null");
            }
            Some(value) => {
                out.push_str(before);
                out.push_str(&value);
            }
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(Interpolated {
        text: Some(out),
        from_environment,
    })
}

/// The byte offset of the `}` that closes an expression, nested ones skipped.
fn closing_brace(text: &str) -> Option<usize> {
    let mut open = 1_usize;
    let mut previous = '\0';
    for (at, c) in text.char_indices() {
        match c {
            '{' if previous == '$' => open += 1,
            '}' => {
                open -= 1;
                if open == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
        previous = c;
    }
    None
}

/// The value of `oc.env:NAME` or `oc.env:NAME,default`.
fn variable(expression: &str, env: &dyn EnvSource, depth: usize) -> Result<Option<String>, Fault> {
    let arguments = expression
        .trim()
        .strip_prefix("oc.env:")
        .ok_or(Fault::Unsupported)?;
    let (name, default) = match arguments.split_once(',') {
        Some((name, default)) => (name.trim(), Some(default.trim())),
        None => (arguments.trim(), None),
    };
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(Fault::Unsupported);
    }
    match env.value(name) {
        EnvValue::Text(value) => return Ok(Some(value)),
        EnvValue::NotUnicode => return Err(Fault::NotUnicode(name.to_owned())),
        EnvValue::Unset => {}
    }
    match default {
        None => Err(Fault::Missing(name.to_owned())),
        Some("null") => Ok(None),
        Some(default) => match unquoted(default) {
            Some(literal) => Ok(Some(literal.to_owned())),
            None => expand(default, env, depth + 1).map(|value| value.text),
        },
    }
}

/// The inside of a text in single or double quotes.
fn unquoted(text: &str) -> Option<&str> {
    ['\'', '"']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_env::Vars;

    fn text(input: &str, vars: &[(&str, &str)]) -> Option<String> {
        interpolate(input, &Vars::new(vars))
            .expect("the input is well formed")
            .text
    }

    #[test]
    fn variables_and_defaults_are_filled_in() {
        let vars = [("KEY", "s3cr3t"), ("BLANK", "  "), ("N", "7")];
        for (input, expected) in [
            ("plain", "plain"),
            ("", ""),
            ("$KEY {x}", "$KEY {x}"),
            ("x-key=${oc.env:KEY}", "x-key=s3cr3t"),
            ("${oc.env:KEY}${oc.env:N}", "s3cr3t7"),
            ("${ oc.env:KEY }", "s3cr3t"),
            ("${oc.env: KEY , other}", "s3cr3t"),
            ("${oc.env:NONE,fallback}", "fallback"),
            ("${oc.env:BLANK,fallback}", "fallback"),
            ("${oc.env:NONE,'quoted, text'}", "quoted, text"),
            ("${oc.env:NONE,\"\"}", ""),
            ("${oc.env:NONE,}", ""),
            ("${oc.env:NONE,a=1,b=2}", "a=1,b=2"),
            ("${oc.env:NONE,${oc.env:KEY}}", "s3cr3t"),
            ("${oc.env:NONE,${oc.env:NEITHER,last}}", "last"),
            ("\\${oc.env:KEY}", "${oc.env:KEY}"),
            ("a${oc.env:NONE,null}b", "anullb"),
            ("ä${oc.env:KEY}ö", "äs3cr3tö"),
        ] {
            assert_eq!(text(input, &vars).as_deref(), Some(expected), "{input}");
        }
    }

    #[test]
    fn a_default_of_null_is_no_value() {
        assert_eq!(text("${oc.env:NONE,null}", &[]), None);
        assert_eq!(text("${oc.env:NONE,${oc.env:NEITHER,null}}", &[]), None);
    }

    #[test]
    fn faults_name_the_variable_and_never_a_value() {
        let vars = Vars::new(&[("KEY", "s3cr3t")]).with_bytes("RAW", b"s3cr3t\xff");
        for (input, fault) in [
            (
                "${oc.env:KEY}${oc.env:NONE}",
                Fault::Missing("NONE".to_owned()),
            ),
            ("${oc.env:RAW,x}", Fault::NotUnicode("RAW".to_owned())),
            ("${oc.env:NONE", Fault::Unclosed),
            ("${oc.env:NONE,${oc.env:KEY}", Fault::Unclosed),
            ("${service_name}", Fault::Unsupported),
            ("${oc.env:}", Fault::Unsupported),
            ("${oc.env:A B}", Fault::Unsupported),
            ("${oc.decode:${oc.env:KEY}}", Fault::Unsupported),
        ] {
            let actual = interpolate(input, &vars).expect_err(input);
            assert_eq!(actual, fault, "{input}");
            assert!(!actual.explain().contains("s3cr3t"), "{input}");
        }
    }

    #[test]
    fn endless_nesting_is_refused() {
        let mut input = "x".to_owned();
        for _ in 0..100 {
            input = format!("${{oc.env:NONE,{input}}}");
        }
        assert_eq!(
            interpolate(&input, &Vars::new(&[])),
            Err(Fault::Unsupported)
        );
    }
}
