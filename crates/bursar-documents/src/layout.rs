//! Where everything of a letter is. Lengths are in points, from the top left of a page.

use std::collections::BTreeSet;

use crate::font::{Fonts, Weight};
use crate::{Align, Block, Cell, Frame, Letter, Row, Table};

pub(crate) const PAGE_WIDTH: f32 = 595.28;
pub(crate) const PAGE_HEIGHT: f32 = 841.89;

const LEFT: f32 = 62.0;
const RIGHT: f32 = PAGE_WIDTH - 56.0;
const WIDTH: f32 = RIGHT - LEFT;
const TOP: f32 = 56.0;
/// Text ends here; the footer is below.
const BOTTOM: f32 = PAGE_HEIGHT - 76.0;
const FOOTER: f32 = PAGE_HEIGHT - 42.0;
/// The address is where a window envelope shows it: 45 mm from the top.
const ADDRESS: f32 = 138.0;
/// Beside the address.
const FACTS: f32 = 340.0;

const SIZE: f32 = 9.5;
const LINE: f32 = 13.5;
const SMALL: f32 = 8.0;
const SMALL_LINE: f32 = 11.0;
const TITLE: f32 = 17.0;
const NAME: f32 = 12.5;

/// Between columns.
const GAP: f32 = 14.0;
/// Above and below the text of a row.
const PADDING: f32 = 3.6;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ink {
    Black,
    Grey,
    Pale,
    Ground,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Mark {
    Text {
        x: f32,
        /// The base line.
        y: f32,
        weight: Weight,
        size: f32,
        ink: Ink,
        text: String,
    },
    Line {
        from: f32,
        to: f32,
        y: f32,
        thick: f32,
        ink: Ink,
    },
    Fill {
        x: f32,
        y: f32,
        width: f32,
        height: f32,
    },
}

pub(crate) type Page = Vec<Mark>;

pub(crate) fn pages(letter: &Letter, fonts: &Fonts) -> Vec<Page> {
    let mut setter = Setter {
        fonts,
        pages: vec![Page::new()],
        y: 0.0,
    };
    setter.head(letter);
    for block in &letter.blocks {
        match block {
            Block::Paragraph(text) => setter.paragraph(text),
            Block::Heading(text) => setter.heading(text),
            Block::Table(table) => setter.table(table),
            Block::Frame(frame) => setter.frame(frame),
        }
    }
    setter.name_missing(letter);
    setter.footers(letter);
    setter.pages
}

struct Setter<'a> {
    fonts: &'a Fonts,
    pages: Vec<Page>,
    /// Where the next thing begins.
    y: f32,
}

/// How a text looks.
#[derive(Clone, Copy)]
struct Look {
    weight: Weight,
    size: f32,
    ink: Ink,
}

const PLAIN: Look = Look {
    weight: Weight::Regular,
    size: SIZE,
    ink: Ink::Black,
};
const STRONG: Look = Look {
    weight: Weight::Bold,
    ..PLAIN
};
const QUIET: Look = Look {
    size: SMALL,
    ink: Ink::Grey,
    ..PLAIN
};

impl Setter<'_> {
    fn mark(&mut self, mark: Mark) {
        match self.pages.last_mut() {
            Some(page) => page.push(mark),
            None => self.pages.push(vec![mark]),
        }
    }

    fn text(&mut self, x: f32, y: f32, look: Look, text: &str) {
        let Look { weight, size, ink } = look;
        if !text.is_empty() {
            let text = text.to_owned();
            self.mark(Mark::Text {
                x,
                y,
                weight,
                size,
                ink,
                text,
            });
        }
    }

    fn text_to(&mut self, right: f32, y: f32, look: Look, text: &str) {
        let width = self.fonts.width(text, look.weight, look.size);
        self.text(right - width, y, look, text);
    }

    fn lines(&self, text: &str, look: Look, width: f32) -> Vec<String> {
        self.fonts.lines(text, look.weight, look.size, width)
    }

    fn line(&mut self, y: f32, thick: f32, ink: Ink) {
        self.mark(Mark::Line {
            from: LEFT,
            to: RIGHT,
            y,
            thick,
            ink,
        });
    }

    fn new_page(&mut self) {
        self.pages.push(Page::new());
        self.y = TOP;
    }

    /// Begins a page if this much does not fit on the present one.
    fn need(&mut self, height: f32) -> bool {
        let is_new = self.y + height > BOTTOM && self.y > TOP;
        if is_new {
            self.new_page();
        }
        is_new
    }

    /// Sender, address, facts and title.
    fn head(&mut self, letter: &Letter) {
        let mut y = TOP;
        for (n, text) in letter.sender.iter().enumerate() {
            let look = match n {
                0 => Look { size: NAME, ..STRONG },
                _ => QUIET,
            };
            for line in self.lines(text, look, WIDTH) {
                self.text(LEFT, y, look, &line);
                y += if n == 0 { LINE + 2.0 } else { SMALL_LINE };
            }
        }
        self.line(y - 2.0, 0.8, Ink::Pale);
        let top = ADDRESS.max(y + 24.0);
        let mut address = top;
        for text in &letter.recipient {
            for line in self.lines(text, PLAIN, FACTS - LEFT - GAP) {
                self.text(LEFT, address, PLAIN, &line);
                address += LINE;
            }
        }
        let words = letter
            .facts
            .iter()
            .map(|(word, _)| self.fonts.width(word, Weight::Regular, SMALL));
        let column = FACTS + words.fold(0.0, f32::max) + 10.0;
        let mut facts = top;
        for (word, value) in &letter.facts {
            self.text(FACTS, facts, QUIET, word);
            for line in self.lines(value, PLAIN, RIGHT - column) {
                self.text(column, facts, PLAIN, &line);
                facts += LINE;
            }
        }
        self.y = address.max(facts) + 34.0;
        let look = Look {
            size: TITLE,
            ..STRONG
        };
        for line in self.lines(&letter.title, look, WIDTH) {
            self.text(LEFT, self.y, look, &line);
            self.y += TITLE * 1.3;
        }
        self.y += 2.0;
    }

    fn paragraph(&mut self, text: &str) {
        for line in self.lines(text, PLAIN, WIDTH) {
            self.need(LINE);
            self.y += LINE;
            self.text(LEFT, self.y - 3.5, PLAIN, &line);
        }
        self.y += 7.0;
    }

    /// Never at the foot of a page.
    fn heading(&mut self, text: &str) {
        self.need(6.0 * LINE);
        self.y += 12.0;
        let look = Look { size: 11.0, ..STRONG };
        for line in self.lines(text, look, WIDTH) {
            self.y += LINE;
            self.text(LEFT, self.y - 3.0, look, &line);
        }
        self.y += 4.0;
    }

    fn table(&mut self, table: &Table) {
        let columns = self.columns(table);
        self.need(4.0 * LINE);
        self.table_head(table, &columns);
        for row in &table.rows {
            let height = self.height(row, &columns);
            if self.need(height) {
                self.table_head(table, &columns);
            }
            self.row(row, &columns, height);
        }
        self.y += 10.0;
    }

    /// Left, right and alignment of each column.
    fn columns(&self, table: &Table) -> Vec<(f32, f32, Align)> {
        let width = |(n, column): (usize, &crate::Column)| {
            let cells = table.rows.iter().filter_map(|row| {
                let cell = row.cells.get(n)?;
                let weight = if row.is_bold {
                    Weight::Bold
                } else {
                    Weight::Regular
                };
                Some(self.fonts.width(&cell.text, weight, SIZE))
            });
            let heading = self.fonts.width(&column.heading, Weight::Bold, SMALL);
            if column.is_wide {
                0.0
            } else {
                cells.fold(heading, f32::max)
            }
        };
        let widths: Vec<f32> = table.columns.iter().enumerate().map(width).collect();
        #[expect(clippy::cast_precision_loss, reason = "a table has few columns")]
        let gaps = GAP * widths.len().saturating_sub(1) as f32;
        let rest = (WIDTH - gaps - widths.iter().sum::<f32>()).max(90.0);
        let mut x = LEFT;
        let mut columns = Vec::with_capacity(widths.len());
        for (column, width) in table.columns.iter().zip(widths) {
            let width = if column.is_wide { rest } else { width };
            columns.push((x, x + width, column.align));
            x += width + GAP;
        }
        columns
    }

    fn table_head(&mut self, table: &Table, columns: &[(f32, f32, Align)]) {
        let look = Look {
            weight: Weight::Bold,
            ..QUIET
        };
        self.y += 16.0;
        for (column, place) in table.columns.iter().zip(columns) {
            self.in_column(*place, self.y - 5.0, look, &column.heading);
        }
        self.line(self.y, 0.9, Ink::Grey);
    }

    fn in_column(&mut self, (left, right, align): (f32, f32, Align), y: f32, look: Look, text: &str) {
        match align {
            Align::Left => self.text(left, y, look, text),
            Align::Right => self.text_to(right, y, look, text),
        }
    }

    /// The lines of a cell, and those below in small.
    fn cell(&self, cell: &Cell, is_bold: bool, (left, right, _): (f32, f32, Align)) -> [Vec<String>; 2] {
        let width = right - left + 0.1;
        let look = if is_bold { STRONG } else { PLAIN };
        let below = cell.below.as_deref().unwrap_or_default();
        [
            self.lines(&cell.text, look, width),
            self.lines(below, QUIET, width),
        ]
    }

    #[expect(clippy::cast_precision_loss, reason = "a cell has few lines")]
    fn height(&self, row: &Row, columns: &[(f32, f32, Align)]) -> f32 {
        let cells = row.cells.iter().zip(columns).map(|(cell, place)| {
            let [text, below] = self.cell(cell, row.is_bold, *place);
            text.len().max(1) as f32 * LINE + below.len() as f32 * SMALL_LINE
        });
        cells.fold(LINE, f32::max) + 2.0 * PADDING
    }

    fn row(&mut self, row: &Row, columns: &[(f32, f32, Align)], height: f32) {
        let look = if row.is_bold { STRONG } else { PLAIN };
        for (cell, place) in row.cells.iter().zip(columns) {
            let [text, below] = self.cell(cell, row.is_bold, *place);
            let mut y = self.y + PADDING;
            for line in text {
                y += LINE;
                self.in_column(*place, y - 3.5, look, &line);
            }
            for line in below {
                y += SMALL_LINE;
                self.in_column(*place, y - 3.0, QUIET, &line);
            }
        }
        self.y += height;
        let ink = if row.is_bold { Ink::Grey } else { Ink::Pale };
        self.line(self.y, 0.5, ink);
    }

    fn frame(&mut self, frame: &Frame) {
        const INSIDE: f32 = 12.0;
        let width = WIDTH - 2.0 * INSIDE;
        let words = frame
            .facts
            .iter()
            .map(|(word, _)| self.fonts.width(word, Weight::Regular, SIZE));
        let column = LEFT + INSIDE + words.fold(0.0, f32::max) + 16.0;
        let paragraphs: Vec<String> = frame
            .paragraphs
            .iter()
            .flat_map(|text| self.lines(text, PLAIN, width))
            .collect();
        #[expect(clippy::cast_precision_loss, reason = "a frame has few lines")]
        let height = (paragraphs.len() + frame.facts.len() + 1) as f32 * LINE + 2.0 * INSIDE + 9.0;
        self.y += 8.0;
        self.need(height);
        self.mark(Mark::Fill {
            x: LEFT,
            y: self.y,
            width: WIDTH,
            height,
        });
        let mut y = self.y + INSIDE + 9.0;
        self.text(LEFT + INSIDE, y, STRONG, &frame.heading);
        y += 4.0;
        for line in paragraphs {
            y += LINE;
            self.text(LEFT + INSIDE, y, PLAIN, &line);
        }
        y += 5.0;
        for (word, value) in &frame.facts {
            y += LINE;
            self.text(LEFT + INSIDE, y, PLAIN, word);
            self.text(column, y, STRONG, value);
        }
        self.y += height + 10.0;
    }

    /// Names the characters that are shown as boxes.
    fn name_missing(&mut self, letter: &Letter) {
        let texts = self.pages.iter().flatten().filter_map(|mark| match mark {
            Mark::Text { text, .. } => Some(text),
            Mark::Line { .. } | Mark::Fill { .. } => None,
        });
        let lacking: BTreeSet<char> = texts
            .flat_map(|text| text.chars())
            .filter(|c| self.fonts.lacks(*c))
            .collect();
        if lacking.is_empty() {
            return;
        }
        let codes: Vec<String> = lacking
            .iter()
            .map(|c| format!("U+{:04X}", u32::from(*c)))
            .collect();
        let note = letter.missing.replace("{codes}", &codes.join(", "));
        self.y += 4.0;
        for line in self.lines(&note, QUIET, WIDTH) {
            self.need(SMALL_LINE);
            self.y += SMALL_LINE;
            self.text(LEFT, self.y, QUIET, &line);
        }
    }

    fn footers(&mut self, letter: &Letter) {
        let count = self.pages.len();
        let sender = letter.sender.first().cloned().unwrap_or_default();
        for n in 0..count {
            let page_of = letter.footer.replace("{page}", &(n + 1).to_string());
            let page_of = page_of.replace("{pages}", &count.to_string());
            let width = self.fonts.width(&page_of, Weight::Regular, SMALL);
            let title = match n {
                0 => sender.clone(),
                _ => format!("{sender} · {}", letter.title),
            };
            let title = self.lines(&title, QUIET, WIDTH - width - GAP).into_iter().next();
            let mut text = |x: f32, text: String| {
                self.pages[n].push(Mark::Text {
                    x,
                    y: FOOTER,
                    weight: Weight::Regular,
                    size: SMALL,
                    ink: Ink::Grey,
                    text,
                });
            };
            text(LEFT, title.unwrap_or_default());
            text(RIGHT - width, page_of);
        }
    }
}
