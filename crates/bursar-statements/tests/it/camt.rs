//! CAMT.053 in the shapes of its versions.

use bursar_statements::{Balance, Line};

use crate::{day, read, refusal};

/// A statement with these elements inside, each on a line of its own after line 5.
fn statement(version: &str, inside: &[&str]) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.{version}\">\n\
         <BkToCstmrStmt><GrpHdr><MsgId>m</MsgId></GrpHdr>\n<Stmt><Id>2026-001</Id>\n\
         <Acct><Id><IBAN>DE02 1203 0000 0000 2020 51</IBAN></Id><Ccy>EUR</Ccy></Acct>\n{}\n</Stmt></BkToCstmrStmt></Document>\n",
        inside.join("\n")
    )
}

fn balance(code: &str, amount: &str, direction: &str) -> String {
    format!(
        "<Bal><Tp><CdOrPrtry><Cd>{code}</Cd></CdOrPrtry></Tp><Amt Ccy=\"EUR\">{amount}</Amt>\
         <CdtDbtInd>{direction}</CdtDbtInd><Dt><Dt>2026-01-31</Dt></Dt></Bal>"
    )
}

fn entry(amount: &str, direction: &str, more: &str) -> String {
    format!(
        "<Ntry><Amt Ccy=\"EUR\">{amount}</Amt><CdtDbtInd>{direction}</CdtDbtInd>\
         <BookgDt><Dt>2026-01-31</Dt></BookgDt>{more}</Ntry>"
    )
}

fn lines(version: &str, entries: &[&str]) -> Vec<Line> {
    let file = read(&statement(version, entries)).unwrap();
    file.statements
        .into_iter()
        .flat_map(|statement| statement.lines)
        .collect()
}

#[test]
fn an_entry_in_the_old_and_the_new_shape() {
    let old = entry(
        "12.5",
        "CRDT",
        "<Sts>BOOK</Sts><ValDt><DtTm>2026-02-01T23:30:00-05:00</DtTm></ValDt><AcctSvcrRef>B 7</AcctSvcrRef>\
         <NtryDtls><TxDtls><Refs><EndToEndId>E2E</EndToEndId></Refs><RltdPties><Dbtr><Nm>Anna &amp; Bob\n Müller</Nm></Dbtr>\
         <DbtrAcct><Id><IBAN>DE89 3704 0044 0532 0130 00</IBAN></Id></DbtrAcct><Cdtr><Nm>Us</Nm></Cdtr></RltdPties>\
         <RmtInf><Ustrd>Dues <![CDATA[2026 <Q1>]]></Ustrd><Strd><CdtrRefInf><Ref>RF18539007547034</Ref></CdtrRefInf></Strd>\
         </RmtInf></TxDtls></NtryDtls><AddtlNtryInf>SEPA</AddtlNtryInf>",
    );
    let new = old
        .replace("<Sts>BOOK</Sts>", "<Sts><Cd>BOOK</Cd></Sts>")
        .replace("<Dbtr>", "<Dbtr><Pty>")
        .replace("</Dbtr>", "</Pty></Dbtr>");
    let expected = Line {
        day: day("2026-01-31"),
        value_day: Some(day("2026-02-01")),
        amount: 1250,
        reference: Some("B 7".to_owned()),
        end_to_end: Some("E2E".to_owned()),
        counterparty_name: Some("Anna & Bob Müller".to_owned()),
        counterparty_account: Some("DE89370400440532013000".to_owned()),
        text: "Dues 2026 <Q1> RF18539007547034".to_owned(),
        place: 6,
    };
    for (version, entry) in [("02", old), ("08", new)] {
        assert_eq!(lines(version, &[&entry])[..], [expected.clone()][..], "{version}");
    }
}

#[test]
fn only_booked_entries_are_taken() {
    let booked = entry("1", "CRDT", "<Sts>BOOK</Sts>");
    let pending = entry("2", "CRDT", "<Sts>PDNG</Sts>");
    let pending_new = entry("3", "CRDT", "<Sts><Cd>PDNG</Cd></Sts>");
    let info = entry("4", "CRDT", "<Sts>INFO</Sts>");
    let file = read(&statement("02", &[&booked, &pending, &pending_new, &info])).unwrap();
    assert_eq!(file.pending, 3);
    assert_eq!(file.statements[0].lines.len(), 1);
    let unknown = entry("2", "CRDT", "<Sts>GONE</Sts>");
    let refusal = refusal(&statement("02", &[&booked, &unknown]));
    assert!(
        refusal.starts_with("line 7: the status \"GONE\" is not known"),
        "{refusal}"
    );
}

#[test]
fn balances_frame_the_lines() {
    let inside = [
        &balance("PRCD", "10.00", "DBIT"),
        &balance("CLBD", "5.00", "CRDT"),
        &balance("CLAV", "99.00", "CRDT"),
        &entry("17.00", "CRDT", ""),
        &entry("2.00", "DBIT", ""),
    ];
    let file = read(&statement("02", &inside.map(String::as_str))).unwrap();
    let read = &file.statements[0];
    let balance_of = |amount| {
        Some(Balance {
            day: Some(day("2026-01-31")),
            amount,
        })
    };
    assert_eq!((read.opening, read.closing), (balance_of(-1000), balance_of(500)));
    assert_eq!(read.account.as_deref(), Some("DE02120300000000202051"));
    assert_eq!(read.id.as_deref(), Some("2026-001"));
    assert_eq!(read.currency.as_deref(), Some("EUR"));
    let without_one = [inside[0], inside[1], inside[3]].map(|element| element.as_str());
    assert_eq!(
        refusal(&statement("02", &without_one)),
        "line 7: the opening balance -10.00 EUR and the 1 lines, which sum to 17.00 EUR, make 7.00 EUR, but the closing \
         balance is 5.00 EUR; lines are missing or changed, download the file again"
    );
}

const PARTS: [&str; 2] = [
    "<TxDtls><Refs><AcctSvcrRef>P1</AcctSvcrRef></Refs><AmtDtls><TxAmt><Amt Ccy=\"EUR\">3.00</Amt></TxAmt></AmtDtls>\
     <RmtInf><Ustrd>one</Ustrd></RmtInf></TxDtls>",
    "<TxDtls><Refs><AcctSvcrRef>P2</AcctSvcrRef></Refs><AmtDtls><TxAmt><Amt Ccy=\"EUR\">4.00</Amt></TxAmt></AmtDtls>\
     <RmtInf><Ustrd>two</Ustrd></RmtInf></TxDtls>",
];

fn batch(amount: &str, direction: &str, parts: &str) -> String {
    entry(
        amount,
        direction,
        &format!("<AcctSvcrRef>B</AcctSvcrRef><NtryDtls><Btch/>{parts}</NtryDtls>"),
    )
}

#[test]
fn a_batch_is_split_when_its_parts_sum_up() {
    let split = lines("02", &[&batch("7.00", "DBIT", &PARTS.concat())]);
    let found: Vec<_> = split
        .iter()
        .map(|line| (line.amount, line.reference.as_deref().unwrap(), &*line.text))
        .collect();
    assert_eq!(found, [(-300, "P1", "one"), (-400, "P2", "two")]);
    // Parts have directions of their own since 001.04.
    let mixed = PARTS
        .concat()
        .replacen("</Refs>", "</Refs><CdtDbtInd>CRDT</CdtDbtInd>", 1);
    let split = lines("08", &[&batch("1.00", "DBIT", &mixed)]);
    assert_eq!(
        split.iter().map(|line| line.amount).collect::<Vec<_>>(),
        [300, -400]
    );
}

#[test]
fn a_batch_whose_parts_do_not_sum_up_stays_one_line() {
    let short = PARTS.concat().replace("4.00", "3.99");
    let foreign = PARTS.concat().replace("Ccy=\"EUR\">4", "Ccy=\"USD\">4");
    let unknown = PARTS.concat().replace("TxAmt", "CntrValAmt");
    for parts in [short, foreign, unknown] {
        let whole = lines("02", &[&batch("7.00", "CRDT", &parts)]);
        let [line] = &whole[..] else { panic!("{whole:?}") };
        assert_eq!((line.amount, &*line.text), (700, "one two"));
        assert_eq!(line.reference.as_deref(), Some("B"));
    }
}

#[test]
fn parts_without_names_of_their_own_are_numbered() {
    let same = PARTS.concat().replace("P2", "P1");
    let none = PARTS.concat().replace("P1", "NOTPROVIDED");
    for parts in [same, none] {
        let split = lines("02", &[&batch("7.00", "CRDT", &parts)]);
        let references: Vec<_> = split
            .iter()
            .map(|line| line.reference.as_deref().unwrap())
            .collect();
        assert_eq!(references, ["B/1", "B/2"]);
    }
}

#[test]
fn a_reversal_has_the_direction_it_says_and_the_parties_of_the_original() {
    // Money that the account had paid to a shop comes back: a credit, whose creditor is still the shop.
    let parties = "<NtryDtls><TxDtls><RltdPties><Dbtr><Nm>Us</Nm></Dbtr><Cdtr><Nm>Shop</Nm></Cdtr></RltdPties></TxDtls></NtryDtls>";
    for (reversal, name) in [
        ("<RvslInd>true</RvslInd>", "Shop"),
        ("<RvslInd>false</RvslInd>", "Us"),
        ("", "Us"),
    ] {
        let found = lines("02", &[&entry("5.00", "CRDT", &format!("{reversal}{parties}"))]);
        assert_eq!(found[0].amount, 500);
        assert_eq!(found[0].counterparty_name.as_deref(), Some(name), "{reversal}");
    }
}

#[test]
fn the_counterparty_is_never_the_account_itself() {
    let parties = "<NtryDtls><TxDtls><RltdPties><Dbtr><Nm>Us</Nm></Dbtr>\
         <DbtrAcct><Id><IBAN>DE02120300000000202051</IBAN></Id></DbtrAcct><Cdtr><Nm>Shop</Nm></Cdtr></RltdPties></TxDtls></NtryDtls>";
    let found = lines("02", &[&entry("5.00", "CRDT", parties)]);
    assert_eq!(found[0].counterparty_name.as_deref(), Some("Shop"));
}

#[test]
fn several_statements_and_prefixed_names() {
    let one = statement("08", &[&entry("1", "CRDT", "")]);
    let two = one.replace("</BkToCstmrStmt>", "<Stmt><Id>2</Id></Stmt></BkToCstmrStmt>");
    assert_eq!(read(&two).unwrap().statements.len(), 2);
    let prefixed = one
        .replace("xmlns=", "xmlns:c=")
        .replace("</", "</c:")
        .replace('<', "<c:")
        .replace("<c:/c:", "</c:")
        .replace("<c:?", "<?");
    assert_eq!(
        read(&prefixed).unwrap().statements,
        read(&one).unwrap().statements
    );
}

#[test]
fn what_cannot_be_booked_is_refused_with_its_line() {
    for (inside, reason) in [
        (
            entry("1.005", "CRDT", ""),
            "line 6: \"1.005\" has 3 decimals, but EUR has 2; check the currency of the account",
        ),
        (
            entry("1", "CRDT", "").replace("EUR", "USD"),
            "line 6: the amounts are in \"USD\", but the account is kept in EUR; choose the account for this currency",
        ),
        (
            entry("-1", "CRDT", ""),
            "line 6: \"-1\" is not an amount such as 12.50",
        ),
        (
            entry("1", "IN", ""),
            "line 6: Ntry has no direction (CdtDbtInd) of CRDT or DBIT; the file is damaged, download it again",
        ),
        (
            entry("1", "CRDT", "").replace("2026-01-31", "2026-02-30"),
            "line 6: \"2026-02-30\" is not a date such as 2026-01-31",
        ),
        (
            entry("1", "CRDT", "").replace("BookgDt", "Other"),
            "line 6: Ntry has no booking day (BookgDt); the file is damaged, download it again",
        ),
    ] {
        assert_eq!(refusal(&statement("02", &[&inside])), reason);
    }
    assert_eq!(
        refusal(&statement("09", &[])),
        "line 2: the file is camt.053.001.09; export it as camt.053.001.02 or camt.053.001.08"
    );
    let report = statement("02", &[]).replace("BkToCstmrStmt", "BkToCstmrAcctRpt");
    assert_eq!(
        refusal(&report),
        "line 3: this is camt.052, a report during the day, not a statement; download the statements as CAMT.053"
    );
}
