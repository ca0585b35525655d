//! The registry of this process.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use super::registration::{OWN, RegisterError, Registration};
use super::registry::Registry;
use super::{Resolution, SpanGroup};

/// Receives one text for people.
type ReportHook = fn(&str);

struct Global {
    registry: Registry,
    hook: Option<ReportHook>,
}

static GLOBAL: LazyLock<Mutex<Global>> = LazyLock::new(|| {
    let mut registry = Registry::default();
    registry
        .register(&OWN)
        .expect("the gym's own names are valid");
    Mutex::new(Global {
        registry,
        hook: None,
    })
});

/// Adds a library's span groups and presets to this process.
///
/// A second call under one namespace replaces what the first added. If telemetry is already set up, the setting is
/// resolved again, so that it selects the new groups too. A group that another library has too and a preset member that
/// nobody has are reported once telemetry is set up, and work.
///
/// # Errors
///
/// If a namespace, group, preset or preset member has no name or one that no setting could select (`all`, upper-case
/// letters, commas, white space), or if the process would have more than [`MAX_GROUPS`](super::MAX_GROUPS) groups.
/// Nothing is registered then.
pub fn register(registration: &Registration<'_>) -> Result<(), RegisterError> {
    let mut global = lock();
    global.registry.register(registration)?;
    report(global);
    Ok(())
}

/// Removes a library's span groups and presets, and switches its groups off.
///
/// A group that another library has registered too stays as the setting says. An unknown namespace changes nothing.
pub fn unregister(namespace: &str) {
    let mut global = lock();
    global.registry.unregister(namespace);
    report(global);
}

/// Lets a `span_groups` setting decide which groups are on, now and after each later registration.
///
/// Returns what is suspicious about the setting as one line for people, unless it was reported before.
#[doc(hidden)]
#[must_use = "the text is for people to see"]
pub fn apply_spec(spec: &str) -> Option<String> {
    lock().registry.apply_spec(spec)
}

/// Lets exactly these groups be on, whatever is registered later; with none, all are off for good.
#[doc(hidden)]
pub fn pin(groups: &[&'static SpanGroup]) {
    lock().registry.pin(groups);
}

/// Sets who receives texts about registrations, and hands over those that came up before.
///
/// The hook is called without any lock held, so it may resolve and register.
#[doc(hidden)]
pub fn set_report_hook(hook: fn(&str)) {
    let mut global = lock();
    global.hook = Some(hook);
    report(global);
}

pub(super) fn find(name: &str) -> Option<&'static SpanGroup> {
    lock().registry.find(name)
}

pub(super) fn resolve(spec: &str) -> Resolution {
    lock().registry.resolve(spec)
}

/// Hands what is new to the hook, after the lock is released.
fn report(mut global: MutexGuard<'_, Global>) {
    let Some(hook) = global.hook else { return };
    let texts = global.registry.unreported();
    drop(global);
    for text in &texts {
        hook(text);
    }
}

fn lock() -> MutexGuard<'static, Global> {
    // No code of others runs under the lock, and each step leaves the registry whole.
    GLOBAL.lock().unwrap_or_else(PoisonError::into_inner)
}
