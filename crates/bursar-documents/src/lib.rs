//! Sets a letter as PDF: sender, address, a title, paragraphs, tables and page numbers, on as many pages as it takes.
//!
//! The same letter is always the same bytes. Fonts are embedded, reduced to the characters that are used. A character
//! that they lack is shown as a box, and its code is named at the end.

mod font;
mod layout;
#[cfg(test)]
mod tests;
mod write;

/// A letter on A4 paper.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Letter {
    /// As HTML names it: `en`.
    pub language: String,
    pub title: String,
    /// The first line is the name.
    pub sender: Vec<String>,
    /// The address block.
    pub recipient: Vec<String>,
    /// Beside the address: a word and its value.
    pub facts: Vec<(String, String)>,
    pub blocks: Vec<Block>,
    /// At the foot of each page. `{page}` and `{pages}` are filled in.
    pub footer: String,
    /// Says what the boxes are. `{codes}` is filled in.
    pub missing: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    Paragraph(String),
    Heading(String),
    Table(Table),
    /// In a frame, never across pages.
    Frame(Frame),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The first column that is not for numbers takes the width that the others leave.
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub heading: String,
    pub align: Align,
    /// Takes the width that the others leave, and breaks its lines.
    pub is_wide: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub cells: Vec<Cell>,
    pub is_bold: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    pub text: String,
    /// Smaller and grey, below the text.
    pub below: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    pub heading: String,
    pub paragraphs: Vec<String>,
    pub facts: Vec<(String, String)>,
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, below: None }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

/// The PDF of a letter.
pub fn pdf(letter: &Letter) -> Result<Vec<u8>, Unset> {
    let fonts = font::Fonts::open()?;
    let pages = layout::pages(letter, &fonts);
    write::pdf(letter, &pages, &fonts)
}

/// An embedded font cannot be used. It never happens with the fonts of this crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unset(pub String);

impl std::fmt::Display for Unset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the document cannot be set: {}", self.0)
    }
}

impl std::error::Error for Unset {}
