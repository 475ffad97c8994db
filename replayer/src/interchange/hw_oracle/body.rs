//! The assembly of a kit.

use std::fmt::Write as _;

use capture_format::{Op, OpKind};

use crate::state::View;

/// What the body writes instead of results when the input is not where it has to be.
pub const MISPLACED: u32 = 0x7fba_d256;

/// First register of the operands beyond the fourth.
const FURTHER: usize = 14;

/// Byte offsets, from the start of the input.
pub struct Offsets {
    /// T#, and S# behind it.
    pub descriptors: u32,
    /// Operands beyond the fourth, if there are any.
    pub further: u32,
    /// The image; a multiple of 256.
    pub image: u32,
}

/// The body for an instruction with that many operands.
pub fn body(op: Op, view: View, operands: usize, dmask: u8, offsets: &Offsets) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let mut line = |s: &str| {
        let _ = writeln!(text, "{s}");
    };
    line("; s[4:5]: address of the input, v0: the lane's number, v[4:7]: the lane's row; results in v[10:13]");
    line("; T# in s[16:23], S# in s[24:27]");
    line(&format!("  s_load_dwordx8 s[16:23], s[4:5], {:#x}", offsets.descriptors));
    if op.kind != OpKind::Load {
        line(&format!("  s_load_dwordx4 s[24:27], s[4:5], {:#x}", offsets.descriptors + 32));
    }
    let further = operands.saturating_sub(4);
    if further > 0 {
        line("; operands beyond the fourth, one row a lane");
        line(&format!("  v_mul_u32_u24_e32 v8, {:#x}, v0", further * 4));
        line(&format!("  v_add_nc_u32_e32 v8, {:#x}, v8", offsets.further));
        for n in 0..further {
            line(&format!("  global_load_dword v{}, v8, s[4:5] offset:{}", FURTHER + n, n * 4));
        }
    }
    line("; the image must start at a multiple of 256: where the input does not, results say so");
    for n in 10..14 {
        line(&format!("  v_mov_b32_e32 v{n}, {MISPLACED:#x}"));
    }
    line("  s_and_b32 s8, s4, 0xff");
    line("  s_cmp_lg_u32 s8, 0");
    line("  s_cbranch_scc1 misplaced");
    line("; BASE_ADDRESS: bits 39:8 of the image's address are word 0, bits 47:40 are word 1 bits 7:0");
    line(&format!("  s_add_u32 s6, s4, {:#x}", offsets.image));
    line("  s_addc_u32 s7, s5, 0");
    line("  s_lshr_b64 s[6:7], s[6:7], 8");
    line("  s_and_b32 s7, s7, 0xff");
    line("  s_waitcnt vmcnt(0) lgkmcnt(0)");
    line("  s_mov_b32 s16, s6");
    line("  s_and_b32 s17, s17, 0xffffff00");
    line("  s_or_b32 s17, s17, s7");
    let registers: Vec<String> =
        (0..operands).map(|n| format!("v{}", if n < 4 { 4 + n } else { FURTHER - 4 + n })).collect();
    let address = match registers.as_slice() {
        [one] => one.clone(),
        list => format!("[{}]", list.join(", ")),
    };
    let samplers = if op.kind == OpKind::Load { "" } else { ", s[24:27]" };
    let dmask = if op.kind == OpKind::Gather4 { dmask } else { 0xf };
    let unorm = if op.kind == OpKind::Load { " unorm" } else { "" };
    line(&format!("  {op} v[10:13], {address}, s[16:23]{samplers} dmask:{dmask:#x} dim:{}{unorm}", dim(view)));
    line("  s_waitcnt vmcnt(0)");
    line("misplaced:");
    line("  s_waitcnt vmcnt(0) lgkmcnt(0)");
    text
}

fn dim(view: View) -> &'static str {
    match view {
        View::D1 => "SQ_RSRC_IMG_1D",
        View::D1Array => "SQ_RSRC_IMG_1D_ARRAY",
        View::D2 => "SQ_RSRC_IMG_2D",
        View::D2Array => "SQ_RSRC_IMG_2D_ARRAY",
        View::D3 => "SQ_RSRC_IMG_3D",
        View::Cube => "SQ_RSRC_IMG_CUBE",
    }
}
