use crate::font::{Fonts, Weight};
use crate::layout::{Mark, PAGE_HEIGHT, PAGE_WIDTH, Page, pages};
use crate::{Align, Block, Cell, Column, Frame, Letter, Row, Table, pdf};

fn letter(rows: usize, name: &str) -> Letter {
    let column = |heading: &str, align, is_wide| Column {
        heading: heading.to_owned(),
        align,
        is_wide,
    };
    let row = |n: usize| Row {
        cells: vec![
            "2026-01-31".into(),
            Cell {
                text: format!("Membership dues of the year, instalment {n}"),
                below: Some("Reference RF18 5390 0754 7034".to_owned()),
            },
            format!("{n}25.00").into(),
        ],
        is_bold: n + 1 == rows,
    };
    Letter {
        language: "en".to_owned(),
        title: "Statement".to_owned(),
        sender: vec!["Ruderclub Zürich".to_owned(), "kasse@example.org".to_owned()],
        recipient: vec![name.to_owned()],
        facts: vec![("Date".to_owned(), "2026-11-15".to_owned())],
        blocks: vec![
            Block::Heading("Charges".to_owned()),
            Block::Table(Table {
                columns: vec![
                    column("Date", Align::Left, false),
                    column("What", Align::Left, true),
                    column("Amount", Align::Right, false),
                ],
                rows: (0..rows).map(row).collect(),
            }),
            Block::Frame(Frame {
                heading: "How to pay".to_owned(),
                paragraphs: vec!["To account 4711.".to_owned()],
                facts: vec![("Reference".to_owned(), "RF18".to_owned())],
            }),
            Block::Paragraph("Thank you.".to_owned()),
        ],
        footer: "Page {page} of {pages}".to_owned(),
        missing: "Boxes: {codes}.".to_owned(),
    }
}

fn texts(page: &Page) -> Vec<&str> {
    let mut texts = Vec::new();
    for mark in page {
        if let Mark::Text { text, .. } = mark {
            texts.push(text.as_str());
        }
    }
    texts
}

#[test]
fn a_long_table_goes_on_with_its_head_on_every_page() {
    let fonts = Fonts::open().unwrap();
    let set = pages(&letter(100, "Ann"), &fonts);
    assert!(set.len() > 3, "{}", set.len());
    let mut rows = 0;
    for (n, page) in set.iter().enumerate() {
        let texts = texts(page);
        assert!(texts.contains(&format!("Page {} of {}", n + 1, set.len()).as_str()));
        let of_table = texts.iter().filter(|text| text.starts_with("Membership")).count();
        assert_eq!(of_table > 0, texts.contains(&"Amount"), "{texts:?}");
        rows += of_table;
    }
    assert_eq!(rows, 100, "each row once");
}

#[test]
fn nothing_is_outside_of_the_page_and_amounts_end_at_one_line() {
    let fonts = Fonts::open().unwrap();
    for name in ["Ann", &"W".repeat(300), &"Word and ".repeat(100), "山田 太郎 🚣"] {
        let set = pages(&letter(40, name), &fonts);
        let mut ends = Vec::new();
        for mark in set.iter().flatten() {
            let Mark::Text {
                x,
                y,
                weight,
                size,
                text,
                ..
            } = mark
            else {
                continue;
            };
            let end = x + fonts.width(text, *weight, *size);
            assert!(
                *x > 50.0 && end < PAGE_WIDTH - 50.0 && *y > 40.0 && *y < PAGE_HEIGHT - 30.0,
                "{mark:?}"
            );
            if text.ends_with("25.00") {
                ends.push(end);
            }
        }
        assert_eq!(ends.len(), 40);
        assert!(ends.iter().all(|end| (end - ends[0]).abs() < 0.01), "{ends:?}");
    }
}

#[test]
fn what_the_fonts_lack_is_a_box_with_its_code() {
    let fonts = Fonts::open().unwrap();
    let set = pages(&letter(1, "Żółć Ünïcode Ωμέγα Жуков €"), &fonts);
    assert!(!texts(&set[0]).iter().any(|text| text.starts_with("Boxes")));
    let set = pages(&letter(1, "山田 and 山"), &fonts);
    assert!(texts(&set[0]).contains(&"Boxes: U+5C71, U+7530."));
    assert!(
        fonts.width("山", Weight::Regular, 10.0) > 5.0,
        "a box has a width"
    );
}

#[test]
fn the_same_letter_is_the_same_file() {
    let letter = letter(60, "山田 Łoś");
    let bytes = pdf(&letter).unwrap();
    assert!(bytes.starts_with(b"%PDF-") && bytes.ends_with(b"%%EOF"));
    assert!(bytes.len() < 60_000, "{}", bytes.len());
    assert_eq!(bytes, pdf(&letter).unwrap());
}
