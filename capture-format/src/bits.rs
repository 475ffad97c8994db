//! Bit fields of descriptors: where each one is, and how its value reads.
//!
//! [`SamplerDescriptor`](crate::SamplerDescriptor) and [`ImageDescriptor`](crate::ImageDescriptor) are each described by one
//! table of [`Field`]s. The typed accessors come from the same table, so a name, a position and a getter can not disagree.

use std::fmt;

/// A run of bits in one word of a descriptor.
///
/// ```
/// use capture_format::SamplerDescriptor;
/// let field = SamplerDescriptor::MIP_FILTER;
/// assert_eq!(field.bits_text(), "word2[27:26]");
/// let mut words = [0; 4];
/// field.insert(&mut words, 2).unwrap();
/// assert_eq!(words, [0, 0, 0x0800_0000, 0]);
/// assert_eq!(field.describe(field.extract(&words)), "2 LINEAR");
/// assert!(field.insert(&mut words, 4).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// AMD's name; `RESERVED_<word>_<lowest bit>` for bits without one.
    pub name: &'static str,
    /// Index of the word that holds the field.
    pub word: u8,
    /// Its lowest bit in that word.
    pub low: u8,
    /// Number of bits, 1 to 32; `low + width <= 32`.
    pub width: u8,
    /// What the field says, in a line.
    pub meaning: &'static str,
    /// How a value reads.
    pub shown: Shown,
}

/// How a field's value reads as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shown {
    /// A number.
    Plain,
    /// A bit pattern: a part of an address.
    Hex,
    /// A size, stored less one.
    PlusOne,
    /// A code. The pairs are in code order; a code without a name may be missing.
    Names(&'static [(u32, &'static str)]),
    /// An unsigned fixed-point number.
    Unsigned {
        /// Number of fraction bits.
        fraction_bits: u8,
    },
    /// A fixed-point number in two's complement of the field's width.
    Signed {
        /// Number of fraction bits.
        fraction_bits: u8,
    },
    /// Bits that mean nothing on GFX10.3. They are kept.
    Reserved,
}

/// A value does not fit into its field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} ({bits}) holds {min} to {max}, not {value}")]
pub struct FieldRangeError {
    /// Name of the field, or of the value that is spread over several fields.
    pub field: &'static str,
    /// Where the bits are.
    pub bits: String,
    /// Smallest value that fits.
    pub min: i64,
    /// Largest value that fits.
    pub max: i64,
    /// The value that was given.
    pub value: i64,
}

impl Field {
    /// A field in bits `high` to `low` of a word. The checks run at compile time: tables are constants.
    pub(crate) const fn new(
        name: &'static str,
        word: u8,
        [high, low]: [u8; 2],
        meaning: &'static str,
        shown: Shown,
    ) -> Self {
        assert!(low <= high && high < 32, "the bits of a field are given as high:low, in one word");
        Self { name, word, low, width: high - low + 1, meaning, shown }
    }

    /// The highest bit.
    #[must_use]
    pub const fn high(&self) -> u8 {
        self.low + self.width - 1
    }

    /// The largest value that fits: `width` ones.
    #[must_use]
    pub const fn max_value(&self) -> u32 {
        u32::MAX >> (32 - self.width as u32)
    }

    /// The field's bits in its word.
    #[must_use]
    pub const fn mask(&self) -> u32 {
        self.max_value() << self.low
    }

    /// Whether the bits are reserved on GFX10.3.
    #[must_use]
    pub const fn is_reserved(&self) -> bool {
        matches!(self.shown, Shown::Reserved)
    }

    /// Where the bits are: `word2[25:24]`, for a single bit `word2[31]`.
    #[must_use]
    pub fn bits_text(&self) -> String {
        if self.width == 1 {
            format!("word{}[{}]", self.word, self.low)
        } else {
            format!("word{}[{}:{}]", self.word, self.high(), self.low)
        }
    }

    /// The field's value in a descriptor, not sign-extended.
    ///
    /// # Panics
    /// When `words` is shorter than the descriptor that the field belongs to.
    #[must_use]
    pub const fn extract(&self, words: &[u32]) -> u32 {
        (words[self.word as usize] >> self.low) & self.max_value()
    }

    /// Puts a value into a descriptor and leaves all other bits as they are.
    ///
    /// # Errors
    /// When `value` needs more than [`Field::width`] bits; `words` is left as it was.
    ///
    /// # Panics
    /// When `words` is shorter than the descriptor that the field belongs to.
    pub fn insert(&self, words: &mut [u32], value: u32) -> Result<(), FieldRangeError> {
        if value > self.max_value() {
            return Err(self.range_error(0, self.max_value().into(), value.into()));
        }
        let word = &mut words[usize::from(self.word)];
        *word = (*word & !self.mask()) | (value << self.low);
        Ok(())
    }

    /// The value as a two's complement number of the field's width.
    #[must_use]
    pub const fn sign_extend(&self, value: u32) -> i32 {
        let unused = 32 - self.width as u32;
        (value << unused).cast_signed() >> unused
    }

    /// Puts a number in two's complement of the field's width into a descriptor.
    ///
    /// # Errors
    /// When `value` does not fit; `words` is left as it was.
    ///
    /// # Panics
    /// When `words` is shorter than the descriptor that the field belongs to.
    pub fn insert_signed(&self, words: &mut [u32], value: i32) -> Result<(), FieldRangeError> {
        if self.sign_extend(value.cast_unsigned()) != value {
            let half = i64::from(self.max_value() >> 1);
            return Err(self.range_error(-half - 1, half, value.into()));
        }
        self.insert(words, value.cast_unsigned() & self.max_value())
    }

    /// A value as text: the number as stored, and what it stands for where that differs.
    ///
    /// ```
    /// use capture_format::{ImageDescriptor, SamplerDescriptor};
    /// assert_eq!(SamplerDescriptor::CLAMP_X.describe(2), "2 CLAMP_LAST_TEXEL");
    /// assert_eq!(SamplerDescriptor::MAX_LOD.describe(0xfff), "0xfff = 15.99609375");
    /// assert_eq!(SamplerDescriptor::LOD_BIAS.describe(0x3fc0), "0x3fc0 = -0.25");
    /// assert_eq!(ImageDescriptor::HEIGHT.describe(63), "63 + 1 = 64");
    /// assert_eq!(ImageDescriptor::FORMAT.describe(500), "500");
    /// ```
    #[must_use]
    pub fn describe(&self, value: u32) -> String {
        match self.shown {
            Shown::Plain => value.to_string(),
            Shown::Hex | Shown::Reserved => format!("{value:#x}"),
            Shown::PlusOne => format!("{value} + 1 = {}", u64::from(value) + 1),
            Shown::Names(names) => match names.iter().find(|(code, _)| *code == value) {
                Some((_, name)) => format!("{value} {name}"),
                None => value.to_string(),
            },
            Shown::Unsigned { fraction_bits } => {
                format!("{value:#x} = {}", f64::from(value) / f64::from(1u32 << fraction_bits))
            }
            Shown::Signed { fraction_bits } => {
                format!("{value:#x} = {}", f64::from(self.sign_extend(value)) / f64::from(1u32 << fraction_bits))
            }
        }
    }

    fn range_error(&self, min: i64, max: i64, value: i64) -> FieldRangeError {
        FieldRangeError { field: self.name, bits: self.bits_text(), min, max, value }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.bits_text())
    }
}

/// Defines a descriptor, its table of fields and its accessors from one list.
///
/// A row is `NAME: word [high:low] kind => getter, setter, "meaning";`. Kinds: `(codes Enum)`, `(flag)`, `(int type, shown)`,
/// `(signed type, fraction bits)`, `(reserved)`; a reserved row has neither getter nor setter.
macro_rules! descriptor {
    (
        $(#[$doc:meta])*
        $type:ident: $count:literal words;
        $($name:ident: $word:literal [$high:literal : $low:literal] $kind:tt $(=> $getter:ident, $setter:ident)?, $meaning:literal;)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $type([u32; $count]);

        #[doc = concat!("The fields of a ", stringify!($type), ".")]
        impl $type {
            $(
                #[doc = $meaning]
                pub const $name: $crate::bits::Field = $crate::bits::Field::new(
                    stringify!($name), $word, [$high, $low], $meaning, $crate::bits::shown!($kind),
                );
            )*

            /// Every field in the order of its bits, reserved ones too: each bit of the descriptor belongs to one field.
            pub const FIELDS: &'static [$crate::bits::Field] = &[$(Self::$name,)*];

            /// The field of that name.
            #[must_use]
            pub fn field(name: &str) -> Option<&'static $crate::bits::Field> {
                Self::FIELDS.iter().find(|field| field.name == name)
            }

            /// A descriptor of these words, which are kept as they are.
            #[must_use]
            pub const fn from_words(words: [u32; $count]) -> Self {
                Self(words)
            }

            /// The words.
            #[must_use]
            pub const fn words(self) -> [u32; $count] {
                self.0
            }
        }

        /// A getter and a setter for each field. Setters change the field's bits only.
        impl $type {
            $($($crate::bits::accessors!($name $getter $setter $meaning, $kind);)?)*
        }

        impl From<[u32; $count]> for $type {
            fn from(words: [u32; $count]) -> Self {
                Self(words)
            }
        }

        impl From<$type> for [u32; $count] {
            fn from(descriptor: $type) -> Self {
                descriptor.0
            }
        }

        // Each bit belongs to exactly one field, in ascending order.
        const _: () = {
            let mut next = 0;
            let mut index = 0;
            while index < $type::FIELDS.len() {
                let field = $type::FIELDS[index];
                assert!(field.word as usize * 32 + field.low as usize == next, "a gap, an overlap, or out of order");
                next += field.width as usize;
                index += 1;
            }
            assert!(next == $count * 32, "the table ends before the descriptor does, or after it");
        };
    };
}

macro_rules! shown {
    ((codes $type:ident)) => {
        $crate::bits::Shown::Names($crate::codes::$type::NAMES)
    };
    ((flag)) => {
        $crate::bits::Shown::Plain
    };
    ((int $type:ident, $shown:expr)) => {
        $shown
    };
    ((signed $type:ident, $fraction_bits:literal)) => {
        $crate::bits::Shown::Signed { fraction_bits: $fraction_bits }
    };
    ((reserved)) => {
        $crate::bits::Shown::Reserved
    };
}

macro_rules! accessors {
    ($name:ident $getter:ident $setter:ident $meaning:literal, (codes $type:ident)) => {
        #[doc = $meaning]
        #[must_use]
        pub const fn $getter(self) -> $crate::codes::$type {
            const { assert!(Self::$name.width as u32 == $crate::codes::$type::WIDTH) };
            $crate::codes::$type::from_bits(Self::$name.extract(&self.0))
        }

        #[doc = concat!("Sets ", stringify!($name), ".")]
        #[must_use]
        pub const fn $setter(mut self, value: $crate::codes::$type) -> Self {
            let word = &mut self.0[Self::$name.word as usize];
            *word = (*word & !Self::$name.mask()) | (value.bits() << Self::$name.low);
            self
        }
    };
    ($name:ident $getter:ident $setter:ident $meaning:literal, (flag)) => {
        #[doc = $meaning]
        #[must_use]
        pub const fn $getter(self) -> bool {
            const { assert!(Self::$name.width == 1) };
            Self::$name.extract(&self.0) != 0
        }

        #[doc = concat!("Sets ", stringify!($name), ".")]
        #[must_use]
        pub const fn $setter(mut self, value: bool) -> Self {
            let word = &mut self.0[Self::$name.word as usize];
            *word = (*word & !Self::$name.mask()) | ((value as u32) << Self::$name.low);
            self
        }
    };
    ($name:ident $getter:ident $setter:ident $meaning:literal, (int $type:ident, $shown:expr)) => {
        #[doc = $meaning]
        #[doc = ""]
        #[doc = "The number as stored."]
        #[must_use]
        pub const fn $getter(self) -> $type {
            const { assert!(Self::$name.width as u32 <= $type::BITS) };
            Self::$name.extract(&self.0) as $type
        }

        #[doc = concat!("Sets ", stringify!($name), " to the number as stored.")]
        #[doc = ""]
        #[doc = "# Errors"]
        #[doc = "When the value does not fit into the field."]
        pub fn $setter(mut self, value: $type) -> Result<Self, $crate::bits::FieldRangeError> {
            Self::$name.insert(&mut self.0, value.into())?;
            Ok(self)
        }
    };
    ($name:ident $getter:ident $setter:ident $meaning:literal, (signed $type:ident, $fraction_bits:literal)) => {
        #[doc = $meaning]
        #[doc = ""]
        #[doc = concat!("The stored number, sign-extended; it has ", stringify!($fraction_bits), " fraction bits.")]
        #[must_use]
        pub const fn $getter(self) -> $type {
            const { assert!(Self::$name.width as u32 <= $type::BITS) };
            Self::$name.sign_extend(Self::$name.extract(&self.0)) as $type
        }

        #[doc = concat!("Sets ", stringify!($name), "; the value has ", stringify!($fraction_bits), " fraction bits.")]
        #[doc = ""]
        #[doc = "# Errors"]
        #[doc = "When the value does not fit into the field."]
        pub fn $setter(mut self, value: $type) -> Result<Self, $crate::bits::FieldRangeError> {
            Self::$name.insert_signed(&mut self.0, value.into())?;
            Ok(self)
        }
    };
}

pub(crate) use {accessors, descriptor, shown};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{ImageDescriptor, SamplerDescriptor};

    /// Each field can be written without touching another bit, holds every value that fits, and refuses the next one.
    fn check_fields<const N: usize>(fields: &[Field], words: [u32; N], value: u32) -> Result<(), TestCaseError> {
        for field in fields {
            let value = value & field.max_value();
            let mut changed = words;
            field.insert(&mut changed, value).unwrap();
            prop_assert_eq!(field.extract(&changed), value, "{}", field);
            for other in fields.iter().filter(|other| *other != field) {
                prop_assert_eq!(other.extract(&changed), other.extract(&words), "{} changed {}", field, other);
            }
            field.insert(&mut changed, field.extract(&words)).unwrap();
            prop_assert_eq!(changed, words, "{} does not go back", field);

            if let Some(too_wide) = field.max_value().checked_add(1) {
                let error = field.insert(&mut changed, too_wide).unwrap_err();
                prop_assert_eq!((error.field, error.bits), (field.name, field.bits_text()));
                prop_assert_eq!(changed, words, "{} took a value that is too wide", field);
            }
        }
        // All fields together hold all bits.
        let mut rebuilt = [0; N];
        for field in fields {
            field.insert(&mut rebuilt, field.extract(&words)).unwrap();
        }
        prop_assert_eq!(rebuilt, words);
        Ok(())
    }

    proptest! {
        #[test]
        fn sampler_fields_are_independent(words: [u32; 4], value: u32) {
            check_fields(SamplerDescriptor::FIELDS, words, value)?;
            prop_assert_eq!(SamplerDescriptor::from_words(words).words(), words);
        }

        #[test]
        fn image_fields_are_independent(words: [u32; 8], value: u32) {
            check_fields(ImageDescriptor::FIELDS, words, value)?;
            prop_assert_eq!(ImageDescriptor::from_words(words).words(), words);
        }

        #[test]
        fn signed_fields_hold_their_range(words: [u32; 4], value in -40_000i32..40_000) {
            let field = SamplerDescriptor::LOD_BIAS;
            let mut changed = words;
            if (-8192..8192).contains(&value) {
                field.insert_signed(&mut changed, value).unwrap();
                prop_assert_eq!(field.sign_extend(field.extract(&changed)), value);
            } else {
                let error = field.insert_signed(&mut changed, value).unwrap_err();
                prop_assert_eq!((error.min, error.max, error.value), (-8192, 8191, value.into()));
                prop_assert_eq!(changed, words);
            }
        }
    }

    #[test]
    fn every_bit_belongs_to_one_field() {
        for (fields, words) in [(SamplerDescriptor::FIELDS, 4), (ImageDescriptor::FIELDS, 8)] {
            let mut used = vec![0u32; words];
            for field in fields {
                let word = &mut used[usize::from(field.word)];
                assert_eq!(*word & field.mask(), 0, "{field} overlaps another field");
                *word |= field.mask();
            }
            assert!(used.iter().all(|&word| word == u32::MAX), "{used:08x?}");
        }
    }

    #[test]
    fn names_are_distinct_and_found() {
        for field in SamplerDescriptor::FIELDS {
            assert_eq!(SamplerDescriptor::field(field.name), Some(field));
        }
        for field in ImageDescriptor::FIELDS {
            assert_eq!(ImageDescriptor::field(field.name), Some(field));
        }
        assert_eq!(SamplerDescriptor::field("clamp_x"), None);
    }

    #[test]
    fn reserved_bits_are_named_as_such() {
        for field in SamplerDescriptor::FIELDS.iter().chain(ImageDescriptor::FIELDS) {
            assert_eq!(field.is_reserved(), field.name.starts_with("RESERVED_"), "{field}");
            if field.is_reserved() {
                assert_eq!(field.name, format!("RESERVED_{}_{}", field.word, field.low));
            }
        }
    }

    #[test]
    fn error_names_the_field_its_bits_and_its_range() {
        let error = SamplerDescriptor::default().with_max_lod(0x1000).unwrap_err();
        assert_eq!(error.to_string(), "MAX_LOD (word1[23:12]) holds 0 to 4095, not 4096");
        let error = SamplerDescriptor::default().with_lod_bias_sec(32).unwrap_err();
        assert_eq!(error.to_string(), "LOD_BIAS_SEC (word2[19:14]) holds -32 to 31, not 32");
        let error = ImageDescriptor::default().with_width(0).unwrap_err();
        assert_eq!(error.to_string(), "WIDTH (word2[11:0], word1[31:30]) holds 1 to 16384, not 0");
    }

    #[test]
    fn values_read_as_what_they_stand_for() {
        assert_eq!(ImageDescriptor::BASE_ADDRESS.describe(0xdead_beef), "0xdeadbeef");
        assert_eq!(ImageDescriptor::RESERVED_1_29.describe(1), "0x1");
        assert_eq!(ImageDescriptor::SW_MODE.describe(27), "27 64KB_R_X");
        assert_eq!(ImageDescriptor::FORMAT.describe(43), "43 11_11_10_FLOAT");
        assert_eq!(ImageDescriptor::FORMAT.describe(500), "500");
        assert_eq!(ImageDescriptor::TYPE.describe(13), "13 2D_ARRAY");
        assert_eq!(SamplerDescriptor::LOD_BIAS_SEC.describe(0x20), "0x20 = -2");
        assert_eq!(SamplerDescriptor::ANISO_THRESHOLD.describe(7), "0x7 = 0.875");
        assert_eq!(SamplerDescriptor::TRUNC_COORD.describe(1), "1");
    }
}
