//! Files from other programs and from banks. What other programs read in them is in `figures.tsv`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use bursar_statements::{Line, Options, Problem, StatementFile, read};

use crate::read as read_euros;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files")
}

fn read_file(name: &str, currency: &str) -> Result<StatementFile, Problem> {
    let options = Options {
        currency: currency.to_owned(),
        decimals: 2,
        columns: Vec::new(),
    };
    read(&fs::read(folder().join(name)).unwrap(), None, &options)
}

fn lines(file: &StatementFile) -> Vec<&Line> {
    file.statements
        .iter()
        .flat_map(|statement| &statement.lines)
        .collect()
}

/// `-12.5` as hundredths.
fn hundredths(text: &str) -> i64 {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    format!("{whole}{fraction:0<2}").parse().unwrap()
}

#[test]
fn files_are_read_as_other_programs_read_them() {
    let figures = fs::read_to_string(folder().join("figures.tsv")).unwrap();
    for row in figures.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        let [name, currency, count, sum, first_day, first_amount, _] = cells[..] else {
            panic!("{row}")
        };
        let file = read_file(name, currency).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        let found = lines(&file);
        assert_eq!(found.len().to_string(), count, "{name}");
        assert_eq!(
            found.iter().map(|line| line.amount).sum::<i64>(),
            hundredths(sum),
            "{name}"
        );
        if let Some(first) = found.first() {
            assert_eq!(first.day.to_string(), first_day, "{name}");
            assert_eq!(first.amount, hundredths(first_amount), "{name}");
        }
    }
}

/// Samples are often shortened or made unrecognizable without care for their balances.
const REFUSED: [(&str, &str, &str); 14] = [
    (
        "mt940/details_60-63.sta",
        "EUR",
        "line 12: the opening balance 12345.12 EUR",
    ),
    (
        "mt940/gv_codes.sta",
        "EUR",
        "line 1: the message has no closing balance",
    ),
    (
        "mt940/jejik-abnamro.sta",
        "EUR",
        "line 27: the opening balance 3236.28 EUR and the 8 lines, which sum to -321.44",
    ),
    (
        "mt940/jejik-ing.sta",
        "EUR",
        "line 26: the opening balance 0.00 EUR and the 7 lines, which sum to -45.59",
    ),
    (
        "mt940/jejik-knab.sta",
        "EUR",
        "line 20: the opening balance 3058.98 EUR and the 2 lines, which sum to -6760.00",
    ),
    (
        "mt940/jejik-postfinance.sta",
        "CHF",
        "line 27: the opening balance 229.20 CHF and the 2 lines, which sum to -69.80",
    ),
    (
        "mt940/jejik-triodos.sta",
        "EUR",
        "line 12: the opening balance 4975.09 EUR and the 2 lines, which sum to -715.70",
    ),
    ("mt940/mt942.sta", "EUR", "line 1: this is MT942"),
    (
        "mt940/raiffeisen-cmi.sta",
        "HUF",
        "line 14: there is a control character",
    ),
    (
        "ofx/ofx-rs-multi_transaction_statement.ofx",
        "USD",
        "line 68: the bank corrects the transaction \"MTX003\"",
    ),
    (
        "ofx/ofxparse-date_missing.ofx",
        "USD",
        "line 33: the transaction has no DTPOSTED",
    ),
    (
        "ofx/ofxparse-decimal_error.ofx",
        "CAD",
        "line 37: \"$120\" is not an amount",
    ),
    (
        "ofx/ofxparse-error_message.ofx",
        "USD",
        "there is no statement of a bank account or credit card in the file; the bank's server says",
    ),
    (
        "ofx/ofxparse-investment_medium.ofx",
        "USD",
        "there is no statement of a bank account or credit card in the file; download",
    ),
];

#[test]
fn files_that_cannot_be_booked_are_refused() {
    for (name, currency, reason) in REFUSED {
        let refusal = read_file(name, currency).unwrap_err().to_string();
        assert!(refusal.starts_with(reason), "{name}: {refusal}");
    }
}

#[test]
fn every_file_is_in_a_table() {
    let figures = fs::read_to_string(folder().join("figures.tsv")).unwrap();
    let mut known: BTreeSet<String> = figures
        .lines()
        .skip(1)
        .filter_map(|row| row.split('\t').next())
        .map(str::to_owned)
        .collect();
    known.extend(REFUSED.iter().map(|(name, ..)| (*name).to_owned()));
    let mut found = BTreeSet::new();
    for format in ["camt", "mt940", "ofx"] {
        for entry in fs::read_dir(folder().join(format)).unwrap() {
            found.insert(format!(
                "{format}/{}",
                entry.unwrap().file_name().to_str().unwrap()
            ));
        }
    }
    assert_eq!(found, known);
}

#[test]
fn details_that_other_programs_find() {
    let file = read_file("mt940/betterplace-sepa.sta", "EUR").unwrap();
    let found = lines(&file);
    let line = found
        .iter()
        .find(|line| line.end_to_end.as_deref() == Some("TFNR 0300300004"))
        .unwrap();
    assert_eq!(
        line.counterparty_account.as_deref(),
        Some("DE03508800500194791600")
    );
    assert_eq!(line.counterparty_name.as_deref(), Some("Quentin Quast"));
    assert_eq!(line.text, "Strukturierter Verwendungszweck 30030004 DE");
    // A reversal keeps the parties of the original: the payment that went back was Anna's.
    let file = read_file("camt/camt053-py-reversal.xml", "EUR").unwrap();
    let line = lines(&file)[0];
    assert_eq!(
        (line.amount, line.counterparty_name.as_deref()),
        (-12_050, Some("Anna Müller"))
    );
    let file = read_file("camt/ours-batches-04.xml", "CHF").unwrap();
    let parts: Vec<_> = lines(&file)
        .iter()
        .map(|line| (line.amount, &*line.text, line.reference.clone().unwrap()))
        .collect();
    assert_eq!(
        parts,
        [
            (6000, "RF18539007547034", "20260312-0815/1".to_owned()),
            (6000, "210000000003139471430009017", "20260312-0815/2".to_owned()),
            (6005, "Beitrag Lea", "20260312-0815/3".to_owned()),
            (-55_000, "Sammelauftrag", "20260325-0042".to_owned()),
        ]
    );
    assert_eq!(lines(&file)[0].counterparty_name.as_deref(), Some("Zoé Favre"));
    let file = read_file("ofx/node-ofx.ofx", "NZD").unwrap();
    assert_eq!(file.statements[0].closing.unwrap().amount, 422_579);
}

/// The columns that banks export, with one row of ours: amount, name, account, text.
const LAYOUTS: [(&str, &str, i64, &str, &str, &str); 9] = [
    (
        "\"Auftragskonto\";\"Buchungstag\";\"Valutadatum\";\"Buchungstext\";\"Verwendungszweck\";\"Kundenreferenz \
         (End-to-End)\";\"Beguenstigter/Zahlungspflichtiger\";\"Kontonummer/IBAN\";\"BIC (SWIFT-Code)\";\"Betrag\";\"Waehrung\";\"Info\"",
        "\"DE02120300000000202051\";\"31.01.26\";\"31.01.26\";\"GUTSCHR.\";\"Beitrag\";\"\";\"Anna\";\"DE1\";\"X\";\"12,50\";\"EUR\";\"Umsatz gebucht\"",
        1250,
        "Anna",
        "DE1",
        "Beitrag GUTSCHR.",
    ),
    (
        "Bezeichnung Auftragskonto;IBAN Auftragskonto;BIC Auftragskonto;Buchungstag;Valutadatum;Name Zahlungsbeteiligter;IBAN \
         Zahlungsbeteiligter;Buchungstext;Verwendungszweck;Betrag;Waehrung;Saldo nach Buchung",
        "Verein;DE02;X;31.01.2026;31.01.2026;Anna;DE1;Gutschrift;Beitrag;1.012,50;EUR;2.000,00",
        101_250,
        "Anna",
        "DE1",
        "Beitrag Gutschrift",
    ),
    (
        "\"Buchungstag\";\"Wertstellung (Valuta)\";\"Vorgang\";\"Buchungstext\";\"Umsatz in EUR\";",
        "\"31.01.2026\";\"31.01.2026\";\"Überweisung\";\"Auftraggeber: Anna Buchungstext: Beitrag\";\"12,50\";",
        1250,
        "",
        "",
        "Auftraggeber: Anna Buchungstext: Beitrag",
    ),
    (
        "\"Datum\",\"Naam / Omschrijving\",\"Rekening\",\"Tegenrekening\",\"Code\",\"Af Bij\",\"Bedrag (EUR)\",\"Mutatiesoort\",\"Mededelingen\"",
        "\"20260131\",\"Anna\",\"NL02\",\"NL1\",\"GT\",\"Af\",\"12,50\",\"Online bankieren\",\"Contributie\"",
        -1250,
        "Anna",
        "NL1",
        "Contributie",
    ),
    (
        "\"IBAN/BBAN\",\"Munt\",\"BIC\",\"Volgnr\",\"Datum\",\"Rentedatum\",\"Bedrag\",\"Saldo na trn\",\"Tegenrekening \
         IBAN/BBAN\",\"Naam tegenpartij\",\"Omschrijving-1\",\"Omschrijving-2\"",
        "\"NL02\",\"EUR\",\"X\",\"000000000000000017\",\"2026-01-31\",\"2026-01-31\",\"-12,50\",\"+100,00\",\"NL1\",\"Anna\",\"Contributie\",\"2026\"",
        -1250,
        "Anna",
        "NL1",
        "Contributie 2026",
    ),
    (
        "\"Booking Date\",\"Value Date\",\"Partner Name\",\"Partner Iban\",Type,\"Payment Reference\",\"Account \
         Name\",\"Amount (EUR)\",\"Original Amount\",\"Original Currency\"",
        "2026-01-31,2026-01-31,Anna,DE1,Credit Transfer,Dues,Main,12.5,,",
        1250,
        "Anna",
        "DE1",
        "Dues",
    ),
    (
        "Type,Product,Started Date,Completed Date,Description,Amount,Fee,Currency,State,Balance",
        "TRANSFER,Current,2026-01-30 10:00:00,2026-01-31 11:00:00,From Anna,12.50,0.00,EUR,COMPLETED,112.50",
        1250,
        "",
        "",
        "From Anna",
    ),
    (
        "Details,Posting Date,Description,Amount,Type,Balance,Check or Slip #",
        "CREDIT,01/31/2026,\"DUES ANNA\",12.50,ACH_CREDIT,112.50,,",
        1250,
        "",
        "",
        "DUES ANNA CREDIT",
    ),
    (
        "Date opération;Date valeur;Libellé;Débit;Crédit",
        "31/01/2026;31/01/2026;VIREMENT ANNA;;1 012,50",
        101_250,
        "",
        "",
        "VIREMENT ANNA",
    ),
];

#[test]
fn tables_with_the_columns_of_banks() {
    for (header, row, amount, name, account, text) in LAYOUTS {
        let file =
            read_euros(&format!("{header}\n{row}\n")).unwrap_or_else(|problem| panic!("{header}: {problem}"));
        let line = lines(&file)[0];
        assert_eq!(line.day.to_string(), "2026-01-31", "{header}");
        let found = (
            line.amount,
            line.counterparty_name.as_deref().unwrap_or_default(),
            line.counterparty_account.as_deref().unwrap_or_default(),
            &*line.text,
        );
        assert_eq!(found, (amount, name, account, text), "{header}");
    }
}
