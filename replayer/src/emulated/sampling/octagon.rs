//! A footprint's level of detail by [`crate::reference::octagon`].

use super::Emitter;
use crate::{
    emulated::code::{F, I, U},
    reference::octagon::{LIMIT, LOG2_ROUNDING, MANTISSA_MASK},
};

impl Emitter<'_> {
    /// The level of detail of derivatives along x and y, on a level of these sizes (1 where they are in texels).
    pub(super) fn octagon_lod(&mut self, derivatives: &[Vec<F>; 2], size: &[I]) -> F {
        let [x, y] = derivatives
            .each_ref()
            .map(|along| along.iter().zip(size).map(|(&d, &size)| self.in_texels(d, size)).collect::<Vec<F>>());
        let mut extents = Vec::new();
        for along in [&x, &y] {
            let magnitudes: Vec<F> = along.iter().map(|&value| self.code.f_abs(value)).collect();
            extents.push(self.short_length(&magnitudes));
        }
        for adds in [true, false] {
            let diagonal: Vec<F> = x
                .iter()
                .zip(&y)
                .map(|(&a, &b)| {
                    let sum = if adds { self.code.f_add(a, b) } else { self.code.f_sub(a, b) };
                    self.eleven_sixteenths(sum)
                })
                .collect();
            extents.push(self.short_length(&diagonal));
        }
        let most = extents.into_iter().reduce(|a, b| self.code.f_max(a, b));
        match most {
            Some(most) => self.short_log2(most),
            None => self.code.f(-64.0),
        }
    }

    fn in_texels(&mut self, derivative: F, size: I) -> F {
        let derivative = self.short(derivative);
        let code = &mut *self.code;
        let unsigned = code.i_to_u(size);
        let (none, one, half) = (code.u(0), code.u(1), code.u(0x2000));
        let below = code.u_sub(unsigned, one);
        let shared = code.u_and(unsigned, below);
        let is_power = code.u_eq(shared, none);
        let half = code.select(is_power, none, half);
        let size = code.i_to_f(size);
        let texels = code.f_mul(derivative, size);
        let bits = code.f_bits(texels);
        let bits = code.u_add(bits, half);
        let rounded = code.u_float(bits);
        self.short(rounded)
    }

    fn short(&mut self, value: F) -> F {
        let code = &mut *self.code;
        let (largest, smallest, sign_mask) = (code.f(LIMIT), code.f(1.0 / LIMIT), code.u(0x8000_0000));
        let (mask, none) = (code.u(MANTISSA_MASK), code.u(0));
        let bits = code.f_bits(value);
        let sign = code.u_and(bits, sign_mask);
        let magnitude = code.f_abs(value);
        let magnitude = code.f_min(magnitude, largest);
        let vanishes = code.f_lt(magnitude, smallest);
        let bits = code.f_bits(magnitude);
        let kept = code.u_and(bits, mask);
        let kept = code.select(vanishes, none, kept);
        let kept = code.u_or(kept, sign);
        code.u_float(kept)
    }

    /// The bits of the power of two of a value that is not negative.
    fn unit_bits(&mut self, value: F) -> U {
        let code = &mut *self.code;
        let (bits, mask) = (code.f_bits(value), code.u(0x7f80_0000));
        code.u_and(bits, mask)
    }

    fn short_mantissa(&mut self, value: F) -> F {
        let code = &mut *self.code;
        let (bits, shift, mask, one) = (code.f_bits(value), code.u(14), code.u(0x1ff), code.u(0x200));
        let place = code.u_shr(bits, shift);
        let place = code.u_and(place, mask);
        let place = code.u_or(place, one);
        code.u_to_f(place)
    }

    fn eleven_sixteenths(&mut self, sum: F) -> F {
        let sum = self.code.f_abs(sum);
        let sum = self.short(sum);
        let mantissa = self.short_mantissa(sum);
        let unit = self.unit_bits(sum);
        let code = &mut *self.code;
        let (eleven, four, eighth, places) = (code.f(11.0), code.f(4.0), code.f(0.125), code.f(1.0 / 1024.0));
        let product = code.f_mul(mantissa, eleven);
        let product = code.f_add(product, four);
        let product = code.f_mul(product, eighth);
        let cut = code.f_floor(product);
        let unit = code.u_float(unit);
        let unit = code.f_mul(unit, places);
        code.f_mul(cut, unit)
    }

    fn short_length(&mut self, along: &[F]) -> F {
        let along: Vec<F> = along.iter().map(|&value| self.short(value)).collect();
        let zero = self.code.f(0.0);
        let at = |axis: usize| along.get(axis).copied().unwrap_or(zero);
        let (x, y, z) = (at(0), at(1), at(2));
        let code = &mut *self.code;
        let (larger, smaller) = (code.f_max(x, y), code.f_min(x, y));
        let (most, least) = (code.f_max(larger, z), code.f_min(smaller, z));
        let middle = code.f_min(larger, z);
        let middle = code.f_max(smaller, middle);
        let unit = self.unit_bits(most);
        let code = &mut *self.code;
        let twice = code.u(0x7f00_0000);
        let per_unit = code.u_sub(twice, unit);
        let per_unit = code.u_float(per_unit);
        let [middle, least] = [(11.0, 4.0, middle), (8.0, 0.0, least)].map(|(factor, rounding, value)| {
            let mantissa = self.short_mantissa(value);
            let own = self.unit_bits(value);
            let code = &mut *self.code;
            let (factor, rounding, eighth, quarter) = (code.f(factor), code.f(rounding), code.f(0.125), code.f(0.25));
            let product = code.f_mul(mantissa, factor);
            let product = code.f_add(product, rounding);
            let own = code.u_float(own);
            let shift = code.f_mul(own, per_unit);
            let product = code.f_mul(product, shift);
            let product = code.f_mul(product, eighth);
            let cut = code.f_floor(product);
            code.f_mul(cut, quarter)
        });
        let mantissa = self.short_mantissa(most);
        let code = &mut *self.code;
        let rest = code.f_add(middle, least);
        let rest = code.f_floor(rest);
        let places = code.f(1.0 / 512.0);
        let unit = code.u_float(unit);
        let unit = code.f_mul(unit, places);
        let sum = code.f_add(mantissa, rest);
        code.f_mul(sum, unit)
    }

    fn short_log2(&mut self, extent: F) -> F {
        let code = &mut *self.code;
        let bits = code.f_bits(extent);
        let (shift, place_shift, mask) = (code.u(23), code.u(15), code.u(0xff));
        let exponent = code.u_shr(bits, shift);
        let exponent = code.u_to_f(exponent);
        let bias = code.f(127.0);
        let exponent = code.f_sub(exponent, bias);
        let place = code.u_shr(bits, place_shift);
        let place = code.u_and(place, mask);
        let none = code.u(0);
        let first = code.u_eq(place, none);
        let place = code.u_to_f(place);
        let (half, step) = (code.f(0.5), code.f(1.0 / 256.0));
        let fraction = code.f_add(place, half);
        let fraction = code.f_mul(fraction, step);
        let logarithm = self.log2_of_mantissa(fraction);
        let code = &mut *self.code;
        let (steps, rounding, most, zero) = (code.f(256.0), code.f(LOG2_ROUNDING), code.f(255.0), code.f(0.0));
        let scaled = code.f_mul(logarithm, steps);
        let scaled = code.f_add(scaled, rounding);
        let cut = code.f_floor(scaled);
        let cut = code.f_min(cut, most);
        let cut = code.select(first, zero, cut);
        let fraction = code.f_mul(cut, step);
        let lod = code.f_add(exponent, fraction);
        let smallest = code.u(0x0080_0000);
        let vanishes = code.u_lt(bits, smallest);
        let lowest = code.f(-64.0);
        code.select(vanishes, lowest, lod)
    }
}
