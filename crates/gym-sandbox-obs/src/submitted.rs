//! What was handed to a provider.

use gym_resources::SandboxResourceAmounts;

/// The resources that were handed to the provider, after whatever was clamped or added on the way.
///
/// What was not sent is `None`: the provider's own defaults are not known here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Submitted {
    /// What scheduling was asked to set aside.
    pub requests: SandboxResourceAmounts,
    /// What was asked to be enforced.
    pub limits: SandboxResourceAmounts,
}
