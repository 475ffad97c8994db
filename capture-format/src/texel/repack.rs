//! Format 43 in the bits of format 36, which every PC GPU samples as B10G11R11_UFLOAT.
//!
//! Both formats store one channel of 10 bits and two of 11, in the same encoding. Format 43 has them in the opposite order,
//! so moving the fields loses nothing: the 10-bit X becomes the host's B, Y its G, Z its R. The host's view must swap the
//! ends back: its swizzle is [`b10g11r11_component`] of the guest's DST_SEL, (B, G, R, 1) for (X, Y, Z, 1).
//!
//! A border colour that is not the same in X and Z has to be swapped as well, where the host applies the view's swizzle to
//! it.

use super::{BITS_10_11_11, BITS_11_11_10};
use crate::codes::DstSel;

/// A texel of format 43 (11_11_10) in the layout of format 36 (10_11_11), X and Z swapped. The channels' bits stay as they
/// are, so this holds for all kinds of these two layouts: 37 becomes 30, and so on.
///
/// ```
/// use capture_format::{TexelFormat, texel::{from_b10g11r11, to_b10g11r11}};
/// let (guest, host) = (TexelFormat::R10G11B11_FLOAT, TexelFormat::R11G11B10_FLOAT);
/// let texel = 0xf7e1_0401;
/// let [x, y, z, _] = guest.unpack(texel);
/// assert_eq!(host.unpack(to_b10g11r11(texel))[..3], [z, y, x]);
/// assert_eq!(from_b10g11r11(to_b10g11r11(texel)), texel);
/// ```
#[must_use]
#[inline]
pub const fn to_b10g11r11(texel: u32) -> u32 {
    let [x, y, z] = BITS_11_11_10;
    let [red, green, blue] = BITS_10_11_11;
    z.extract(texel) << red.shift | y.extract(texel) << green.shift | x.extract(texel) << blue.shift
}

/// The inverse of [`to_b10g11r11`].
#[must_use]
#[inline]
pub const fn from_b10g11r11(texel: u32) -> u32 {
    let [x, y, z] = BITS_11_11_10;
    let [red, green, blue] = BITS_10_11_11;
    blue.extract(texel) << x.shift | green.extract(texel) << y.shift | red.extract(texel) << z.shift
}

/// Which component of a repacked image a DST_SEL of the guest's T# takes: X and Z change places (X is the host's R).
#[must_use]
pub const fn b10g11r11_component(select: DstSel) -> DstSel {
    match select {
        DstSel::X => DstSel::Z,
        DstSel::Z => DstSel::X,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::texel::TexelFormat;

    #[test]
    fn fields_land_where_the_host_has_them() {
        assert_eq!(to_b10g11r11(0x3ff), 0xffc0_0000);
        assert_eq!(to_b10g11r11(0x7ff << 10), 0x7ff << 11);
        assert_eq!(to_b10g11r11(0x7ff << 21), 0x7ff);
        assert_eq!(b10g11r11_component(DstSel::X), DstSel::Z);
        assert_eq!(b10g11r11_component(DstSel::W), DstSel::W);
    }

    proptest! {
        #[test]
        fn repacking_loses_nothing(texel: u32) {
            prop_assert_eq!(from_b10g11r11(to_b10g11r11(texel)), texel);
            prop_assert_eq!(to_b10g11r11(from_b10g11r11(texel)), texel);
            let component = |texel: [u32; 4], select: DstSel| match select {
                DstSel::X => texel[0],
                DstSel::Y => texel[1],
                DstSel::Z => texel[2],
                _ => texel[3],
            };
            for guest in (37..=43).filter_map(TexelFormat::from_code) {
                let host = TexelFormat::from_code(guest.code() - 7).unwrap();
                for select in [DstSel::X, DstSel::Y, DstSel::Z, DstSel::W] {
                    prop_assert_eq!(
                        component(host.unpack(to_b10g11r11(texel)), b10g11r11_component(select)),
                        component(guest.unpack(texel), select)
                    );
                }
            }
        }
    }
}
