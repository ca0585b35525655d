//! What a caller asks for when it creates a sandbox.

use std::fmt;

use crate::amounts::SandboxResourceAmounts;
use crate::error::QuantityError;
use crate::units::{Cores, Gibibytes, Mebibytes};

/// Resources that a sandbox is to be created with.
///
/// The same five resources as [`SandboxResourceAmounts`], but memory, disk and devices are whole numbers.
/// What is `None` is left to the provider.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct SandboxResources {
    /// CPU, in cores.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub cpu: Option<Cores>,
    /// Memory, in MiB.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub memory_mib: Option<u64>,
    /// Disk, in GiB.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub disk_gib: Option<u64>,
    /// GPU devices.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub gpu: Option<u64>,
    /// Which kind of GPU, as a selector text.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub gpu_type: Option<String>,
}

/// A value of a mapping that [`SandboxResources::from_mapping`] reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RequestValue<'a> {
    /// A number without a fraction.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// A text.
    Text(&'a str),
}

impl SandboxResources {
    /// Reads a mapping of resource names to values, as it stands in a configuration file.
    ///
    /// # Errors
    ///
    /// When a name is not one of [`SandboxResourceAmounts::NAMES`], or when a value has the wrong type or is
    /// negative. The error lists what is accepted.
    pub fn from_mapping<'a>(
        entries: impl IntoIterator<Item = (&'a str, RequestValue<'a>)>,
    ) -> Result<Self, RequestError> {
        let mut resources = Self::default();
        for (name, value) in entries {
            match name {
                "cpu" => resources.cpu = Some(cores(value)?),
                "memory_mib" => resources.memory_mib = Some(whole("memory_mib", value)?),
                "disk_gib" => resources.disk_gib = Some(whole("disk_gib", value)?),
                "gpu" => resources.gpu = Some(whole("gpu", value)?),
                "gpu_type" => match value {
                    RequestValue::Text(text) => resources.gpu_type = Some(text.to_owned()),
                    other => return Err(RequestError::value("gpu_type", other, "a text")),
                },
                unknown => {
                    return Err(RequestError::UnknownName {
                        name: unknown.to_owned(),
                    });
                }
            }
        }
        Ok(resources)
    }

    /// Returns the request in the vocabulary of observations.
    ///
    #[must_use]
    pub fn amounts(&self) -> SandboxResourceAmounts {
        #[expect(
            clippy::cast_precision_loss,
            reason = "beyond 2^53 units the nearest float is meant"
        )]
        let float = |whole: u64| whole as f64;
        SandboxResourceAmounts {
            cpu: self.cpu,
            memory_mib: self
                .memory_mib
                .and_then(|amount| Mebibytes::new(float(amount)).ok()),
            disk_gib: self
                .disk_gib
                .and_then(|amount| Gibibytes::new(float(amount)).ok()),
            gpu: self.gpu,
            gpu_type: self.gpu_type.clone(),
        }
    }
}

/// A mapping that is no resource request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RequestError {
    /// A name is not that of a resource.
    UnknownName {
        /// The name.
        name: String,
    },
    /// A value is not of the kind that its resource takes.
    Value {
        /// The resource.
        name: &'static str,
        /// The value, as text.
        value: String,
        /// What is accepted.
        expected: &'static str,
    },
}

impl RequestError {
    fn value(name: &'static str, value: RequestValue<'_>, expected: &'static str) -> Self {
        let value = match value {
            RequestValue::Integer(number) => number.to_string(),
            RequestValue::Float(number) => number.to_string(),
            RequestValue::Text(text) => format!("{text:?}"),
        };
        Self::Value {
            name,
            value,
            expected,
        }
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownName { name } => write!(
                f,
                "unknown resource {name:?}: known resources are {}",
                SandboxResourceAmounts::NAMES.join(", ")
            ),
            Self::Value {
                name,
                value,
                expected,
            } => {
                write!(f, "the resource {name} is {value}: it takes {expected}")
            }
        }
    }
}

impl std::error::Error for RequestError {}

fn cores(value: RequestValue<'_>) -> Result<Cores, RequestError> {
    let error =
        |_: QuantityError| RequestError::value("cpu", value, "a number of cores, not negative");
    match value {
        #[expect(
            clippy::cast_precision_loss,
            reason = "a number of cores is far below 2^53"
        )]
        RequestValue::Integer(number) => Cores::new(number as f64).map_err(error),
        RequestValue::Float(number) => Cores::new(number).map_err(error),
        RequestValue::Text(_) => Err(RequestError::value(
            "cpu",
            value,
            "a number of cores, not negative",
        )),
    }
}

fn whole(name: &'static str, value: RequestValue<'_>) -> Result<u64, RequestError> {
    let error = || RequestError::value(name, value, "a whole number, not negative");
    match value {
        RequestValue::Integer(number) => u64::try_from(number).map_err(|_| error()),
        _ => Err(error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let error = SandboxResources::from_mapping([("memory", RequestValue::Integer(1))])
            .expect_err("the name is memory_mib");
        assert_eq!(
            error.to_string(),
            "unknown resource \"memory\": known resources are cpu, memory_mib, disk_gib, gpu, gpu_type"
        );
    }

    #[test]
    fn memory_disk_and_devices_take_whole_numbers_only() {
        for name in ["memory_mib", "disk_gib", "gpu"] {
            for value in [
                RequestValue::Float(1.5),
                RequestValue::Integer(-1),
                RequestValue::Text("1"),
            ] {
                let error =
                    SandboxResources::from_mapping([(name, value)]).expect_err("no whole number");
                assert!(error.to_string().contains(name), "{error}");
            }
        }
        assert!(SandboxResources::from_mapping([("cpu", RequestValue::Float(-0.5))]).is_err());
        assert!(SandboxResources::from_mapping([("gpu_type", RequestValue::Integer(1))]).is_err());
    }

    #[test]
    fn a_request_reads_as_amounts() {
        let request = SandboxResources::from_mapping([
            ("cpu", RequestValue::Integer(2)),
            ("memory_mib", RequestValue::Integer(4096)),
            ("gpu", RequestValue::Integer(0)),
            ("gpu_type", RequestValue::Text("H100")),
        ])
        .expect("a valid request");
        let amounts = request.amounts();
        assert_eq!(amounts.cpu.map(Cores::get), Some(2.0));
        assert_eq!(amounts.memory_mib.map(Mebibytes::get), Some(4096.0));
        assert_eq!((amounts.disk_gib, amounts.gpu), (None, Some(0)));
        assert_eq!(amounts.gpu_type.as_deref(), Some("H100"));
    }
}
