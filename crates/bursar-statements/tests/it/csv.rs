//! CSV as banks export it.

use bursar_statements::{Format, Line, Options, Problem, StatementFile, read as read_bytes};

use crate::{day, euros, read, refusal};

fn mapped(text: &str, columns: &[&str]) -> Result<StatementFile, Problem> {
    let options = Options {
        columns: columns.iter().map(|column| column.parse().unwrap()).collect(),
        ..euros()
    };
    read_bytes(text.as_bytes(), Some(Format::Csv), &options)
}

/// Day and amount of each line.
fn found(file: &StatementFile) -> Vec<(String, i64)> {
    let lines = file.statements.iter().flat_map(|statement| &statement.lines);
    lines.map(|line| (line.day.to_string(), line.amount)).collect()
}

const GERMAN: &str = "\"Umsätze\";\"Konto DE02120300000000202051\"\n\nZeitraum: 01.01.2026 - 31.01.2026\n\
    Buchungstag;Wertstellung;Begünstigter/Zahlungspflichtiger;Kontonummer/IBAN;Verwendungszweck;Betrag (EUR);Währung\n\
    13.01.2026;14.01.2026;\"Müller; Anna\";DE89 3704 0044 0532 0130 00;\"Beitrag \"\"2026\"\"\nRF18539007547034\";1.250,50;EUR\n\
    02.01.2026;02.01.2026;Stadtwerke;;Strom;-80,00;EUR\n\
    \nKontostand;;;;;1.170,50;EUR\n";

#[test]
fn a_german_export() {
    let file = read(GERMAN).unwrap();
    let lines = &file.statements[0].lines;
    let expected = Line {
        day: day("2026-01-13"),
        value_day: Some(day("2026-01-14")),
        amount: 125_050,
        reference: None,
        end_to_end: None,
        counterparty_name: Some("Müller; Anna".to_owned()),
        counterparty_account: Some("DE89370400440532013000".to_owned()),
        text: "Beitrag \"2026\" RF18539007547034".to_owned(),
        place: 5,
    };
    assert_eq!(lines[0], expected);
    assert_eq!((lines.len(), lines[1].amount, lines[1].place), (2, -8000, 7));
    let columns: Vec<String> = file.columns.iter().map(ToString::to_string).collect();
    let used: Vec<&str> = columns.iter().map(String::as_str).collect();
    assert_eq!(
        used,
        [
            "Buchungstag=date:dmy",
            "Wertstellung=valueDate:dmy",
            "Betrag (EUR)=amount:comma",
            "Verwendungszweck=text",
            "Begünstigter/Zahlungspflichtiger=name",
            "Kontonummer/IBAN=account",
            "Währung=currency",
        ]
    );
    // What was used reads the file again.
    assert_eq!(mapped(GERMAN, &used).unwrap(), file);
}

#[test]
fn encodings_and_separators() {
    let expected = read(GERMAN).unwrap();
    let wide = |units: Vec<[u8; 2]>, mark: [u8; 2]| [mark.to_vec(), units.concat()].concat();
    let files = [
        [b"\xef\xbb\xbf", GERMAN.as_bytes()].concat(),
        GERMAN
            .chars()
            .map(|c| u8::try_from(u32::from(c)).unwrap())
            .collect(),
        wide(
            GERMAN.encode_utf16().map(u16::to_le_bytes).collect(),
            [0xff, 0xfe],
        ),
        wide(
            GERMAN.encode_utf16().map(u16::to_be_bytes).collect(),
            [0xfe, 0xff],
        ),
        GERMAN.replace('\n', "\r\n").into_bytes(),
    ];
    for bytes in files {
        assert_eq!(read_bytes(&bytes, None, &euros()), Ok(expected.clone()));
    }
    for separator in [",", ";", "\t", "|"] {
        let text = "Date;Amount;Memo\n2026-01-31;\"1,5\";a b\n".replace(';', separator);
        assert_eq!(
            found(&read(&text).unwrap()),
            [("2026-01-31".to_owned(), 150)],
            "{separator:?}"
        );
    }
}

#[test]
fn headers_in_five_languages() {
    for header in [
        "Transaction Date,Description,Amount",
        "Buchungsdatum,Buchungstext,Umsatz",
        "Fecha operación,Concepto,Importe",
        "Date opération,Libellé,Montant",
        "Boekdatum,Omschrijving,Bedrag (EUR)",
    ] {
        let file = read(&format!("{header}\n2026-01-31,Dues,12.50\n")).unwrap();
        let line = &file.statements[0].lines[0];
        assert_eq!((line.amount, &*line.text), (1250, "Dues"), "{header}");
    }
}

#[test]
fn directions_in_columns_of_their_own() {
    for (text, amounts) in [
        (
            "Date,Paid out,Paid in\n2026-01-31,5.00,\n2026-01-31,,7\n2026-01-31,-2,0.00\n",
            vec![-500, 700, -200],
        ),
        (
            "Datum;Bedrag;Af Bij\n20260131;5,00;Af\n20260131;7,00;Bij\n",
            vec![-500, 700],
        ),
        (
            "Datum;Umsatz;Soll/Haben\n31.01.2026;5,00;S\n31.01.2026;7,00;H\n",
            vec![-500, 700],
        ),
        (
            "Date,Amount,Debit/Credit\n2026-01-31,-5,Debit\n2026-01-31,7,Credit\n",
            vec![-500, 700],
        ),
    ] {
        let lines = found(&read(text).unwrap());
        assert_eq!(
            lines.iter().map(|(_, amount)| *amount).collect::<Vec<_>>(),
            amounts,
            "{text}"
        );
    }
    assert_eq!(
        refusal("Date,Paid out,Paid in\n2026-01-31,5.00,3\n"),
        "line 2: the row has a debit and a credit; one must be empty"
    );
    assert_eq!(
        refusal("Date,Amount,Debit/Credit\n2026-01-31,5.00,?\n"),
        "line 2: \"?\" does not say whether money came in or went out; use C or D"
    );
}

#[test]
fn dates_are_decided_from_the_whole_column() {
    for (dates, order) in [
        (["13/05/2026", "03/04/2026"], ["2026-05-13", "2026-04-03"]),
        (["03/04/2026", "05/13/2026"], ["2026-03-04", "2026-05-13"]),
        (["03.04.2026", "01.02.26"], ["2026-04-03", "2026-02-01"]),
        (["5 Jan 2026", "6 May 2026"], ["2026-01-05", "2026-05-06"]),
        (["05/05/2026", "06/06/2026"], ["2026-05-05", "2026-06-06"]),
    ] {
        let file = read(&format!("Date;Amount\n{};1\n{};2\n", dates[0], dates[1])).unwrap();
        let days: Vec<String> = found(&file).into_iter().map(|(day, _)| day).collect();
        assert_eq!(days, order);
    }
    let open = "Date;Amount\n03/04/2026;1\n05/05/2026;2\n";
    assert_eq!(
        refusal(open),
        "the dates in the column \"Date\" can be read with the day or the month first, such as \"03/04/2026\"; say which \
         with --map \"Date=date:dmy\" or --map \"Date=date:mdy\""
    );
    let said = mapped(open, &["Date=date:mdy", "Amount=amount"]).unwrap();
    assert_eq!(found(&said)[0].0, "2026-03-04");
    // Another column of the file tells.
    let told = "Date;Value date;Amount\n03/04/2026;13/04/2026;1\n";
    assert_eq!(found(&read(told).unwrap())[0].0, "2026-04-03");
    assert_eq!(
        refusal("Date;Amount\n13/05/2026;1\n05/13/2026;2\n"),
        "line 3: \"05/13/2026\" in the column \"Date\" is not a date; correct or remove the row"
    );
}

#[test]
fn decimal_marks_are_decided_from_the_whole_table() {
    let file = read("Date;Amount\n2026-01-31;1.234\n2026-01-31;-2,5\n").unwrap();
    assert_eq!(
        found(&file).iter().map(|(_, amount)| *amount).collect::<Vec<_>>(),
        [123_400, -250]
    );
    let dinars = Options {
        currency: "KWD".to_owned(),
        decimals: 3,
        columns: Vec::new(),
    };
    let open = read_bytes(b"Date;Amount\n2026-01-31;1.234\n", None, &dinars)
        .unwrap_err()
        .to_string();
    assert!(
        open.starts_with("line 2: \"1.234\" can be read with a decimal point or a decimal comma"),
        "{open}"
    );
    for (cell, reason) in [
        (
            "12,505",
            "line 3: \"12,505\" has 3 decimals, but EUR has 2; check the currency of the account",
        ),
        ("x", "line 3: \"x\" is not an amount; correct or remove the row"),
        (
            "USD 5,00",
            "line 3: the amounts are in \"USD\", but the account is kept in EUR; choose the account for this currency",
        ),
    ] {
        let text = format!("Date;Amount\n2026-01-31;10,50\n2026-01-31;{cell}\n");
        assert_eq!(refusal(&text), reason);
    }
}

#[test]
fn what_the_file_leaves_open_is_not_said_of_its_columns() {
    let columns = |text: &str| -> Vec<String> {
        let file = read(text).unwrap();
        file.columns.iter().map(ToString::to_string).collect()
    };
    // Both orders and both marks are the same here, but not in the next file.
    let open = "Date;Amount;Balance\n03/03/2026;10;20\n";
    assert_eq!(found(&read(open).unwrap()), [("2026-03-03".to_owned(), 1000)]);
    assert_eq!(columns(open), ["Date=date", "Amount=amount", "Balance=balance"]);
    let told = "Date;Amount;Balance\n13/03/2026;10;20,5\n";
    assert_eq!(
        columns(told),
        ["Date=date:dmy", "Amount=amount:comma", "Balance=balance:comma"]
    );
    // What was said stays, and what the other column leaves open tells nothing about this one.
    let said = mapped(open, &["Date=date:mdy", "Amount=amount:comma"]).unwrap();
    assert_eq!(said.columns[0].to_string(), "Date=date:mdy");
    assert_eq!(said.columns[1].to_string(), "Amount=amount:comma");
    let refusal = refusal("Date;Value date;Amount\n03/04/2026;04/04/2026;1\n");
    assert!(
        refusal.starts_with("the dates in the column \"Date\" can be read with the day or the month first"),
        "{refusal}"
    );
}

#[test]
fn columns_are_not_chosen_by_chance() {
    for (text, reason) in [
        // The account is in EUR.
        (
            "Date,Amount (USD)\n2026-01-31,1\n",
            "line 1: the columns for the date and the amount cannot be told from \"Date\", \"Amount (USD)\"",
        ),
        (
            "Date,Paid in ($)\n2026-01-31,1\n",
            "line 1: the columns for the date and the amount cannot be told",
        ),
        (
            "Date,Amount\n2026-01-31,$1\n",
            "line 2: the amounts are in \"$\", but the account is kept in EUR",
        ),
        (
            "Date,Amount,Amount\n2026-01-31,1,2\n",
            "there are two columns \"Amount\"; choose one by its place, such as --map \"#2=amount\" or --map \"#3=amount\"",
        ),
        (
            "Date,Amount,Debit,Credit\n2026-01-31,5.00,5.00,\n",
            "line 2: the amount is 5.00 EUR, but debit and credit make -5.00 EUR; map only the columns that are right",
        ),
        (
            "Date,Amount,Debit/Credit\n2026-01-31,-5.00,Credit\n",
            "line 2: \"Credit\" says that money came in, but the amount is -5.00 EUR",
        ),
        (
            "Date,Amount,Transaction Type\n2026-01-31,5.00,Credit\n2026-01-31,5.00,Debit\n",
            "line 3: \"Debit\" in the column \"Transaction Type\" says that money went out, but no amount has a sign",
        ),
    ] {
        let refusal = refusal(text);
        assert!(refusal.starts_with(reason), "{text:?}: {refusal}");
    }
    for text in [
        "Date,Amount (USD),Amount (EUR)\n2026-01-31,9,5\n",
        "Date,Amount,Debit,Credit\n2026-01-31,5.00,,5.00\n",
        "Date,Amount,Transaction Type\n2026-01-31,5.00,Credit\n",
    ] {
        assert_eq!(found(&read(text).unwrap())[0].1, 500, "{text:?}");
    }
    let twins = "Date,Amount,Amount\n2026-01-31,1,2\n";
    let file = mapped(twins, &["Date=date", "#3=amount"]).unwrap();
    assert_eq!(found(&file)[0].1, 200);
    let refusal = mapped(
        "Date,Amount,Balance\n2026-01-31,1,2\n",
        &["Date=date", "Amount=amount:comma", "Balance=balance:point"],
    )
    .unwrap_err();
    assert!(
        refusal
            .to_string()
            .starts_with("the mapping has amounts with a decimal point and with a decimal comma"),
        "{refusal}"
    );
}

#[test]
fn balances_lead_from_row_to_row() {
    let rows = [
        "2026-01-30;5,00;105,00\n",
        "2026-01-30;-3,00;\n",
        "2026-01-31;1,00;103,00\n",
    ];
    let oldest_first = format!("Date;Amount;Balance\n{}", rows.concat());
    let newest_first = format!("Date;Amount;Balance\n{}{}{}", rows[2], rows[1], rows[0]);
    for text in [oldest_first, newest_first] {
        let statement = read(&text).unwrap().statements.remove(0);
        assert_eq!(statement.opening.unwrap().amount, 10_000);
        assert_eq!(statement.closing.unwrap().amount, 10_300);
    }
    let gap = format!("Date;Amount;Balance\n{}{}", rows[0], rows[2]);
    assert!(
        refusal(&gap).starts_with("line 3: the balance before and the amount make 106.00 EUR, but the row has the balance 103.00 EUR"),
        "{}",
        refusal(&gap)
    );
    // A row that only tells a balance is no line.
    let brought_forward = "Date;Amount;Balance\n2026-01-01;;100\n2026-01-02;5;105\n";
    assert_eq!(found(&read(brought_forward).unwrap()).len(), 1);
}

#[test]
fn files_without_a_header_and_with_several_accounts() {
    let bare = "01/31/2026,-5.00,*,,COFFEE\n02/01/2026,7.00,*,,PAY\n";
    let file = mapped(bare, &["#1=date", "#2=amount", "#5=text"]).unwrap();
    assert_eq!(
        found(&file),
        [("2026-01-31".to_owned(), -500), ("2026-02-01".to_owned(), 700)]
    );
    let two = "Rekening;Datum;Bedrag\nNL1;20260131;1\nNL2;20260131;2\nNL1;20260131;3\n";
    let file = read(two).unwrap();
    let counts: Vec<_> = file
        .statements
        .iter()
        .map(|statement| statement.lines.len())
        .collect();
    assert_eq!(counts, [2, 1]);
    assert_eq!(file.statements[1].account.as_deref(), Some("NL2"));
}

#[test]
fn what_cannot_be_read_is_refused_with_the_way_out() {
    for (text, reason) in [
        (
            "Date;Amount;Currency\n2026-01-31;1;USD\n",
            "line 2: the amounts are in \"USD\", but the account is kept in EUR",
        ),
        (
            "Date;Amount\n2026-01-31;1;extra\n",
            "line 2: the row has 3 columns, but the header has 2",
        ),
        (
            "Date;Memo;Amount\n2026-01-31;Anna\n",
            "line 2: the row has a date but no amount; the file may be cut off here",
        ),
        (
            "Date;Amount;Memo\n2026-01-31;1;\"Anna\n",
            "line 2: the file ends before a quotation mark is closed",
        ),
        (
            "Date;Amount\n;5\n2026-01-31;1\n",
            "line 2: the row has an amount but no date",
        ),
        (
            "When;How much\n2026-01-31;1\n",
            "line 1: the columns for the date and the amount cannot be told from \"When\", \"How much\"; name them with --map",
        ),
        ("hello\n", "this is not a bank statement that can be read"),
        ("", "this is not a bank statement that can be read"),
        ("%PDF-1.7", "this is a PDF; export the statement as"),
        ("<html>", "this is not a bank statement that can be read"),
    ] {
        let refusal = refusal(text);
        assert!(refusal.starts_with(reason), "{text:?}: {refusal}");
    }
    let file = "Datum;Betrag\n2026-01-31;1\n";
    for (columns, reason) in [
        (
            &["Tag=date", "Betrag=amount"][..],
            "line 1: there is no column \"Tag\"; the columns are \"Datum\", \"Betrag\"",
        ),
        (
            &["Datum=date"],
            "the mapping has no date, or no amount, debit or credit; add them, such as",
        ),
        (
            &["Datum=date", "Betrag=amount", "x=amount"],
            "the mapping has two columns for amount; only text can have several",
        ),
    ] {
        let refusal = mapped(file, columns).unwrap_err().to_string();
        assert!(refusal.starts_with(reason), "{refusal}");
    }
}

#[test]
fn columns_are_shown_to_be_named() {
    let told = |text: &str| -> Vec<String> {
        let guesses = bursar_statements::guess(text.as_bytes()).unwrap();
        guesses.iter().map(|guess| guess.column.clone()).collect()
    };
    let guesses = bursar_statements::guess(GERMAN.as_bytes()).unwrap();
    assert_eq!(guesses[0].column, "Buchungstag");
    assert_eq!(guesses[0].field, Some(bursar_statements::Field::Date));
    assert_eq!(guesses[0].examples[..2], ["13.01.2026", "02.01.2026"]);
    // Without names of their own, columns are named by their places.
    assert_eq!(told("When,What,What\n1,2,3\n"), ["When", "#2", "#3"]);
    let bare = "2026-01-13,Ada,12.50\n2026-01-14,Bo,1.00\n";
    assert_eq!(told(bare), ["#1", "#2", "#3"]);
    let file = mapped(bare, &["#1=date", "#2=name", "#3=amount"]).unwrap();
    assert_eq!(found(&file).len(), 2);
    assert_eq!(bursar_statements::guess(b"nothing here"), None);
    assert_eq!(bursar_statements::guess(b""), None);
}
