//! Packing and unpacking of blobs.

use std::io::{self, Read};

/// Base-2 logarithm of the largest zstd window that a reader grants (8 MiB): the memory that a frame can ask for.
const MAX_WINDOW_LOG: u32 = 23;

/// The highest zstd level, whose window is within the limit.
pub(super) const MAX_LEVEL: i32 = 19;

/// Longer blobs are stored as they are, so that every reader's default limit lets them through.
pub(super) const MAX_PACKED_BYTES: usize = 1 << 30;

/// Shorter ones are not worth a frame.
const MIN_PACKED_BYTES: usize = 256;

/// Packs a blob if that saves an eighth or more of it. For less, being used in place is worth more.
pub(super) fn pack(content: &[u8], packer: &mut zstd::bulk::Compressor<'static>) -> io::Result<Option<Vec<u8>>> {
    if !(MIN_PACKED_BYTES..=MAX_PACKED_BYTES).contains(&content.len()) {
        return Ok(None);
    }
    let packed = packer.compress(content)?;
    Ok((packed.len() <= content.len() - content.len() / 8).then_some(packed))
}

/// Unpacks a frame that must hold exactly `bytes`, and gives `take` pieces of it, all but the last of a multiple of 4 bytes.
///
/// No more than a window and a piece is allocated here, so a stated length costs nothing until the data is there.
pub(super) fn unpack(packed: &[u8], bytes: u64, mut take: impl FnMut(&[u8])) -> Result<(), String> {
    let mut decoder =
        zstd::stream::read::Decoder::with_buffer(packed).map_err(|error| error.to_string())?.single_frame();
    decoder.window_log_max(MAX_WINDOW_LOG).map_err(|error| error.to_string())?;
    let mut piece = vec![0; 1 << 16];
    let mut left = bytes;
    loop {
        let mut filled = 0;
        while filled < piece.len() {
            match decoder.read(&mut piece[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(format!("cannot be unpacked: {error}")),
            }
        }
        left =
            left.checked_sub(filled as u64).ok_or_else(|| format!("unpacks to more than the stated {bytes} bytes"))?;
        take(&piece[..filled]);
        if filled < piece.len() {
            break;
        }
    }
    if left != 0 {
        return Err(format!("unpacks to {} bytes, expected {bytes}", bytes - left));
    }
    if !decoder.finish().is_empty() {
        return Err("goes on behind its zstd frame".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(packed: &[u8], bytes: u64) -> Result<Vec<u8>, String> {
        let mut content = Vec::new();
        unpack(packed, bytes, |piece| content.extend_from_slice(piece)).map(|()| content)
    }

    #[test]
    fn a_blob_comes_back_whatever_its_length() {
        let mut packer = zstd::bulk::Compressor::new(3).unwrap();
        for len in [256, 257, (1 << 16) - 1, 1 << 16, (1 << 16) + 1, 300_000] {
            let content: Vec<u8> = (0..len).map(|i| (i / 100) as u8).collect();
            let packed = pack(&content, &mut packer).unwrap().unwrap();
            assert_eq!(unpacked(&packed, len as u64), Ok(content));
        }
    }

    #[test]
    fn what_does_not_shrink_is_not_packed() {
        let mut packer = zstd::bulk::Compressor::new(3).unwrap();
        let mut state = 1u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .take(4096)
        .collect();
        assert_eq!(pack(&noise, &mut packer).unwrap(), None);
        assert_eq!(pack(&[0; 255], &mut packer).unwrap(), None);
    }

    #[test]
    fn frames_that_are_not_what_was_stated_are_refused() {
        let packed = zstd::bulk::compress(&[7; 100_000], 3).unwrap();
        let refused = |packed: &[u8], bytes, problem: &str| {
            let error = unpacked(packed, bytes).unwrap_err();
            assert!(error.contains(problem), "{error}");
        };
        refused(&packed, 99_999, "unpacks to more than the stated 99999 bytes");
        refused(&packed, 100_001, "unpacks to 100000 bytes, expected 100001");
        refused(&packed[..packed.len() - 1], 100_000, "cannot be unpacked");
        refused(&[&packed[..], &[0]].concat(), 100_000, "goes on behind its zstd frame");
        refused(&[&packed[..], &packed].concat(), 200_000, "unpacks to 100000 bytes");
        refused(b"not zstd", 8, "cannot be unpacked");
    }

    #[test]
    fn a_frame_that_asks_for_a_large_window_is_refused() {
        let mut packer = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
        packer.window_log(24).unwrap();
        io::Write::write_all(&mut packer, &[0; 1000]).unwrap();
        let packed = packer.finish().unwrap();
        let error = unpacked(&packed, 1000).unwrap_err();
        assert!(error.contains("cannot be unpacked"), "{error}");
    }
}
