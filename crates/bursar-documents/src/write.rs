//! The bytes of a PDF.

use std::collections::BTreeMap;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use subsetter::GlyphRemapper;

use crate::font::{BOX_WIDTH, Font, Fonts, Weight};
use crate::layout::{Ink, Mark, PAGE_HEIGHT, PAGE_WIDTH, Page};
use crate::{Letter, Unset};

const INFO: SystemInfo<'_> = SystemInfo {
    registry: Str(b"Adobe"),
    ordering: Str(b"Identity"),
    supplement: 0,
};
const CATALOG: i32 = 1;
const TREE: i32 = 2;
const ABOUT: i32 = 3;
/// Each font takes five.
const FONTS: i32 = 10;
/// Each page takes two.
const PAGES: i32 = 30;

/// The glyphs of a font that are used, with their new numbers.
struct Used<'a> {
    font: &'a Font,
    name: &'static [u8],
    id: i32,
    mapper: GlyphRemapper,
    /// By the new number.
    characters: BTreeMap<u16, char>,
}

impl<'a> Used<'a> {
    fn new(font: &'a Font, name: &'static [u8], id: i32) -> Self {
        Self {
            font,
            name,
            id,
            mapper: GlyphRemapper::new(),
            characters: BTreeMap::new(),
        }
    }
}

pub(crate) fn pdf(letter: &Letter, pages: &[Page], fonts: &Fonts) -> Result<Vec<u8>, Unset> {
    let mut used = [
        Used::new(fonts.of(Weight::Regular), b"R", FONTS),
        Used::new(fonts.of(Weight::Bold), b"B", FONTS + 5),
    ];
    let contents: Vec<Vec<u8>> = pages.iter().map(|page| content(page, &mut used)).collect();
    let mut pdf = Pdf::new();
    let mut catalog = pdf.catalog(Ref::new(CATALOG));
    catalog.pages(Ref::new(TREE)).lang(TextStr(&letter.language));
    catalog.viewer_preferences().display_doc_title(true);
    catalog.finish();
    let mut about = pdf.document_info(Ref::new(ABOUT));
    about.title(TextStr(&letter.title)).creator(TextStr("bursar"));
    if let Some(author) = letter.sender.first() {
        about.author(TextStr(author));
    }
    about.finish();
    let ids: Vec<(Ref, Ref)> = (PAGES..)
        .step_by(2)
        .take(pages.len())
        .map(|id| (Ref::new(id), Ref::new(id + 1)))
        .collect();
    let count = i32::try_from(ids.len()).unwrap_or(i32::MAX);
    pdf.pages(Ref::new(TREE))
        .kids(ids.iter().map(|(page, _)| *page))
        .count(count);
    for ((id, content_id), content) in ids.into_iter().zip(contents) {
        let mut page = pdf.page(id);
        page.parent(Ref::new(TREE))
            .media_box(Rect::new(0.0, 0.0, PAGE_WIDTH, PAGE_HEIGHT))
            .contents(content_id);
        let mut resources = page.resources();
        let mut names = resources.fonts();
        for font in &used {
            names.pair(Name(font.name), Ref::new(font.id));
        }
        names.finish();
        resources.finish();
        page.finish();
        pdf.stream(content_id, &deflated(&content)?)
            .filter(Filter::FlateDecode);
    }
    for font in &used {
        embed(&mut pdf, font)?;
    }
    Ok(pdf.finish())
}

fn deflated(bytes: &[u8]) -> Result<Vec<u8>, Unset> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.map_err(|error| Unset(error.to_string()))
}

fn content(page: &Page, used: &mut [Used<'_>; 2]) -> Vec<u8> {
    let mut content = Content::new();
    for mark in page {
        match mark {
            Mark::Fill { x, y, width, height } => {
                fill(&mut content, Ink::Ground);
                content
                    .rect(*x, PAGE_HEIGHT - y - height, *width, *height)
                    .fill_nonzero();
            }
            Mark::Line {
                from,
                to,
                y,
                thick,
                ink,
            } => {
                let [red, green, blue] = colour(*ink);
                content.set_stroke_rgb(red, green, blue).set_line_width(*thick);
                content
                    .move_to(*from, PAGE_HEIGHT - y)
                    .line_to(*to, PAGE_HEIGHT - y)
                    .stroke();
            }
            Mark::Text {
                x,
                y,
                weight,
                size,
                ink,
                text,
            } => {
                fill(&mut content, *ink);
                let font = match weight {
                    Weight::Regular => &mut used[0],
                    Weight::Bold => &mut used[1],
                };
                show(&mut content, font, (*x, PAGE_HEIGHT - y), *size, text);
            }
        }
    }
    content.finish().into_vec()
}

fn fill(content: &mut Content, ink: Ink) {
    let [red, green, blue] = colour(ink);
    content
        .set_fill_rgb(red, green, blue)
        .set_stroke_rgb(red, green, blue);
}

fn colour(ink: Ink) -> [f32; 3] {
    match ink {
        Ink::Black => [0.1, 0.1, 0.12],
        Ink::Grey => [0.42, 0.43, 0.46],
        Ink::Pale => [0.8, 0.81, 0.83],
        Ink::Ground => [0.952, 0.957, 0.965],
    }
}

/// Runs of characters that the font has, and boxes for the others, which keep their character for copying.
fn show(content: &mut Content, used: &mut Used<'_>, (mut x, y): (f32, f32), size: f32, text: &str) {
    let mut run = Vec::new();
    let mut from = x;
    for c in text.chars() {
        if let Some(glyph) = used.font.glyph(c) {
            let new = used.mapper.remap(glyph.0);
            used.characters.entry(new).or_insert(c);
            run.extend(new.to_be_bytes());
            x += used.font.em(glyph) * size;
            continue;
        }
        show_run(content, used.name, (from, y), size, &mut run);
        let width = BOX_WIDTH * size;
        let mut marked = content.begin_marked_content_with_properties(Name(b"Span"));
        marked
            .properties()
            .actual_text(TextStr(c.encode_utf8(&mut [0; 4])));
        marked.finish();
        content.set_line_width(size * 0.06);
        content
            .rect(x + width * 0.12, y, width * 0.76, size * 0.68)
            .stroke();
        content.end_marked_content();
        x += width;
        from = x;
    }
    show_run(content, used.name, (from, y), size, &mut run);
}

fn show_run(content: &mut Content, font: &[u8], (x, y): (f32, f32), size: f32, run: &mut Vec<u8>) {
    if run.is_empty() {
        return;
    }
    content
        .begin_text()
        .set_font(Name(font), size)
        .next_line(x, y)
        .show(Str(run))
        .end_text();
    run.clear();
}

fn embed(pdf: &mut Pdf, used: &Used<'_>) -> Result<(), Unset> {
    let font = used.font;
    // A subset is marked by six letters.
    let name = format!("BURSAR+{}", font.name);
    let name = Name(name.as_bytes());
    let [outer, inner, descriptor, file, unicode] = [0, 1, 2, 3, 4].map(|n| Ref::new(used.id + n));
    let mut outer = pdf.type0_font(outer);
    outer
        .base_font(name)
        .encoding_predefined(Name(b"Identity-H"))
        .descendant_font(inner)
        .to_unicode(unicode);
    outer.finish();
    let mut cid = pdf.cid_font(inner);
    cid.subtype(CidFontType::Type2)
        .base_font(name)
        .system_info(INFO)
        .font_descriptor(descriptor);
    cid.default_width(0.0)
        .cid_to_gid_map_predefined(Name(b"Identity"));
    let widths = used
        .mapper
        .remapped_gids()
        .map(|glyph| font.em(ttf_parser::GlyphId(glyph)) * 1_000.0);
    cid.widths().consecutive(0, widths);
    cid.finish();
    let bounds = font.face.global_bounding_box();
    let bounds =
        [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(|units| font.thousandths(units));
    let mut about = pdf.font_descriptor(descriptor);
    about
        .name(name)
        .flags(FontFlags::NON_SYMBOLIC)
        .italic_angle(0.0)
        .stem_v(80.0);
    about.bbox(Rect::new(bounds[0], bounds[1], bounds[2], bounds[3]));
    about
        .ascent(font.thousandths(font.face.ascender()))
        .descent(font.thousandths(font.face.descender()));
    about.cap_height(font.thousandths(font.face.capital_height().unwrap_or(font.face.ascender())));
    about.font_file2(file);
    about.finish();
    let subset = subsetter::subset(font.data, 0, &used.mapper);
    let subset = subset.map_err(|error| Unset(format!("{}: {error}", font.name)))?;
    pdf.stream(file, &deflated(&subset)?).filter(Filter::FlateDecode);
    let mut map = UnicodeCmap::<u16>::new(Name(b"Custom"), INFO);
    for (glyph, character) in &used.characters {
        map.pair(*glyph, *character);
    }
    pdf.stream(unicode, &deflated(&map.finish().into_vec())?)
        .filter(Filter::FlateDecode);
    Ok(())
}
