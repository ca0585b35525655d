//! The tables, made from the vocabulary crate. Names that nothing uses yet are left out.

use std::fmt::Write as _;

use gym_telemetry_core::config::FIELDS;
use gym_telemetry_core::{SpanGroup, env};

use super::registry;
use super::source::{mentions, text_constant, users, vocabulary};
use crate::failure::{Failure, Result};

const PRESETS: [&str; 3] = ["default", "per_rollout", "all"];

/// Makes the table of that name.
pub(super) fn table(name: &str) -> Result<String> {
    match name {
        "span-groups" => span_groups(),
        "span-names" => span_names(),
        "fields" => Ok(fields()),
        "gym-variables" => gym_variables(),
        "standard-variables" => standard_variables(),
        "memory-metrics" => registry::metrics(&["gym.host.memory.", "gym.server."]),
        "metrics" => registry::metrics(&[""]),
        "sandbox-attributes" => sandbox_attributes(),
        "sandbox-metrics" => registry::metrics(&["gym.sandbox."]),
        "metric-bounds" => Ok(registry::metric_bounds()),
        "spans" => registry::spans(),
        "attributes" => registry::attributes(),
        "events" => registry::events(),
        "resource" => registry::resource(),
        _ => Err(Failure::new(format!("there is no table `{name}`"))),
    }
}

fn span_groups() -> Result<String> {
    let mut text = header(&["group", "spans", "`default`", "`per_rollout`", "`all`"]);
    for item in vocabulary("group/mod.rs")? {
        let Some((_, rest)) = item.line.split_once("SpanGroup::new(\"") else {
            continue;
        };
        let Some((name, _)) = rest.split_once('"') else {
            continue;
        };
        let mut cells = vec![format!("`{name}`"), item.meaning];
        for preset in PRESETS {
            let members = SpanGroup::resolve(preset).groups;
            let is_member = members.iter().any(|group| group.name() == name);
            cells.push(String::from(if is_member { "yes" } else { "" }));
        }
        row(&mut text, &cells);
    }
    Ok(text)
}

fn span_names() -> Result<String> {
    let users = users()?;
    let mut text = header(&["span", "meaning"]);
    for item in vocabulary("span.rs")? {
        if let Some((constant, value)) = text_constant(&item)
            && mentions(&users, constant)
        {
            row(&mut text, &[format!("`{value}`"), item.meaning.clone()]);
        }
    }
    Ok(text)
}

fn fields() -> String {
    let mut text = header(&["key", "variable that wins", "default", "meaning", "since"]);
    for field in FIELDS {
        let variables: Vec<_> = field
            .variable
            .names()
            .map(|name| format!("`{name}`"))
            .collect();
        let default = field
            .default
            .map_or_else(|| "none".to_owned(), |default| format!("`{default}`"));
        row(
            &mut text,
            &[
                format!("`{}`", field.name),
                variables.join(", "),
                default,
                field.meaning.to_owned(),
                field.since.to_owned(),
            ],
        );
    }
    text
}

fn gym_variables() -> Result<String> {
    let users = users()?;
    let mut text = header(&["variable", "stands in when that is unset", "meaning"]);
    for item in vocabulary("env/mod.rs")? {
        let Some((constant, _)) = item.line.split_once(" = \"") else {
            continue;
        };
        let gym = format!("{}{constant}", env::GYM_PREFIX);
        let Some(setting) = env::SETTINGS.iter().find(|setting| setting.gym == gym) else {
            continue;
        };
        if mentions(&users, constant) {
            let lens = setting
                .lens
                .map_or_else(String::new, |lens| format!("`{lens}`"));
            row(&mut text, &[format!("`{gym}`"), lens, item.meaning]);
        }
    }
    Ok(text)
}

fn standard_variables() -> Result<String> {
    let users = users()?;
    let mut text = header(&["variable", "meaning"]);
    for item in vocabulary("env/mod.rs")? {
        let name = &item.line;
        let is_name = name
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        if is_name && mentions(&users, name) {
            row(&mut text, &[format!("`{name}`"), item.meaning]);
        }
    }
    Ok(text)
}

fn sandbox_attributes() -> Result<String> {
    let mut text = header(&["attribute", "meaning"]);
    for item in vocabulary("attribute/sandbox.rs")? {
        // Constants that are no keys are words that stand in values.
        if let Some((_, key)) = text_constant(&item)
            && key.starts_with("nemo.")
        {
            row(&mut text, &[format!("`{key}`"), item.meaning.clone()]);
        }
    }
    Ok(text)
}

pub(super) fn header(titles: &[&str]) -> String {
    let titles: Vec<String> = titles.iter().map(|&title| title.to_owned()).collect();
    let mut text = String::new();
    row(&mut text, &titles);
    row(&mut text, &vec![String::from("---"); titles.len()]);
    text
}

pub(super) fn row(text: &mut String, cells: &[String]) {
    text.push('|');
    for cell in cells {
        write!(text, " {} |", cell.replace('|', "\\|")).expect("writing to a string cannot fail");
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_has_a_row_and_the_presets_it_is_in() {
        let text = span_groups().expect("the vocabulary can be read");
        assert!(text.contains("\n| `job` |"), "{text}");
        let sandbox = text
            .lines()
            .find(|line| line.starts_with("| `sandbox` |"))
            .expect("sandbox is a group");
        assert!(sandbox.ends_with("|  |  | yes |"), "{sandbox}");
    }

    #[test]
    fn a_table_that_is_not_there_is_named() {
        let failure = table("nothing").expect_err("there is no such table");
        assert_eq!(failure.to_string(), "there is no table `nothing`");
    }
}
