//! Amounts that carry their unit in their type.

use crate::canonical;
use crate::docker;
use crate::error::{QuantityError, QuantityErrorKind};
use crate::quantity;

/// Defines a non-negative, finite amount in one unit.
macro_rules! unit {
    ($(#[$doc:meta])* $name:ident, $unit:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(try_from = "f64", into = "f64"))]
        pub struct $name(f64);

        impl $name {
            #[doc = concat!("Creates an amount of `amount` ", $unit, ".")]
            ///
            /// # Errors
            ///
            /// [`Negative`](QuantityErrorKind::Negative) below zero,
            /// [`OutOfRange`](QuantityErrorKind::OutOfRange) when infinite or not a number.
            pub fn new(amount: f64) -> Result<Self, QuantityError> {
                if !amount.is_finite() {
                    return Err(QuantityError::new(QuantityErrorKind::OutOfRange, &amount.to_string()));
                }
                if amount < 0.0 {
                    return Err(QuantityError::new(QuantityErrorKind::Negative, &amount.to_string()));
                }
                // Negative zero is zero.
                Ok(Self(amount + 0.0))
            }

            #[doc = concat!("Creates an amount of a whole number of ", $unit, ".")]
            ///
            /// Beyond 2^53 the nearest float is meant.
            #[must_use]
            #[expect(clippy::cast_precision_loss, reason = "documented")]
            pub fn from_whole(amount: u64) -> Self {
                Self(amount as f64)
            }

            #[doc = concat!("Returns the amount in ", $unit, ".")]
            #[must_use]
            pub fn get(self) -> f64 {
                self.0
            }
        }

        impl TryFrom<f64> for $name {
            type Error = QuantityError;

            fn try_from(amount: f64) -> Result<Self, QuantityError> {
                Self::new(amount)
            }
        }

        impl From<$name> for f64 {
            fn from(amount: $name) -> f64 {
                amount.0
            }
        }
    };
}

unit! {
    /// An amount of CPU, in cores.
    Cores, "cores"
}

unit! {
    /// An amount of memory, in MiB (2^20 bytes).
    Mebibytes, "MiB"
}

unit! {
    /// An amount of disk, in GiB (2^30 bytes).
    Gibibytes, "GiB"
}

impl Cores {
    /// Reads a Kubernetes quantity: `100m` is 0.1 cores, a plain number is cores.
    ///
    /// The result is the `f64` nearest to the exact amount. Time is linear in the text.
    ///
    /// # Errors
    ///
    /// When the text is no Kubernetes quantity, is negative, is longer than
    /// [`MAX_QUANTITY_LEN`](crate::MAX_QUANTITY_LEN), or is not zero and does not fit an `f64`.
    pub fn from_quantity(text: &str) -> Result<Self, QuantityError> {
        quantity::amount(text, 0).map(Self)
    }

    /// Writes the amount as Kubernetes would: `0.1` is `100m`. Below a billionth of a core it rounds up.
    #[must_use]
    pub fn to_quantity(self) -> String {
        canonical::decimal(self.0)
    }
}

impl Mebibytes {
    /// Reads a Kubernetes quantity of bytes: `1536Ki` is 1.5 MiB, a plain number is bytes.
    ///
    /// # Errors
    ///
    /// As [`Cores::from_quantity`].
    pub fn from_quantity(text: &str) -> Result<Self, QuantityError> {
        quantity::amount(text, 20).map(Self)
    }

    /// Reads a size as the Docker command line does: `512m` is 512 MiB, a plain number is bytes.
    ///
    /// # Errors
    ///
    /// When the text is no such size, is negative, or does not fit an `f64`.
    pub fn from_docker_size(text: &str) -> Result<Self, QuantityError> {
        docker::size(text, 20).map(Self)
    }

    /// Creates an amount from a number of bytes.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "beyond 2^53 bytes (8 PiB) the nearest float is meant"
    )]
    pub fn from_bytes(bytes: u64) -> Self {
        Self(bytes as f64 / f64::from(1 << 20))
    }

    /// Writes the amount as Kubernetes would: `8192` MiB is `8Gi`.
    #[must_use]
    pub fn to_quantity(self) -> String {
        canonical::binary(self.0, 20)
    }
}

impl Gibibytes {
    /// Reads a Kubernetes quantity of bytes: `512Mi` is 0.5 GiB, a plain number is bytes.
    ///
    /// # Errors
    ///
    /// As [`Cores::from_quantity`].
    pub fn from_quantity(text: &str) -> Result<Self, QuantityError> {
        quantity::amount(text, 30).map(Self)
    }

    /// Reads a size as the Docker command line does: `20g` is 20 GiB, a plain number is bytes.
    ///
    /// # Errors
    ///
    /// As [`Mebibytes::from_docker_size`].
    pub fn from_docker_size(text: &str) -> Result<Self, QuantityError> {
        docker::size(text, 30).map(Self)
    }

    /// Writes the amount as Kubernetes would: `0.5` GiB is `512Mi`.
    #[must_use]
    pub fn to_quantity(self) -> String {
        canonical::binary(self.0, 30)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_refuses_what_is_no_amount() {
        for amount in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(Cores::new(amount).is_err(), "{amount}");
        }
        assert!(Cores::new(-0.0).is_ok_and(|zero| zero.get().is_sign_positive()));
    }

    #[test]
    fn bytes_become_mebibytes() {
        assert_eq!(
            Mebibytes::from_bytes(1_572_864).get().to_bits(),
            1.5_f64.to_bits()
        );
    }
}
