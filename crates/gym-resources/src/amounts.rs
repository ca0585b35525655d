//! The amounts that an observation can hold.

use crate::units::{Cores, Gibibytes, Mebibytes};

/// Amounts of sandbox resources, each of them optional.
///
/// `None` means that nothing is known of a resource; a known zero is `Some`. Memory and disk may be fractions.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct SandboxResourceAmounts {
    /// CPU, in cores.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub cpu: Option<Cores>,
    /// Memory, in MiB.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub memory_mib: Option<Mebibytes>,
    /// Disk, in GiB.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub disk_gib: Option<Gibibytes>,
    /// GPU devices.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub gpu: Option<u64>,
    /// Which kind of GPU, as a selector text.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub gpu_type: Option<String>,
}

impl SandboxResourceAmounts {
    /// Names of the resources, in the order in which they are reported.
    pub const NAMES: [&'static str; 5] = ["cpu", "memory_mib", "disk_gib", "gpu", "gpu_type"];

    /// Returns whether nothing is known of any resource.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stated_zero_is_not_absent() {
        assert!(SandboxResourceAmounts::default().is_empty());
        assert!(
            !SandboxResourceAmounts {
                gpu: Some(0),
                ..SandboxResourceAmounts::default()
            }
            .is_empty()
        );
    }
}
