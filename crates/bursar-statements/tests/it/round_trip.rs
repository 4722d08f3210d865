//! What is written in a format is read from it.

use bursar_statements::testing::Writing;
use bursar_statements::{Balance, Column, Line, Options, Statement, read};
use jiff::ToSpan;
use jiff::civil::date;
use proptest::prelude::*;

/// One of many lines that differ.
pub(crate) fn plain_line(number: i64) -> Line {
    let day = date(2026, 1, 1) + (number % 300).days();
    Line {
        day,
        value_day: Some(day),
        amount: (number + 1) * 125 * if number % 3 == 0 { -1 } else { 1 },
        reference: Some(format!("B{number}")),
        end_to_end: Some(format!("E2E-{number}")),
        counterparty_name: Some(format!("Payer {number} & Söhne")),
        counterparty_account: Some(format!("DE{number:020}")),
        text: format!("Dues 2026 no. {number}"),
        place: 0,
    }
}

/// Words of characters that every format has a place for.
fn words(most: usize) -> impl Strategy<Value = String> {
    let word = "[A-Za-z0-9äöüßéñ.,()&'<>/-]{1,12}";
    proptest::collection::vec(word, 1..most).prop_map(|words| words.join(" "))
}

fn line(amount: std::ops::Range<i64>) -> impl Strategy<Value = Line> {
    (
        (0..700_i64, proptest::option::of(-3..4_i64)),
        amount.prop_filter("an amount that moves money", |amount| *amount != 0),
        proptest::option::of("[A-Z][A-Z0-9]{1,15}"),
        proptest::option::of("[A-Z][A-Z0-9-]{1,30}"),
        proptest::option::of("[A-Z][a-zäöü]{1,10}( [A-Z][a-zß]{1,10}){0,2}"),
        proptest::option::of("[A-Z]{2}[0-9]{10,20}"),
        words(16),
    )
        .prop_map(
            |((day, value_day), amount, reference, end_to_end, name, account, text)| {
                let day = date(2024, 6, 1) + day.days();
                Line {
                    day,
                    value_day: value_day.map(|later| day + later.days()),
                    amount,
                    reference,
                    end_to_end,
                    counterparty_name: name,
                    counterparty_account: account,
                    text,
                    place: 0,
                }
            },
        )
}

fn statement() -> impl Strategy<Value = Statement> {
    let lines = proptest::collection::vec(line(-10_000_000..10_000_000), 0..8);
    (lines, -5_000..5_000_i64).prop_map(|(lines, opening)| Statement {
        account: Some("DE02120300000000202051".to_owned()),
        currency: Some("EUR".to_owned()),
        id: Some("17".to_owned()),
        opening: Some(Balance {
            day: Some(date(2026, 1, 1)),
            amount: opening,
        }),
        closing: None,
        lines,
    })
}

/// Columns from text in which fields end with a space.
fn mapping(text: &str) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    let mut name = String::new();
    for word in text.split(' ') {
        name.push_str(word);
        if word.contains('=') {
            columns.push(name.parse().unwrap());
            name.clear();
        } else {
            name.push(' ');
        }
    }
    columns
}

proptest! {
    #[test]
    fn lines_come_back_from_every_format(statement in statement(), decimals in prop::sample::select(vec![0, 2, 3])) {
        let currency = match decimals { 0 => "JPY", 2 => "EUR", _ => "KWD" };
        let mut options = Options { currency: currency.to_owned(), decimals, columns: Vec::new() };
        for writing in Writing::ALL {
            let bytes = writing.write(&statement, &options);
            if decimals == 3 && writing == Writing::Csv {
                // `1,234` can be more than a thousand there; nothing but a mapping tells.
                let columns = "Booking date=date Value date=valueDate Name=name IBAN=account Purpose=text \
                               Bank reference=reference Amount=amount:comma";
                options.columns = mapping(columns);
            }
            let shown = String::from_utf8_lossy(&bytes);
            let file = read(&bytes, None, &options).map_err(|problem| {
                TestCaseError::fail(format!("{writing:?}: {problem}\n{shown}"))
            })?;
            prop_assert_eq!(file.format, writing.format());
            let mut found = file.statements[0].lines.clone();
            found.iter_mut().for_each(|line| line.place = 0);
            let expected: Vec<Line> = statement.lines.iter().map(|line| writing.carried(line)).collect();
            prop_assert_eq!(found, expected, "{:?}\n{}", writing, shown);
        }
    }
}
