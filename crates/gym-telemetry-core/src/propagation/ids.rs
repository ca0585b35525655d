//! Trace and span ids.

use std::fmt;
use std::str::FromStr;

use super::error::{ParseError, ParseErrorKind};
use super::hex;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $bytes:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; $bytes]);

        impl $name {
            /// Makes an id of its bytes, most significant first; `None` if all are zero.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; $bytes]) -> Option<Self> {
                let mut index = 0;
                while index < $bytes {
                    if bytes[index] != 0 {
                        return Some(Self(bytes));
                    }
                    index += 1;
                }
                None
            }

            /// The bytes, most significant first.
            #[must_use]
            pub const fn to_bytes(self) -> [u8; $bytes] {
                self.0
            }
        }

        impl FromStr for $name {
            type Err = ParseError;

            #[doc = concat!("Reads exactly ", stringify!($bytes), " bytes as lower-case hexadecimal digits.")]
            fn from_str(text: &str) -> Result<Self, ParseError> {
                Self::from_bytes(hex::decode(text.as_bytes())?).ok_or(ParseError::new(ParseErrorKind::ZeroId))
            }
        }

        impl fmt::Display for $name {
            /// Writes lower-case hexadecimal digits.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut text = [0; 2 * $bytes];
                hex::encode(&self.0, &mut text);
                f.pad(str::from_utf8(&text).expect("hexadecimal digits are ASCII"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
    };
}

id! {
    /// The id that all spans of one trace share; never zero.
    ///
    /// ```
    /// use gym_telemetry_core::TraceId;
    ///
    /// let id: TraceId = "0af7651916cd43dd8448eb211c80319c".parse()?;
    /// assert_eq!(id.to_string(), "0af7651916cd43dd8448eb211c80319c");
    /// assert!(TraceId::from_bytes([0; 16]).is_none());
    /// # Ok::<(), gym_telemetry_core::ParseError>(())
    /// ```
    TraceId, 16
}

id! {
    /// The id of one span; never zero.
    ///
    /// ```
    /// use gym_telemetry_core::SpanId;
    ///
    /// let id: SpanId = "b7ad6b7169203331".parse()?;
    /// assert_eq!(id.to_string(), "b7ad6b7169203331");
    /// assert!(SpanId::from_bytes([0; 8]).is_none());
    /// # Ok::<(), gym_telemetry_core::ParseError>(())
    /// ```
    SpanId, 8
}
