//! Texel formats: the packed 10/11-bit ones that no PC GPU samples as such, and raw 32_UINT.
//!
//! FORMAT codes 30 to 43 are two bit layouts in seven numeric kinds each. [`TexelFormat::unpack`] gives what `image_load`
//! returns before DST_SEL, [`TexelFormat::pack`] what `image_store` writes.

mod convert;
mod repack;

use std::fmt;

pub use convert::{
    f32_bits_to_small_float, f32_bits_to_snorm, f32_bits_to_sscaled, f32_bits_to_unorm, f32_bits_to_uscaled,
    sign_extend, small_float_to_f32_bits, snorm_to_f32_bits, unorm_to_f32_bits,
};
pub use repack::{b10g11r11_component, from_b10g11r11, to_b10g11r11};

/// 1.0 as FP32.
const ONE: u32 = 1f32.to_bits();

/// A texel format whose texels are one word.
///
/// ```
/// use capture_format::TexelFormat;
/// let format = TexelFormat::from_code(43).unwrap();
/// assert_eq!(format.to_string(), "11_11_10_FLOAT (R10_G11_B11)");
/// // R is denormal, G just above the smallest normal number, B the largest finite one, A is missing.
/// assert_eq!(format.unpack(0xf7e1_0401), [0x3600_0000, 0x3882_0000, 0x477e_0000, 0x3f80_0000]);
/// assert_eq!(format.pack(format.unpack(0xf7e1_0401)), 0xf7e1_0401);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TexelFormat {
    layout: TexelLayout,
    kind: NumericKind,
}

/// Where the channels of a texel are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TexelLayout {
    /// One channel of 32 bits.
    Bits32,
    /// AMD's 10_11_11, named from the highest bits down: X has 11 bits, Y 11, Z 10. B10G11R11 elsewhere.
    Bits10_11_11,
    /// AMD's 11_11_10: X has 10 bits, Y 11, Z 11.
    Bits11_11_10,
}

/// What the bits of a channel stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NumericKind {
    /// 0 to 1 in steps of 1/(2^n − 1).
    Unorm,
    /// −1 to 1 in steps of 1/(2^(n−1) − 1); the lowest two codes are both −1.
    Snorm,
    /// An unsigned integer, returned as FP32.
    Uscaled,
    /// A signed integer, returned as FP32.
    Sscaled,
    /// An unsigned integer.
    Uint,
    /// A signed integer, sign-extended to 32 bits.
    Sint,
    /// An unsigned float with 5 exponent bits.
    Float,
}

/// A channel's bits in a texel's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChannelLayout {
    /// Lowest bit.
    pub shift: u32,
    /// Number of bits, 1 to 32.
    pub bits: u32,
}

impl ChannelLayout {
    /// The channel's code in a texel.
    #[must_use]
    #[inline]
    pub const fn extract(self, word: u32) -> u32 {
        (word >> self.shift) & self.max_code()
    }

    /// The largest code.
    #[must_use]
    #[inline]
    pub const fn max_code(self) -> u32 {
        u32::MAX >> (32 - self.bits)
    }

    /// The channel's bits in a texel.
    #[must_use]
    #[inline]
    pub const fn mask(self) -> u32 {
        self.max_code() << self.shift
    }
}

const SINGLE: [ChannelLayout; 1] = [ChannelLayout { shift: 0, bits: 32 }];

const BITS_10_11_11: [ChannelLayout; 3] = [
    ChannelLayout { shift: 0, bits: 11 },
    ChannelLayout { shift: 11, bits: 11 },
    ChannelLayout { shift: 22, bits: 10 },
];

const BITS_11_11_10: [ChannelLayout; 3] = [
    ChannelLayout { shift: 0, bits: 10 },
    ChannelLayout { shift: 10, bits: 11 },
    ChannelLayout { shift: 21, bits: 11 },
];

impl TexelLayout {
    /// The channels that are stored, X first.
    #[must_use]
    pub const fn channels(self) -> &'static [ChannelLayout] {
        match self {
            Self::Bits32 => &SINGLE,
            Self::Bits10_11_11 => &BITS_10_11_11,
            Self::Bits11_11_10 => &BITS_11_11_10,
        }
    }

    /// AMD's name of the layout: bits of the channels from the highest down.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bits32 => "32",
            Self::Bits10_11_11 => "10_11_11",
            Self::Bits11_11_10 => "11_11_10",
        }
    }

    /// The channels from the lowest bit up, the other way round than AMD's name.
    #[must_use]
    pub const fn channel_order(self) -> &'static str {
        match self {
            Self::Bits32 => "R32",
            Self::Bits10_11_11 => "R11_G11_B10",
            Self::Bits11_11_10 => "R10_G11_B11",
        }
    }
}

impl NumericKind {
    /// Every kind, in the order of the FORMAT codes.
    pub const ALL: [Self; 7] =
        [Self::Unorm, Self::Snorm, Self::Uscaled, Self::Sscaled, Self::Uint, Self::Sint, Self::Float];

    /// AMD's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unorm => "UNORM",
            Self::Snorm => "SNORM",
            Self::Uscaled => "USCALED",
            Self::Sscaled => "SSCALED",
            Self::Uint => "UINT",
            Self::Sint => "SINT",
            Self::Float => "FLOAT",
        }
    }

    /// Whether channels come back as integers instead of FP32.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::Uint | Self::Sint)
    }

    /// What DST_SEL 1 and a missing W are: integer 1 for integers, else 1.0 as FP32.
    #[must_use]
    #[inline]
    pub const fn one(self) -> u32 {
        if self.is_integer() { 1 } else { ONE }
    }

    /// The 32-bit word that a channel code of `bits` bits (10 or 11) is read as.
    #[inline]
    const fn decode(self, code: u32, bits: u32) -> u32 {
        match self {
            Self::Unorm => unorm_to_f32_bits(code, bits),
            Self::Snorm => snorm_to_f32_bits(code, bits),
            Self::Uscaled => (code as f32).to_bits(),
            Self::Sscaled => (sign_extend(code, bits) as f32).to_bits(),
            Self::Uint => code,
            Self::Sint => sign_extend(code, bits).cast_unsigned(),
            Self::Float => small_float_to_f32_bits(code, bits - 5),
        }
    }

    /// The channel code of `bits` bits (10 or 11) that a 32-bit word is written as.
    #[inline]
    fn encode(self, word: u32, bits: u32) -> u32 {
        let max_code = u32::MAX >> (32 - bits);
        match self {
            Self::Unorm => f32_bits_to_unorm(word, bits),
            Self::Snorm => f32_bits_to_snorm(word, bits),
            Self::Uscaled => f32_bits_to_uscaled(word, bits),
            Self::Sscaled => f32_bits_to_sscaled(word, bits),
            Self::Uint => word.min(max_code),
            Self::Sint => {
                let half = (max_code >> 1).cast_signed();
                word.cast_signed().clamp(-half - 1, half).cast_unsigned() & max_code
            }
            Self::Float => f32_bits_to_small_float(word, bits - 5),
        }
    }
}

impl TexelFormat {
    /// FORMAT 20, 32_UINT: the form in which an emulator keeps the packed formats.
    pub const R32_UINT: Self = Self { layout: TexelLayout::Bits32, kind: NumericKind::Uint };
    /// FORMAT 30, 10_11_11_UNORM.
    pub const R11G11B10_UNORM: Self = Self { layout: TexelLayout::Bits10_11_11, kind: NumericKind::Unorm };
    /// FORMAT 36, 10_11_11_FLOAT, which PC GPUs have as B10G11R11_UFLOAT.
    pub const R11G11B10_FLOAT: Self = Self { layout: TexelLayout::Bits10_11_11, kind: NumericKind::Float };
    /// FORMAT 43, 11_11_10_FLOAT.
    pub const R10G11B11_FLOAT: Self = Self { layout: TexelLayout::Bits11_11_10, kind: NumericKind::Float };

    /// Every format, in the order of the codes.
    pub fn all() -> impl Iterator<Item = Self> {
        let packed = [TexelLayout::Bits10_11_11, TexelLayout::Bits11_11_10]
            .into_iter()
            .flat_map(|layout| NumericKind::ALL.into_iter().map(move |kind| Self { layout, kind }));
        std::iter::once(Self::R32_UINT).chain(packed)
    }

    /// The format of a FORMAT code of GFX10; `None` for those that are not handled here.
    #[must_use]
    pub fn from_code(code: u16) -> Option<Self> {
        match code {
            20 => Some(Self::R32_UINT),
            30..=36 => Some(Self { layout: TexelLayout::Bits10_11_11, kind: NumericKind::ALL[usize::from(code - 30)] }),
            37..=43 => Some(Self { layout: TexelLayout::Bits11_11_10, kind: NumericKind::ALL[usize::from(code - 37)] }),
            _ => None,
        }
    }

    /// The FORMAT code of GFX10.
    #[must_use]
    pub const fn code(self) -> u16 {
        match self.layout {
            TexelLayout::Bits32 => 20,
            TexelLayout::Bits10_11_11 => 30 + self.kind as u16,
            TexelLayout::Bits11_11_10 => 37 + self.kind as u16,
        }
    }

    /// AMD's name, such as `11_11_10_FLOAT`.
    #[must_use]
    pub fn name(self) -> String {
        format!("{}_{}", self.layout.name(), self.kind.name())
    }

    /// Where the channels are.
    #[must_use]
    pub const fn layout(self) -> TexelLayout {
        self.layout
    }

    /// What the channels' bits stand for.
    #[must_use]
    pub const fn kind(self) -> NumericKind {
        self.kind
    }

    /// The channels that are stored, X first: three, or one for 32_UINT.
    #[must_use]
    pub const fn channels(self) -> &'static [ChannelLayout] {
        self.layout.channels()
    }

    /// The four words that `image_load` returns for a texel, before DST_SEL: X, Y, Z, W as FP32 bits or integers.
    ///
    /// Every value is exact, or for UNORM and SNORM the quotient rounded once to nearest. Small-float denormals are kept.
    /// W is not stored and comes back as [`NumericKind::one`]. That is inferred from AMD's ISA documents, which say that
    /// missing components are filled with 0 or 1 before DST_SEL, and has not been measured; so have Y and Z of 32_UINT, 0.
    #[must_use]
    #[inline]
    pub const fn unpack(self, word: u32) -> [u32; 4] {
        let [x, y, z] = match self.layout {
            TexelLayout::Bits32 => return [word, 0, 0, 1],
            TexelLayout::Bits10_11_11 => BITS_10_11_11,
            TexelLayout::Bits11_11_10 => BITS_11_11_10,
        };
        [
            self.kind.decode(x.extract(word), x.bits),
            self.kind.decode(y.extract(word), y.bits),
            self.kind.decode(z.extract(word), z.bits),
            self.kind.one(),
        ]
    }

    /// The texel that `image_store` writes for X, Y, Z, W (FP32 bits or integers). W, and Y and Z of 32_UINT, are dropped.
    ///
    /// FLOAT and UNORM follow values that an emulator's store tests pin ([`f32_bits_to_small_float`],
    /// [`f32_bits_to_unorm`]). The other kinds are inferred: SNORM rounds to nearest even like UNORM, SCALED truncates as
    /// float-to-integer conversions do, integers that do not fit are clamped.
    #[must_use]
    #[inline]
    pub fn pack(self, channels: [u32; 4]) -> u32 {
        let layout = match self.layout {
            TexelLayout::Bits32 => return channels[0],
            TexelLayout::Bits10_11_11 => BITS_10_11_11,
            TexelLayout::Bits11_11_10 => BITS_11_11_10,
        };
        layout.iter().zip(channels).fold(0, |word, (c, value)| word | self.kind.encode(value, c.bits) << c.shift)
    }
}

impl fmt::Display for TexelFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.layout.channel_order())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const INF: u32 = 0x7f80_0000;

    #[test]
    fn codes_and_names_are_amds() {
        let names: Vec<_> = TexelFormat::all().map(|format| (u32::from(format.code()), format.name())).collect();
        assert_eq!(names.len(), 15);
        for (code, name) in &names {
            let known = crate::codes::IMG_FORMAT_NAMES.iter().find(|(c, _)| c == code).map(|(_, name)| *name);
            assert_eq!(known, Some(name.as_str()));
        }
        for code in 0..512 {
            let format = TexelFormat::from_code(code);
            assert_eq!(format.is_some(), code == 20 || (30..=43).contains(&code), "{code}");
            assert_eq!(format.map_or(code, TexelFormat::code), code);
        }
        assert_eq!(TexelFormat::R11G11B10_UNORM.code(), 30);
        assert_eq!(TexelFormat::R11G11B10_FLOAT.code(), 36);
        assert_eq!(TexelFormat::R10G11B11_FLOAT.code(), 43);
    }

    #[test]
    fn channels_cover_the_word_once() {
        for format in TexelFormat::all() {
            let mut used = 0u32;
            for channel in format.channels() {
                assert_eq!(used & channel.mask(), 0);
                used |= channel.mask();
            }
            assert_eq!(used, u32::MAX);
        }
    }

    /// `image_load` of format 43, as an emulator's conversion test pins it.
    #[test]
    fn pinned_loads_of_format_43() {
        let load = |word| TexelFormat::R10G11B11_FLOAT.unpack(word);
        assert_eq!(load(0x07ff_03e0), [INF, INF, 0x387c_0000, ONE]);
        assert_eq!(load(0xf7e1_0401), [0x3600_0000, 0x3882_0000, 0x477e_0000, ONE]);
        assert_eq!(load(0x0000_07df), [0x477c_0000, 0x3580_0000, 0, ONE]);
    }

    /// `image_store` of format 43, from the same test.
    #[test]
    fn pinned_stores_of_format_43() {
        let store = |channels| TexelFormat::R10G11B11_FLOAT.pack(channels);
        let floats = [1.0 + 3.0 / 128.0, 1.0 + 3.0 / 256.0, 2f32.powi(-20), 0.0].map(f32::to_bits);
        assert_eq!(store(floats), 0x002f_01e0);
        assert_eq!(store([0x7f80_0001, 0x7f81_0000, 0x7fa0_0000, 0]), 0xfa1f_07e1);
        // A NaN's sign does not matter; negative numbers, -0 and -inf are 0.
        assert_eq!(store([0xff80_0001, 0xff81_0000, 0xffa0_0000, 0]), 0xfa1f_07e1);
        assert_eq!(store([0x8000_0000, 0xff80_0000, 0xbf80_0000, 0]), 0);
        // Finite overflow is the largest finite number, infinity stays.
        assert_eq!(store([0x7f7f_ffff, INF, 0x4780_0000, 0]), 0x3df | 0x7c0 << 10 | 0x7bf << 21);
    }

    /// A word whose channels all hold `code`, cut to their bits.
    fn in_all_channels(format: TexelFormat, code: u32) -> u32 {
        format.channels().iter().fold(0, |word, c| word | (code & c.max_code()) << c.shift)
    }

    #[test]
    fn every_code_of_every_format_round_trips() {
        for format in TexelFormat::all().filter(|format| *format != TexelFormat::R32_UINT) {
            for code in 0..2048 {
                let word = in_all_channels(format, code);
                let mut expected = word;
                if format.kind() == NumericKind::Snorm {
                    // The lowest code is -1 like the one above it, which is what -1 is written as.
                    for c in format.channels() {
                        if c.extract(word) == 1 << (c.bits - 1) {
                            expected += 1 << c.shift;
                        }
                    }
                }
                assert_eq!(format.pack(format.unpack(word)), expected, "{format}: code {code}");
            }
        }
    }

    #[test]
    fn unorm_ends_and_middle() {
        let format = TexelFormat::R11G11B10_UNORM;
        assert_eq!(format.unpack(0), [0, 0, 0, ONE]);
        assert_eq!(format.unpack(u32::MAX), [ONE; 4]);
        let quotients = [(1024.0f64 / 2047.0) as f32, (1024.0f64 / 2047.0) as f32, (512.0f64 / 1023.0) as f32, 1.0];
        assert_eq!(format.unpack(0x400 | 0x400 << 11 | 0x200 << 22), quotients.map(f32::to_bits));
        assert_eq!(format.unpack(1)[0], 0x3a00_1002);
    }

    #[test]
    fn each_kind_reads_the_highest_bit_its_way() {
        // X = 0x400 (11 bits), Y = 0x7ff (11 bits), Z = 0x200 (10 bits) in the layout of formats 30 to 36.
        let word = 0x400 | 0x7ff << 11 | 0x200 << 22;
        let unpack = |code| TexelFormat::from_code(code).map(|format| format.unpack(word));
        let floats = |values: [f32; 4]| Some(values.map(f32::to_bits));
        assert_eq!(unpack(31), floats([-1.0, -1.0 / 1023.0, -1.0, 1.0]));
        assert_eq!(unpack(32), floats([1024.0, 2047.0, 512.0, 1.0]));
        assert_eq!(unpack(33), floats([-1024.0, -1.0, -512.0, 1.0]));
        assert_eq!(unpack(34), Some([1024, 2047, 512, 1]));
        assert_eq!(unpack(35), Some([0xffff_fc00, 0xffff_ffff, 0xffff_fe00, 1]));
        assert_eq!(unpack(36), floats([2.0, f32::from_bits(0x7ffe_0000), 2.0, 1.0]));
        assert_eq!(unpack(20), Some([word, 0, 0, 1]));
    }

    #[test]
    fn integers_that_do_not_fit_are_clamped() {
        let pack = |code, channels| TexelFormat::from_code(code).map(|format| format.pack(channels));
        assert_eq!(pack(34, [2048, 5, u32::MAX, 9]), Some(2047 | 5 << 11 | 1023 << 22));
        let negative = (-5000i32).cast_unsigned();
        assert_eq!(pack(35, [negative, 5000, negative, 9]), Some(0x400 | 0x3ff << 11 | 0x200 << 22));
        assert_eq!(pack(20, [7, 8, 9, 10]), Some(7));
    }

    proptest! {
        #[test]
        fn channels_are_independent(word: u32, other: u32) {
            for format in TexelFormat::all() {
                for (index, channel) in format.channels().iter().enumerate() {
                    let mixed = (word & channel.mask()) | (other & !channel.mask());
                    prop_assert_eq!(format.unpack(mixed)[index], format.unpack(word)[index]);
                }
            }
        }
    }
}
