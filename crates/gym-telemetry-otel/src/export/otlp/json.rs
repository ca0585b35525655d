//! JSON with the numbers that JSON does not have.
//!
//! The mapping of protobuf to JSON writes them as the texts `NaN`, `Infinity` and `-Infinity`. `serde_json` writes
//! `null`, which a collector takes for a malformed request or a value that is not there.

use serde::ser::{self, Serialize, Serializer};

/// The bytes of a message.
pub(super) fn to_vec(message: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Complete(message))
}

/// A value of which every part is serialized by [`Numbers`].
struct Complete<'a, T: ?Sized>(&'a T);

impl<T: Serialize + ?Sized> Serialize for Complete<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(Numbers(serializer))
    }
}

/// A serializer, or a part of one, that writes odd numbers as text.
struct Numbers<S>(S);

fn name(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some("NaN")
    } else if value == f64::INFINITY {
        Some("Infinity")
    } else if value == f64::NEG_INFINITY {
        Some("-Infinity")
    } else {
        None
    }
}

/// Passes simple values on.
macro_rules! pass {
    ($($method:ident($kind:ty);)*) => {
        $(fn $method(self, value: $kind) -> Result<S::Ok, S::Error> {
            self.0.$method(value)
        })*
    };
}

impl<S: Serializer> Serializer for Numbers<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Numbers<S::SerializeSeq>;
    type SerializeTuple = Numbers<S::SerializeTuple>;
    type SerializeTupleStruct = Numbers<S::SerializeTupleStruct>;
    type SerializeTupleVariant = Numbers<S::SerializeTupleVariant>;
    type SerializeMap = Numbers<S::SerializeMap>;
    type SerializeStruct = Numbers<S::SerializeStruct>;
    type SerializeStructVariant = Numbers<S::SerializeStructVariant>;

    pass! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_i128(i128);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_u128(u128);
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
        serialize_unit_struct(&'static str);
    }

    fn serialize_f32(self, value: f32) -> Result<S::Ok, S::Error> {
        match name(value.into()) {
            Some(name) => self.0.serialize_str(name),
            None => self.0.serialize_f32(value),
        }
    }

    fn serialize_f64(self, value: f64) -> Result<S::Ok, S::Error> {
        match name(value) {
            Some(name) => self.0.serialize_str(name),
            None => self.0.serialize_f64(value),
        }
    }

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_none()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_some(&Complete(value))
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        kind: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit_variant(kind, index, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        kind: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_struct(kind, &Complete(value))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        kind: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0
            .serialize_newtype_variant(kind, index, variant, &Complete(value))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        self.0.serialize_seq(length).map(Numbers)
    }

    fn serialize_tuple(self, length: usize) -> Result<Self::SerializeTuple, S::Error> {
        self.0.serialize_tuple(length).map(Numbers)
    }

    fn serialize_tuple_struct(
        self,
        kind: &'static str,
        length: usize,
    ) -> Result<Self::SerializeTupleStruct, S::Error> {
        self.0.serialize_tuple_struct(kind, length).map(Numbers)
    }

    fn serialize_tuple_variant(
        self,
        kind: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        self.0
            .serialize_tuple_variant(kind, index, variant, length)
            .map(Numbers)
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        self.0.serialize_map(length).map(Numbers)
    }

    fn serialize_struct(
        self,
        kind: &'static str,
        length: usize,
    ) -> Result<Self::SerializeStruct, S::Error> {
        self.0.serialize_struct(kind, length).map(Numbers)
    }

    fn serialize_struct_variant(
        self,
        kind: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        self.0
            .serialize_struct_variant(kind, index, variant, length)
            .map(Numbers)
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

/// Passes the parts of lists on.
macro_rules! parts {
    ($($kind:ident: $method:ident;)*) => {
        $(impl<S: ser::$kind> ser::$kind for Numbers<S> {
            type Ok = S::Ok;
            type Error = S::Error;

            fn $method<T: Serialize + ?Sized>(&mut self, part: &T) -> Result<(), S::Error> {
                self.0.$method(&Complete(part))
            }

            fn end(self) -> Result<S::Ok, S::Error> {
                self.0.end()
            }
        })*
    };
}

parts! {
    SerializeSeq: serialize_element;
    SerializeTuple: serialize_element;
    SerializeTupleStruct: serialize_field;
    SerializeTupleVariant: serialize_field;
}

/// Passes named parts on.
macro_rules! fields {
    ($($kind:ident;)*) => {
        $(impl<S: ser::$kind> ser::$kind for Numbers<S> {
            type Ok = S::Ok;
            type Error = S::Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), S::Error> {
                self.0.serialize_field(key, &Complete(value))
            }

            fn skip_field(&mut self, key: &'static str) -> Result<(), S::Error> {
                self.0.skip_field(key)
            }

            fn end(self) -> Result<S::Ok, S::Error> {
                self.0.end()
            }
        })*
    };
}

fields! {
    SerializeStruct;
    SerializeStructVariant;
}

impl<S: ser::SerializeMap> ser::SerializeMap for Numbers<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), S::Error> {
        self.0.serialize_key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
        self.0.serialize_value(&Complete(value))
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        self.0.end()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Serialize;

    use super::to_vec;

    #[derive(Serialize)]
    enum Kind {
        Unit,
        New(f64),
        Tuple(f64, u8),
        Struct { part: f64 },
    }

    #[derive(Serialize)]
    struct Message {
        number: f64,
        small: f32,
        list: Vec<f64>,
        map: BTreeMap<String, f64>,
        some: Option<f64>,
        none: Option<f64>,
        kinds: [Kind; 4],
        text: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        left_out: Option<u8>,
    }

    #[test]
    fn odd_numbers_are_text_wherever_they_stand_and_the_rest_is_as_ever() {
        let message = |odd: f64, small: f32| Message {
            number: odd,
            small,
            list: vec![1.5, odd],
            map: BTreeMap::from([("k".to_owned(), odd)]),
            some: Some(odd),
            none: None,
            kinds: [
                Kind::Unit,
                Kind::New(odd),
                Kind::Tuple(odd, 7),
                Kind::Struct { part: odd },
            ],
            text: "NaN \"\n",
            left_out: None,
        };
        let ours = |message: &Message| {
            String::from_utf8(to_vec(message).expect("it is JSON")).expect("it is text")
        };
        let plain = serde_json::to_string(&message(0.25, 0.25)).expect("it is JSON");
        assert_eq!(ours(&message(0.25, 0.25)), plain);
        for (odd, small, name) in [
            (f64::NAN, f32::NAN, "\"NaN\""),
            (f64::INFINITY, f32::INFINITY, "\"Infinity\""),
            (f64::NEG_INFINITY, f32::NEG_INFINITY, "\"-Infinity\""),
        ] {
            assert_eq!(ours(&message(odd, small)), plain.replace("0.25", name));
        }
    }
}
