//! Sandbox resource amounts in one vocabulary, and the texts they arrive in.
//!
//! A sandbox's resources are told four times: what was *requested*, what was *submitted* to the provider,
//! what the provider *allocated*, and what is *used*. All four speak of the same five things:
//!
//! | name | unit | type |
//! |---|---|---|
//! | `cpu` | cores | [`Cores`] |
//! | `memory_mib` | MiB, 2^20 bytes | [`Mebibytes`] |
//! | `disk_gib` | GiB, 2^30 bytes | [`Gibibytes`] |
//! | `gpu` | devices | `u64` |
//! | `gpu_type` | a selector text such as `H100` | `String` |
//!
//! [`SandboxResourceAmounts`] holds observations: every field optional, fractions allowed. An amount that is
//! stated as zero is not the same as one that is not stated. [`SandboxResources`] is what a caller asks for:
//! memory, disk and devices are whole numbers, and unknown names are refused.
//!
//! Texts become amounts through functions that name the language they read, because one text can mean
//! different amounts: `512m` is half a byte to Kubernetes and 512 MiB to the Docker command line.
//!
//! ```
//! use gym_resources::{Cores, Mebibytes};
//!
//! assert_eq!(Cores::from_quantity("100m")?.get(), 0.1);
//! assert_eq!(Mebibytes::from_quantity("1536Ki")?.get(), 1.5);
//! assert_eq!(Mebibytes::from_docker_size("512m")?.get(), 512.0);
//! assert_eq!(Mebibytes::from_quantity("8Gi")?.to_quantity(), "8Gi");
//! # Ok::<(), gym_resources::QuantityError>(())
//! ```
//!
//! # Features
//!
//! - `serde`: `Serialize` and `Deserialize` for the amounts, the requests and the units.
#![forbid(unsafe_code)]

mod amounts;
mod canonical;
mod cgroup;
mod decimal;
mod docker;
mod error;
mod quantity;
mod request;
mod units;

pub use amounts::SandboxResourceAmounts;
pub use cgroup::{cpu_limit_v1, cpu_limit_v2, memory_limit};
pub use error::{QuantityError, QuantityErrorKind};
pub use quantity::{MAX_QUANTITY_LEN, gpu_count_from_quantity};
pub use request::{RequestError, RequestValue, SandboxResources};
pub use units::{Cores, Gibibytes, Mebibytes};
