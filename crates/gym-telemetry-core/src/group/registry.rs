//! All groups and presets of a process, and which groups are on.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::registration::{
    ALL, MAX_GROUPS, Preset, RegisterError, RegisterErrorKind, Registration,
};
use super::report::{self, Condition};
use super::{Resolution, SpanGroup};

#[cfg(test)]
mod tests;

/// How much is remembered as reported; nothing is reported beyond it.
const MAX_REPORTED: usize = 1024;

/// What one library registered.
#[derive(Debug)]
pub(super) struct Library {
    pub(super) namespace: String,
    pub(super) groups: Vec<&'static SpanGroup>,
    pub(super) presets: Vec<(String, Vec<String>)>,
}

impl Library {
    /// Whether one of the library's groups has this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.groups.iter().any(|group| group.name() == name)
    }
}

fn owned(preset: &Preset<'_>) -> (String, Vec<String>) {
    let members = preset.members.iter().map(|member| (*member).to_owned());
    (preset.name.to_owned(), members.collect())
}

/// What decides which groups are on.
#[derive(Debug, Default)]
enum Selection {
    /// Nobody has decided yet: all are off.
    #[default]
    None,
    /// A setting, resolved anew at each registration.
    Spec(String),
    /// These groups and no others, whatever is registered later.
    Pinned(Vec<&'static SpanGroup>),
}

/// All groups and presets of a process. Every method leaves the flags of all its groups as the selection says.
#[derive(Debug, Default)]
pub(super) struct Registry {
    /// In order of registration.
    libraries: Vec<Library>,
    selection: Selection,
    reported: HashSet<String>,
}

impl Registry {
    /// Adds a library's groups and presets, or replaces them.
    pub(super) fn register(
        &mut self,
        registration: &Registration<'_>,
    ) -> Result<(), RegisterError> {
        registration.check()?;
        self.check_count(registration)?;
        let library = Library {
            namespace: registration.namespace.to_owned(),
            groups: registration.groups.to_vec(),
            presets: registration.presets.iter().map(owned).collect(),
        };
        let known = self
            .libraries
            .iter()
            .position(|known| known.namespace == library.namespace);
        let replaced = if let Some(known) = known {
            std::mem::replace(&mut self.libraries[known], library).groups
        } else {
            self.libraries.push(library);
            Vec::new()
        };
        self.switch(&replaced);
        Ok(())
    }

    /// Removes a library's groups and presets, and switches off the groups that nobody else has.
    pub(super) fn unregister(&mut self, namespace: &str) {
        let known = self
            .libraries
            .iter()
            .position(|known| known.namespace == namespace);
        if let Some(known) = known {
            let removed = self.libraries.remove(known).groups;
            self.switch(&removed);
        }
    }

    /// Lets a setting decide; returns what is suspicious about it unless that was reported before.
    pub(super) fn apply_spec(&mut self, spec: &str) -> Option<String> {
        self.select(Selection::Spec(spec.to_owned()));
        let condition = report::of_resolution(&self.resolve(spec))?;
        self.report_once(condition)
    }

    /// Lets nothing but `groups` be on from now on.
    pub(super) fn pin(&mut self, groups: &[&'static SpanGroup]) {
        self.select(Selection::Pinned(groups.to_vec()));
    }

    /// Returns every suspicious condition that was not reported before.
    pub(super) fn unreported(&mut self) -> Vec<String> {
        let mut conditions = report::of_registrations(&self.libraries);
        if let Selection::Spec(spec) = &self.selection {
            conditions.extend(report::of_resolution(&self.resolve(spec)));
        }
        let unreported = conditions
            .into_iter()
            .filter_map(|condition| self.report_once(condition));
        unreported.collect()
    }

    /// Finds a group by name; of two with one name, that of the library that registered first.
    pub(super) fn find(&self, name: &str) -> Option<&'static SpanGroup> {
        self.groups().find(|group| group.name() == name)
    }

    /// Finds what a setting selects.
    pub(super) fn resolve(&self, spec: &str) -> Resolution {
        let mut registered = BTreeMap::new();
        for group in self.groups() {
            registered.entry(group.name()).or_insert(group);
        }
        let mut presets: BTreeMap<&str, BTreeSet<&str>> =
            BTreeMap::from([(ALL, registered.keys().copied().collect())]);
        for (preset, members) in self.libraries.iter().flat_map(|library| &library.presets) {
            presets
                .entry(preset)
                .or_default()
                .extend(members.iter().map(String::as_str));
        }

        let mut selected = BTreeSet::new();
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        let mut seen = HashSet::new();
        for entry in spec.split(',').map(|entry| entry.trim().to_lowercase()) {
            if entry.is_empty() || !seen.insert(entry.clone()) {
                continue;
            }
            let (members, group) = (presets.get(entry.as_str()), registered.get(entry.as_str()));
            if members.is_none() && group.is_none() {
                unknown.push(entry);
                continue;
            }
            let members = members
                .into_iter()
                .flatten()
                .filter_map(|name| registered.get(name));
            selected.extend(members.chain(group).map(|group| group.name()));
            known.push(entry);
        }

        Resolution {
            groups: selected.into_iter().map(|name| registered[name]).collect(),
            unknown,
            registered: registered.into_keys().collect(),
            presets: presets.into_keys().map(str::to_owned).collect(),
            known,
        }
    }

    fn select(&mut self, selection: Selection) {
        match std::mem::replace(&mut self.selection, selection) {
            Selection::Pinned(before) => self.switch(&before),
            Selection::None | Selection::Spec(_) => self.switch(&[]),
        }
    }

    fn groups(&self) -> impl Iterator<Item = &'static SpanGroup> {
        self.libraries
            .iter()
            .flat_map(|library| library.groups.iter().copied())
    }

    fn check_count(&self, registration: &Registration<'_>) -> Result<(), RegisterError> {
        let others = self
            .libraries
            .iter()
            .filter(|library| library.namespace != registration.namespace);
        let mut names: BTreeSet<_> = others
            .flat_map(|library| &library.groups)
            .map(|group| group.name())
            .collect();
        for group in registration.groups {
            names.insert(group.name());
            if names.len() > MAX_GROUPS {
                return Err(RegisterError::new(
                    RegisterErrorKind::TooManyGroups,
                    "group",
                    group.name(),
                ));
            }
        }
        Ok(())
    }

    /// Sets the flags of all groups, and of `former` ones that may no longer be registered or pinned.
    fn switch(&self, former: &[&'static SpanGroup]) {
        let resolution;
        let (selected, pinned): (&[&SpanGroup], &[&SpanGroup]) = match &self.selection {
            Selection::None => (&[], &[]),
            Selection::Spec(spec) => {
                resolution = self.resolve(spec);
                (&resolution.groups, &[])
            }
            Selection::Pinned(groups) => (groups, groups),
        };
        for group in former {
            let registered = self.groups().any(|known| std::ptr::eq(known, *group));
            if !registered && !pinned.iter().any(|known| std::ptr::eq(*known, *group)) {
                group.set_enabled(false);
            }
        }
        for group in self.groups() {
            group.set_enabled(selected.contains(&group));
        }
        for group in pinned {
            group.set_enabled(true);
        }
    }

    fn report_once(&mut self, condition: Condition) -> Option<String> {
        let Condition { parts, text } = condition;
        if self.reported.len() >= MAX_REPORTED
            || parts.iter().all(|part| self.reported.contains(part))
        {
            return None;
        }
        self.reported.extend(parts);
        Some(text)
    }
}
