//! What the images of the suites hold.

use capture_format::{NumericKind, TexelFormat};

use crate::generate::Random;

/// Kinds of texel content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Texels {
    /// Random numbers of exponents that differ by at most 3, so that no bit is lost on the way to the sum.
    Near,
    /// Random numbers of all exponents, denormals among them.
    Wide,
    /// As wide, one in four an infinity, NaN or zero.
    NonFinite,
    /// 0 and 1 in turn along every axis.
    Alternating,
    /// Each texel its own number: its place in the image, as small floats can hold it.
    Counting,
    /// Every code of every channel.
    Codes,
}

impl Texels {
    /// The word of a texel at `place` of a level (x, y, slice or layer; level).
    pub fn word(self, format: TexelFormat, [x, y, z, level]: [u32; 4], random: &mut Random) -> u32 {
        if format.kind() != NumericKind::Float {
            return match self {
                Self::Alternating => (x + y + z + level) & 1,
                Self::Counting | Self::Codes => x | y << 14 | z << 24 | level << 30,
                _ => random.bits(),
            };
        }
        let mut word = 0;
        for channel in format.channels() {
            let mantissa_bits = channel.bits - 5;
            let mut float = |low: u32, high: u32| {
                let exponent = low + random.below(high - low + 1);
                exponent << mantissa_bits | random.below(1 << mantissa_bits)
            };
            let code = match self {
                Self::Near => float(13, 16),
                Self::Wide => float(0, 29),
                Self::NonFinite => match float(0, 29) {
                    code if code % 4 != 0 => code,
                    code => [0, 31 << mantissa_bits, 31 << mantissa_bits | 1][(code / 4 % 3) as usize],
                },
                Self::Alternating => (x + y + z + level) % 2 * (15 << mantissa_bits),
                Self::Counting => {
                    // 16 + n/4 to 32 in steps that 5 mantissa bits hold.
                    let n = x + 5 * y + 11 * z + 17 * level;
                    (16 + n % 7) << mantissa_bits | n % 32
                }
                Self::Codes => (x + 64 * y) & channel.max_code(),
            };
            word |= (code & channel.max_code()) << channel.shift;
        }
        word
    }
}
