//! The octagon around a footprint, in short mantissas: see [`crate::reference::octagon`].

use super::Emitter;
use crate::{
    emulated::code::{B, F, I, U},
    reference::octagon::{DIAGONAL_SHARES, LENGTH_SHARES, LIMIT, LOG2_ROUNDING, MANTISSA_MASK},
};

/// See [`crate::reference::octagon::Octagon`].
pub(super) struct Octagon {
    pub extent: F,
    pub area: F,
    pub axis: Vec<F>,
}

impl Emitter<'_> {
    /// The octagon of derivatives along x and y, on a level of these sizes (1 where they are in texels).
    pub(super) fn octagon(&mut self, derivatives: &[Vec<F>; 2], size: &[I]) -> Octagon {
        let [x, y] = derivatives
            .each_ref()
            .map(|along| along.iter().zip(size).map(|(&d, &size)| self.in_texels(d, size)).collect::<Vec<F>>());
        let (of_x, of_y) = (self.short_length(&x), self.short_length(&y));
        let added: Vec<F> = x.iter().zip(&y).map(|(&a, &b)| self.short_sum(a, b)).collect();
        let swaps = self.code.f_ge(of_y, of_x);
        let difference: Vec<F> = x
            .iter()
            .zip(&y)
            .map(|(&a, &b)| {
                let (from, off) = (self.code.select(swaps, b, a), self.code.select(swaps, a, b));
                let off = self.negated(off);
                self.short_sum(from, off)
            })
            .collect();
        let (of_sum, of_difference) = (self.short_diagonal(&added), self.short_diagonal(&difference));
        let [added, difference] = [added, difference].map(|along| {
            along
                .into_iter()
                .map(|value| {
                    let magnitude = self.code.f_abs(value);
                    let shortened = self.scaled(magnitude, DIAGONAL_SHARES[0]);
                    self.with_sign(shortened, value)
                })
                .collect::<Vec<F>>()
        });
        let (mut extent, mut axis) = (of_x, x.clone());
        for (other, along) in [(of_sum, &added), (of_y, &y), (of_difference, &difference)] {
            let wider = self.code.f_gt(other, extent);
            extent = self.code.select(wider, other, extent);
            axis = along.iter().zip(&axis).map(|(&a, &b)| self.code.select(wider, a, b)).collect();
        }
        let area = match (&x[..], &y[..]) {
            ([x0, x1, ..], [y0, y1, ..]) => {
                let (straight, crossed) = (self.short_product(*x0, *y1), self.short_product(*x1, *y0));
                self.difference_of_products(straight, crossed)
            }
            _ => self.code.f(0.0),
        };
        Octagon { extent, area, axis }
    }

    fn negated(&mut self, value: F) -> F {
        let (bits, sign) = (self.code.f_bits(value), self.code.u(0x8000_0000));
        let flipped = self.code.u_xor(bits, sign);
        self.code.u_float(flipped)
    }

    /// A magnitude with another value's sign.
    fn with_sign(&mut self, magnitude: F, value: F) -> F {
        let code = &mut *self.code;
        let (bits, of, sign) = (code.f_bits(magnitude), code.f_bits(value), code.u(0x8000_0000));
        let sign = code.u_and(of, sign);
        let bits = code.u_or(bits, sign);
        code.u_float(bits)
    }

    fn is_zero(&mut self, value: F) -> B {
        let zero = self.code.f(0.0);
        self.code.f_eq(value, zero)
    }

    fn in_texels(&mut self, derivative: F, size: I) -> F {
        let derivative = self.short(derivative);
        let code = &mut *self.code;
        let unsigned = code.i_to_u(size);
        let (none, one) = (code.u(0), code.u(1));
        let below = code.u_sub(unsigned, one);
        let shared = code.u_and(unsigned, below);
        let is_power = code.u_eq(shared, none);
        let size = code.i_to_f(size);
        let moved = code.f_mul(derivative, size);
        let moved = self.short(moved);
        let size = self.short(size);
        let multiplied = self.short_product(derivative, size);
        self.code.select(is_power, moved, multiplied)
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
    pub(super) fn unit_bits(&mut self, value: F) -> U {
        let code = &mut *self.code;
        let (bits, mask) = (code.f_bits(value), code.u(0x7f80_0000));
        code.u_and(bits, mask)
    }

    /// One over a power of two, given its bits.
    pub(super) fn per_unit(&mut self, unit: U) -> F {
        let twice = self.code.u(0x7f00_0000);
        let bits = self.code.u_sub(twice, unit);
        self.code.u_float(bits)
    }

    fn short_mantissa(&mut self, value: F) -> U {
        let code = &mut *self.code;
        let (bits, shift, mask, one) = (code.f_bits(value), code.u(14), code.u(0x1ff), code.u(0x200));
        let place = code.u_shr(bits, shift);
        let place = code.u_and(place, mask);
        code.u_or(place, one)
    }

    fn scaled(&mut self, value: F, (factor, rounding, shift): (f32, f32, f32)) -> F {
        let mantissa = self.short_mantissa(value);
        let unit = self.unit_bits(value);
        let code = &mut *self.code;
        let mantissa = code.u_to_f(mantissa);
        let (factor, rounding, shift) = (code.f(factor), code.f(rounding), code.f(shift));
        let product = code.f_mul(mantissa, factor);
        let product = code.f_add(product, rounding);
        let unit = code.u_float(unit);
        let unit = code.f_mul(unit, shift);
        let product = code.f_mul(product, unit);
        let product = self.short(product);
        let none = self.is_zero(value);
        let zero = self.code.f(0.0);
        self.code.select(none, zero, product)
    }

    /// Steps in a power of two to which the smaller term of a sum is cut, given the larger one's magnitude, and one of them;
    /// 0 where it is 0.
    fn guard(&mut self, larger: F) -> (F, F) {
        let unit = self.unit_bits(larger);
        let per_unit = self.per_unit(unit);
        let none = self.is_zero(larger);
        let code = &mut *self.code;
        let (guards, step, zero) = (code.f(1024.0), code.f(1.0 / 1024.0), code.f(0.0));
        let per_guard = code.f_mul(per_unit, guards);
        let per_guard = code.select(none, zero, per_guard);
        let unit = code.u_float(unit);
        (per_guard, code.f_mul(unit, step))
    }

    fn short_sum(&mut self, a: F, b: F) -> F {
        let (x, y) = (self.code.f_abs(a), self.code.f_abs(b));
        let first = self.code.f_ge(x, y);
        let (larger, smaller) = (self.code.select(first, a, b), self.code.select(first, b, a));
        let magnitude = self.code.f_max(x, y);
        let (per_guard, guard) = self.guard(magnitude);
        let none = self.is_zero(magnitude);
        let code = &mut *self.code;
        let kept = code.f_mul(smaller, per_guard);
        let kept = code.f_trunc(kept);
        let kept = code.f_mul(kept, guard);
        let sum = code.f_add(larger, kept);
        let sum = self.short(sum);
        let zero = self.code.f(0.0);
        self.code.select(none, zero, sum)
    }

    /// Magnitudes along the axes, the largest first.
    fn sorted(&mut self, along: &[F]) -> [F; 3] {
        let zero = self.code.f(0.0);
        let along: Vec<F> = along.iter().map(|&value| self.code.f_abs(value)).collect();
        let at = |axis: usize| along.get(axis).copied().unwrap_or(zero);
        let (x, y, z) = (at(0), at(1), at(2));
        let code = &mut *self.code;
        let (larger, smaller) = (code.f_max(x, y), code.f_min(x, y));
        let (most, least) = (code.f_max(larger, z), code.f_min(smaller, z));
        let middle = code.f_min(larger, z);
        [most, code.f_max(smaller, middle), least]
    }

    fn short_length(&mut self, along: &[F]) -> F {
        let [most, middle, least] = self.sorted(along);
        let middle = self.scaled(middle, LENGTH_SHARES[0]);
        let least = self.scaled(least, LENGTH_SHARES[1]);
        let rest = self.short_sum(middle, least);
        self.short_sum(most, rest)
    }

    fn short_diagonal(&mut self, along: &[F]) -> F {
        let [most, middle, least] = self.sorted(along);
        let most = self.scaled(most, DIAGONAL_SHARES[0]);
        let middle = self.scaled(middle, DIAGONAL_SHARES[1]);
        let least = self.scaled(least, DIAGONAL_SHARES[2]);
        let rest = self.short_sum(middle, least);
        self.short_sum(most, rest)
    }

    fn short_product(&mut self, a: F, b: F) -> F {
        let (x, y) = (self.code.f_abs(a), self.code.f_abs(b));
        let (left, right) = (self.short_mantissa(x), self.short_mantissa(y));
        let (unit_x, unit_y) = (self.unit_bits(x), self.unit_bits(y));
        let code = &mut *self.code;
        let (one, low, seven) = (code.u(1), code.u(0x3f), code.u(7));
        let mut cut = code.u(0);
        for bit in 0..6 {
            let bit = code.u(bit);
            let has = code.u_shr(right, bit);
            let has = code.u_and(has, one);
            let partial = code.u_shl(left, bit);
            let partial = code.u_and(partial, low);
            let lost = code.u_mul(has, partial);
            cut = code.u_add(cut, lost);
        }
        let six = code.u(6);
        let whole = code.u_mul(left, right);
        let whole = code.u_sub(whole, cut);
        let whole = code.u_shr(whole, six);
        let whole = code.u_add(whole, seven);
        let whole = code.u_to_f(whole);
        let step = code.f(1.0 / 4096.0);
        let (unit_x, unit_y) = (code.u_float(unit_x), code.u_float(unit_y));
        let unit_x = code.f_mul(unit_x, step);
        let product = code.f_mul(whole, unit_x);
        let product = code.f_mul(product, unit_y);
        let product = self.short(product);
        let (no_x, no_y) = (self.is_zero(x), self.is_zero(y));
        let code = &mut *self.code;
        let none = code.b_or(no_x, no_y);
        let zero = code.f(0.0);
        let (sign_a, sign_b) = (code.f_bits(a), code.f_bits(b));
        let sign = code.u_xor(sign_a, sign_b);
        let sign = code.u_float(sign);
        let signed = self.with_sign(product, sign);
        self.code.select(none, zero, signed)
    }

    fn difference_of_products(&mut self, a: F, b: F) -> F {
        let (x, y) = (self.code.f_abs(a), self.code.f_abs(b));
        let larger = self.code.f_max(x, y);
        let (per_guard, guard) = self.guard(larger);
        let code = &mut *self.code;
        let [a, b] = [a, b].map(|value| {
            let value = code.f_mul(value, per_guard);
            code.f_trunc(value)
        });
        let difference = code.f_sub(a, b);
        let difference = code.f_abs(difference);
        code.f_mul(difference, guard)
    }

    pub(super) fn short_log2(&mut self, extent: F) -> F {
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
