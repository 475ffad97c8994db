//! Draws egui's meshes on the CPU, so that pictures are the same on every machine and need no driver.

use std::collections::HashMap;

use egui::{
    ColorImage, ImageData, Pos2, TextureFilter, TextureId, TextureOptions, TexturesDelta,
    epaint::{ClippedPrimitive, Mesh, Primitive, Vertex},
};
use egui_kittest::TestRenderer;
use image::{Rgba, RgbaImage};

/// A renderer for `egui_kittest`.
#[derive(Default)]
pub struct Software {
    textures: HashMap<TextureId, (ColorImage, TextureOptions)>,
}

impl TestRenderer for Software {
    fn handle_delta(&mut self, delta: &mut TexturesDelta) {
        for (id, parts) in delta.set.drain() {
            for part in parts {
                let ImageData::Color(image) = &part.image;
                match part.pos {
                    None => {
                        self.textures.insert(id, (image.as_ref().clone(), part.options));
                    }
                    Some([left, top]) => {
                        let (whole, _) = self.textures.get_mut(&id).expect("a part of a known texture");
                        for y in 0..image.height() {
                            for x in 0..image.width() {
                                let width = whole.width();
                                whole.pixels[(top + y) * width + left + x] = image.pixels[y * image.width() + x];
                            }
                        }
                    }
                }
            }
        }
        // Textures that are freed may still be drawn in this frame, so they are kept: a test is short.
        delta.free.clear();
    }

    fn render(&mut self, ctx: &egui::Context, output: &egui::FullOutput) -> Result<RgbaImage, String> {
        let scale = output.pixels_per_point;
        let size = ctx.content_rect().size() * scale;
        let mut picture = RgbaImage::from_pixel(size.x as u32, size.y as u32, Rgba([0, 0, 0, 255]));
        for ClippedPrimitive { clip_rect, primitive } in ctx.tessellate(output.shapes.clone(), scale) {
            match primitive {
                Primitive::Mesh(mesh) => self.mesh(&mut picture, &mesh, clip_rect * scale, scale)?,
                Primitive::Callback(_) => return Err("paint callbacks are not drawn".to_owned()),
            }
        }
        Ok(picture)
    }
}

impl Software {
    fn mesh(&self, picture: &mut RgbaImage, mesh: &Mesh, clip: egui::Rect, scale: f32) -> Result<(), String> {
        let texture = self.textures.get(&mesh.texture_id).ok_or_else(|| format!("no texture {:?}", mesh.texture_id))?;
        let bounds = |low: f32, high: f32, size: u32| {
            let low = low.round().clamp(0.0, size as f32) as u32;
            low..high.round().clamp(low as f32, size as f32) as u32
        };
        let (xs, ys) =
            (bounds(clip.left(), clip.right(), picture.width()), bounds(clip.top(), clip.bottom(), picture.height()));
        for [a, b, c] in mesh.triangles() {
            let corners = [a, b, c].map(|n| mesh.vertices[n as usize]);
            triangle(picture, corners, &xs, &ys, scale, texture);
        }
        Ok(())
    }
}

fn triangle(
    picture: &mut RgbaImage,
    corners: [Vertex; 3],
    xs: &std::ops::Range<u32>,
    ys: &std::ops::Range<u32>,
    scale: f32,
    texture: &(ColorImage, TextureOptions),
) {
    // Positions in 1/256 pixels, so that triangles with a common edge neither overlap nor leave a gap.
    let fixed = |p: Pos2| [(p.x * scale * 256.0).round() as i64, (p.y * scale * 256.0).round() as i64];
    let mut points = corners.map(|corner| fixed(corner.pos));
    let mut corners = corners;
    let cross = |a: [i64; 2], b: [i64; 2], c: [i64; 2]| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    let mut area = cross(points[0], points[1], points[2]);
    if area == 0 {
        return;
    }
    if area < 0 {
        points.swap(1, 2);
        corners.swap(1, 2);
        area = -area;
    }
    let range = |axis: usize, limits: &std::ops::Range<u32>| {
        let low = points.iter().map(|p| p[axis]).min().unwrap_or(0).div_euclid(256);
        let high = points.iter().map(|p| p[axis]).max().unwrap_or(0).div_euclid(256) + 1;
        low.clamp(limits.start.into(), limits.end.into())..high.clamp(limits.start.into(), limits.end.into())
    };
    // An edge belongs to the triangle whose inside is below it or right of it.
    let owns = |a: [i64; 2], b: [i64; 2]| (b[1] == a[1] && b[0] > a[0]) || b[1] < a[1];
    let edges = [(1, 2), (2, 0), (0, 1)];
    for y in range(1, ys) {
        for x in range(0, xs) {
            let centre = [x * 256 + 128, y * 256 + 128];
            let weights = edges.map(|(a, b)| cross(points[a], points[b], centre));
            let inside = (0..3).all(|n| {
                let (a, b) = edges[n];
                weights[n] > 0 || weights[n] == 0 && owns(points[a], points[b])
            });
            if inside {
                let part = weights.map(|w| w as f32 / area as f32);
                blend(picture.get_pixel_mut(x as u32, y as u32), &corners, part, texture);
            }
        }
    }
}

fn blend(pixel: &mut Rgba<u8>, corners: &[Vertex; 3], part: [f32; 3], texture: &(ColorImage, TextureOptions)) {
    let mix = |value: &dyn Fn(&Vertex) -> f32| (0..3).map(|n| value(&corners[n]) * part[n]).sum::<f32>();
    let (u, v) = (mix(&|c| c.uv.x), mix(&|c| c.uv.y));
    let texel = sample(texture, u, v);
    let colour: [f32; 4] = std::array::from_fn(|c| mix(&|corner| f32::from(corner.color.to_array()[c])) * texel[c]);
    let alpha = colour[3] / 255.0;
    for (below, above) in pixel.0.iter_mut().zip(colour).take(3) {
        let mixed = above + f32::from(*below) * (1.0 - alpha);
        *below = mixed.round().clamp(0.0, 255.0) as u8;
    }
}

/// A texel, 0 to 1 a channel.
fn sample((image, options): &(ColorImage, TextureOptions), u: f32, v: f32) -> [f32; 4] {
    let [width, height] = image.size;
    let texel = |x: i64, y: i64| {
        let x = x.clamp(0, width as i64 - 1) as usize;
        let y = y.clamp(0, height as i64 - 1) as usize;
        image.pixels[y * width + x].to_array().map(|c| f32::from(c) / 255.0)
    };
    let (x, y) = (u * width as f32, v * height as f32);
    if options.magnification == TextureFilter::Nearest {
        return texel(x.floor() as i64, y.floor() as i64);
    }
    let (x, y) = (x - 0.5, y - 0.5);
    let (i, j) = (x.floor(), y.floor());
    let (a, b) = (x - i, y - j);
    let (i, j) = (i as i64, j as i64);
    let corners = [texel(i, j), texel(i + 1, j), texel(i, j + 1), texel(i + 1, j + 1)];
    std::array::from_fn(|c| {
        let top = corners[0][c] * (1.0 - a) + corners[1][c] * a;
        let bottom = corners[2][c] * (1.0 - a) + corners[3][c] * a;
        top * (1.0 - b) + bottom * b
    })
}
