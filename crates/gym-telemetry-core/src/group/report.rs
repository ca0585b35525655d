//! Texts about conditions that people should know of.
//!
//! Each text is made from one snapshot, and equal conditions give equal texts, so that a repetition can be seen.

use super::Resolution;
use super::registry::Library;

/// The largest number of entries that one text repeats.
const MAX_SHOWN: usize = 16;
/// The largest number of characters of one entry that a text repeats.
const MAX_ENTRY: usize = 64;

/// Something that people should know of.
#[derive(Debug)]
pub(super) struct Condition {
    /// What the condition consists of; a condition without new parts is not reported again.
    pub(super) parts: Vec<String>,
    /// One line for people.
    pub(super) text: String,
}

/// What is suspicious about a setting.
pub(super) fn of_resolution(resolution: &Resolution) -> Option<Condition> {
    let Resolution {
        groups,
        unknown,
        registered,
        presets,
        known,
    } = resolution;
    let (entries, is_unknown) = match (unknown.as_slice(), groups.is_empty()) {
        ([], false) => return None,
        ([], true) if known.is_empty() => return None,
        ([], true) => (known, false),
        (_, _) => (unknown, true),
    };
    let shown = list(entries.iter().map(String::as_str));
    let what = if is_unknown {
        format!("ignored {shown}")
    } else {
        format!("{shown} selects no group")
    };
    let text = if registered.is_empty() {
        format!("span_groups: {what}: no span group is registered in this process")
    } else {
        let (registered, presets) = (registered.join(", "), presets.join(", "));
        format!("span_groups: {what}: registered groups are {registered}; presets are {presets}")
    };
    let part =
        |entry: &String| format!("span_groups {is_unknown} {} {entry}", registered.is_empty());
    Some(Condition {
        parts: entries.iter().take(MAX_SHOWN).map(part).collect(),
        text,
    })
}

/// What is suspicious about the registrations of a process.
pub(super) fn of_registrations(libraries: &[Library]) -> Vec<Condition> {
    let mut texts = Vec::new();
    for (index, library) in libraries.iter().enumerate() {
        let namespace = &library.namespace;
        for group in &library.groups {
            let group = group.name();
            if let Some(owner) = libraries[..index].iter().find(|owner| owner.has(group)) {
                let owner = &owner.namespace;
                texts.push(format!(
                    "span group {group:?} of {namespace:?} is also registered by {owner:?}: both are switched together"
                ));
            }
        }
        for (preset, members) in &library.presets {
            for member in members
                .iter()
                .filter(|member| !libraries.iter().any(|known| known.has(member)))
            {
                texts.push(format!(
                    "span group preset {preset:?} of {namespace:?} names {member:?}, which nobody has registered so far"
                ));
            }
        }
    }
    texts
        .into_iter()
        .map(|text| Condition {
            parts: vec![text.clone()],
            text,
        })
        .collect()
}

/// Quotes the first entries, cut if long: a setting can hold anything.
fn list<'a>(entries: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = entries.len().saturating_sub(MAX_SHOWN);
    let mut shown: Vec<_> = entries
        .take(MAX_SHOWN)
        .map(|entry| match entry.char_indices().nth(MAX_ENTRY) {
            Some((end, _)) => format!("{:?}…", &entry[..end]),
            None => format!("{entry:?}"),
        })
        .collect();
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    shown.join(", ")
}
