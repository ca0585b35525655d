//! Texts about conditions that people should know of.
//!
//! Each text is made from one snapshot, and equal conditions give equal texts, so that a repetition can be seen.

use super::Resolution;
use super::registry::Library;

/// The largest number of entries that one text repeats.
const MAX_SHOWN: usize = 16;
/// The largest number of characters of one entry that a text repeats.
const MAX_ENTRY: usize = 64;

/// What is suspicious about a setting.
pub(super) fn of_resolution(resolution: &Resolution) -> Option<String> {
    let Resolution {
        groups,
        unknown,
        registered,
        presets,
        known,
    } = resolution;
    if !unknown.is_empty() {
        let ignored = list(unknown.iter().map(String::as_str));
        if registered.is_empty() {
            return Some(format!(
                "span_groups: ignored {ignored}: no span group is registered in this process"
            ));
        }
        let registered = registered.join(", ");
        let presets = presets.join(", ");
        return Some(format!(
            "span_groups: ignored {ignored}: registered groups are {registered}; presets are {presets}"
        ));
    }
    if groups.is_empty() && !known.is_empty() {
        let known = list(known.iter().map(String::as_str));
        return Some(if registered.is_empty() {
            format!(
                "span_groups: {known} selects nothing: no span group is registered in this process"
            )
        } else {
            let registered = registered.join(", ");
            format!(
                "span_groups: {known} selects no registered group; registered groups are {registered}"
            )
        });
    }
    None
}

/// What is suspicious about the registrations of a process, one text per condition.
pub(super) fn of_registrations(libraries: &[Library]) -> Vec<String> {
    let mut texts = Vec::new();
    for (index, library) in libraries.iter().enumerate() {
        for group in &library.groups {
            if let Some(owner) = libraries[..index]
                .iter()
                .find(|owner| owner.has(group.name()))
            {
                texts.push(format!(
                    "span group {:?} of {:?} is also registered by {:?}: both are switched together",
                    group.name(),
                    library.namespace,
                    owner.namespace,
                ));
            }
        }
        for (preset, members) in &library.presets {
            let unowned = members
                .iter()
                .map(String::as_str)
                .filter(|name| !libraries.iter().any(|l| l.has(name)));
            let unowned: Vec<_> = unowned.collect();
            if !unowned.is_empty() {
                texts.push(format!(
                    "span group preset {preset:?} of {:?} names {}, which nobody has registered so far",
                    library.namespace,
                    list(unowned.into_iter()),
                ));
            }
        }
    }
    texts
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
