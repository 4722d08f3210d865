//! The embedded fonts: how wide a text is, and where its lines break.

use ttf_parser::{Face, GlyphId};

use crate::Unset;

const REGULAR: &[u8] = include_bytes!("../fonts/NotoSans-Regular.ttf");
const BOLD: &[u8] = include_bytes!("../fonts/NotoSans-Bold.ttf");

/// The width of the box for a character that the font lacks, in parts of the size.
pub(crate) const BOX_WIDTH: f32 = 0.62;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    Bold,
}

pub(crate) struct Fonts {
    regular: Font,
    bold: Font,
}

pub(crate) struct Font {
    pub(crate) data: &'static [u8],
    pub(crate) face: Face<'static>,
    pub(crate) name: &'static str,
    units: f32,
}

impl Fonts {
    pub(crate) fn open() -> Result<Self, Unset> {
        Ok(Self {
            regular: Font::open(REGULAR, "NotoSans-Regular")?,
            bold: Font::open(BOLD, "NotoSans-Bold")?,
        })
    }

    pub(crate) fn of(&self, weight: Weight) -> &Font {
        match weight {
            Weight::Regular => &self.regular,
            Weight::Bold => &self.bold,
        }
    }

    pub(crate) fn lacks(&self, c: char) -> bool {
        self.regular.glyph(c).is_none()
    }

    pub(crate) fn width(&self, text: &str, weight: Weight, size: f32) -> f32 {
        let font = self.of(weight);
        text.chars().map(|c| font.advance(c)).sum::<f32>() * size
    }

    /// Breaks at spaces, and inside a word only if it is wider than a line.
    pub(crate) fn lines(&self, text: &str, weight: Weight, size: f32, width_max: f32) -> Vec<String> {
        let mut lines = Vec::new();
        for paragraph in text.lines() {
            let mut line = String::new();
            for word in paragraph.split_whitespace() {
                let with = match line.is_empty() {
                    true => word.to_owned(),
                    false => format!("{line} {word}"),
                };
                if self.width(&with, weight, size) <= width_max {
                    line = with;
                    continue;
                }
                if !line.is_empty() {
                    lines.push(std::mem::take(&mut line));
                }
                line = self.broken(word, weight, size, width_max, &mut lines);
            }
            lines.push(line);
        }
        lines
    }

    /// Pushes what does not fit, and returns the rest.
    fn broken(
        &self,
        word: &str,
        weight: Weight,
        size: f32,
        width_max: f32,
        lines: &mut Vec<String>,
    ) -> String {
        let font = self.of(weight);
        let (mut line, mut used) = (String::new(), 0.0);
        for c in word.chars() {
            let wide = font.advance(c) * size;
            if used + wide > width_max && !line.is_empty() {
                lines.push(std::mem::take(&mut line));
                used = 0.0;
            }
            line.push(c);
            used += wide;
        }
        line
    }
}

impl Font {
    fn open(data: &'static [u8], name: &'static str) -> Result<Self, Unset> {
        let face = Face::parse(data, 0).map_err(|error| Unset(format!("{name}: {error}")))?;
        Ok(Self {
            data,
            name,
            units: f32::from(face.units_per_em()),
            face,
        })
    }

    /// `None` for what is to be shown as a box.
    pub(crate) fn glyph(&self, c: char) -> Option<GlyphId> {
        self.face.glyph_index(plain(c))
    }

    /// In parts of the size.
    pub(crate) fn advance(&self, c: char) -> f32 {
        match self.glyph(c) {
            Some(glyph) => self.em(glyph),
            None => BOX_WIDTH,
        }
    }

    pub(crate) fn em(&self, glyph: GlyphId) -> f32 {
        f32::from(self.face.glyph_hor_advance(glyph).unwrap_or(0)) / self.units
    }

    /// Font units in thousandths, as PDF counts them.
    pub(crate) fn thousandths(&self, units: i16) -> f32 {
        f32::from(units) * 1_000.0 / self.units
    }
}

/// White space has no sign of its own in a line.
fn plain(c: char) -> char {
    match c {
        '\t' | '\u{a0}' | '\u{2007}' | '\u{202f}' => ' ',
        c => c,
    }
}
