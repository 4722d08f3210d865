//! Files that were cut off, damaged, or made to do harm.

use bursar_statements::testing::Writing;
use bursar_statements::{Balance, FILE_BYTES_MAX, LINES_MAX, Statement, read};
use bursar_testing::seed;
use fastrand::Rng;

use crate::round_trip::plain_line;
use crate::{euros, refusal};

#[test]
fn entities_and_document_types_are_refused() {
    let laughs = "<?xml version=\"1.0\"?>\n<!DOCTYPE lolz [<!ENTITY lol \"lol\"><!ENTITY lol2 \"&lol;&lol;\">]>\n\
                  <Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.02\"><BkToCstmrStmt>&lol2;</BkToCstmrStmt></Document>";
    assert!(refusal(laughs).starts_with("line 2: the file has a document type declaration"));
    let entity = laughs
        .lines()
        .filter(|line| !line.contains("DOCTYPE"))
        .collect::<Vec<_>>()
        .join("\n");
    assert_eq!(
        refusal(&entity),
        "line 2: the entity \"lol2\" is not allowed; only those of XML itself are"
    );
}

#[test]
fn depth_and_size_are_bounded() {
    let deep = format!("<BkToCstmrStmt>{}", "<a>".repeat(1_000_000));
    assert!(refusal(&deep).contains("nested more than 64 deep"));
    let attributes: String = (0..100_000).map(|at| format!(" a{at}=\"\"")).collect();
    assert!(refusal(&format!("<BkToCstmrStmt{attributes}/>")).contains("more than 50 attributes"));
    let text = format!("<BkToCstmrStmt>{}</BkToCstmrStmt>", "a".repeat(2 << 20));
    assert!(refusal(&text).contains("more than 1048576 bytes"));
    let long = format!("Date;Amount\n2026-01-31;{}\n", "1".repeat(2 << 20));
    assert_eq!(refusal(&long), "line 2: the line has more than 1048576 bytes");
    let long = format!(":20:a\n:86:{}\n", "1".repeat(2 << 20));
    assert_eq!(refusal(&long), "line 2: the line has more than 1048576 bytes");
    let many = format!("Date;Amount\n{}", "2026-01-31;1\n".repeat(LINES_MAX + 1));
    assert_eq!(
        refusal(&many),
        "line 200002: the file has more than 200000 lines; export a shorter period"
    );
    let large = vec![b'a'; FILE_BYTES_MAX + 1];
    let refusal = read(&large, None, &euros()).unwrap_err().to_string();
    assert!(
        refusal.contains("at most 67108864 are read; export a shorter period"),
        "{refusal}"
    );
}

fn valid(writing: Writing) -> Vec<u8> {
    let statement = Statement {
        opening: Some(Balance {
            day: None,
            amount: 100,
        }),
        lines: (0..3).map(plain_line).collect(),
        ..Statement::default()
    };
    writing.write(&statement, &euros())
}

#[test]
fn no_beginning_of_a_file_is_taken_for_a_file() {
    // A table has no end that could be missing.
    for writing in Writing::ALL
        .into_iter()
        .filter(|writing| *writing != Writing::Csv)
    {
        let bytes = valid(writing);
        let whole = read(&bytes, None, &euros()).unwrap();
        for end in 0..bytes.len() {
            // What is read from a file that lacks only its last characters is all of it.
            if let Ok(part) = read(&bytes[..end], Some(writing.format()), &euros()) {
                assert_eq!(part, whole, "{writing:?} cut off at {end}");
            }
        }
    }
}

#[test]
fn damaged_files_are_read_or_refused_and_nothing_else() {
    let mut random = Rng::with_seed(seed());
    let rounds = if bursar_testing::is_full() { 20_000 } else { 300 };
    for writing in Writing::ALL {
        let bytes = valid(writing);
        for _ in 0..rounds {
            let mut damaged = bytes.clone();
            for _ in 0..random.usize(1..6) {
                damage(&mut damaged, &mut random);
            }
            // Either answer is right; a panic fails the test.
            let _ = read(&damaged, None, &euros());
            let _ = read(&damaged, Some(writing.format()), &euros());
        }
    }
}

/// Changes a few bytes, repeats or removes a stretch, or writes something that has a meaning in one of the formats.
fn damage(bytes: &mut Vec<u8>, random: &mut Rng) {
    const WORDS: [&[u8]; 16] = [
        b"<",
        b">",
        b"&",
        b":61:",
        b":86:",
        b"\n",
        b"?20",
        b"\"",
        b";",
        b",",
        b"-",
        b"99999999999999999999",
        b"</",
        b"\0",
        b"\xff",
        b"\xc3\xa4",
    ];
    let length = bytes.len();
    let from = random.usize(0..=length);
    let to = (from + random.usize(0..40)).min(length);
    match random.u8(0..5) {
        0 if from < length => bytes[from] = random.u8(..),
        1 => drop(bytes.drain(from..to)),
        2 => {
            let stretch = bytes[from..to].to_vec();
            let at = random.usize(0..=length);
            bytes.splice(at..at, stretch);
        }
        3 => bytes.truncate(from),
        _ => {
            let word = WORDS[random.usize(0..WORDS.len())];
            bytes.splice(from..from, word.iter().copied());
        }
    }
}
