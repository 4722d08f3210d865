//! OFX 1 and 2 as banks write them.

use bursar_statements::{Line, read as read_bytes};

use crate::{day, euros, read, refusal};

const HEADER: &str = "OFXHEADER:100\nDATA:OFXSGML\nENCODING:USASCII\nCHARSET:1252\n\n";

/// A file with one statement and these lines in it, from line 8 on.
fn statement(inside: &str) -> String {
    format!(
        "{HEADER}<OFX><SIGNONMSGSRSV1></SIGNONMSGSRSV1>\n<BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>EUR<BANKACCTFROM>\
         <BANKID>1<ACCTID>20 20 51</BANKACCTFROM><BANKTRANLIST>\n{inside}\n</BANKTRANLIST><LEDGERBAL><BALAMT>-7,5\n\
         <DTASOF>20260201120000[-5:EST]</LEDGERBAL><AVAILBAL><BALAMT>9</AVAILBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>\n"
    )
}

fn lines(inside: &str) -> Vec<Line> {
    read(&statement(inside)).unwrap().statements.remove(0).lines
}

const PLAIN: &str = "<STMTTRN><TRNTYPE>CREDIT<DTPOSTED>20260131235959.123[-5:EST]<TRNAMT>+12.50<FITID>F 7\n\
                     <NAME>Anna &amp; Bob<MEMO>Dues & more &lt;2026&gt; &#228;</STMTTRN>";

#[test]
fn a_transaction_with_and_without_closing_tags() {
    let expected = Line {
        day: day("2026-01-31"),
        value_day: None,
        amount: 1250,
        reference: Some("F 7".to_owned()),
        end_to_end: None,
        counterparty_name: Some("Anna & Bob".to_owned()),
        counterparty_account: None,
        text: "Dues & more <2026> ä".to_owned(),
        place: 8,
    };
    assert_eq!(lines(PLAIN)[..], [expected.clone()][..]);
    let closed = "<STMTTRN><TRNTYPE>CREDIT</TRNTYPE><DTPOSTED>20260131</DTPOSTED><TRNAMT>12,5</TRNAMT><FITID>F 7</FITID>\
                  <CHECKNUM></CHECKNUM><SIC/><NAME>Anna &amp; Bob</NAME><MEMO><![CDATA[Dues & more <2026> ä]]></MEMO></STMTTRN>";
    assert_eq!(lines(closed)[..], [expected.clone()][..]);
    // A value that is left empty and not closed looks as if it held the next ones.
    let empty = PLAIN.replace("<NAME>", "<CHECKNUM><REFNUM>\n<NAME>");
    assert_eq!(lines(&empty)[..], [expected][..]);
    let file = read(&statement(PLAIN)).unwrap();
    let found = &file.statements[0];
    assert_eq!(found.account.as_deref(), Some("202051"));
    let closing = found.closing.unwrap();
    assert_eq!(
        (closing.amount, closing.day, found.opening),
        (-750, Some(day("2026-02-01")), None)
    );
}

#[test]
fn parts_of_a_transaction() {
    let parts = PLAIN
        .replace("<MEMO>Dues & more &lt;2026&gt; &#228;", "")
        .replace(
            "<NAME>Anna &amp; Bob",
            "<CHECKNUM>1001<PAYEE><NAME>Carl<CITY>X</PAYEE><BANKACCTTO><ACCTID>77</BANKACCTTO>",
        );
    let found = &lines(&parts)[0];
    assert_eq!(found.counterparty_name.as_deref(), Some("Carl"));
    assert_eq!(found.counterparty_account.as_deref(), Some("77"));
    assert_eq!(found.text, "Carl check 1001");
    let converted = PLAIN.replace(
        "<MEMO>",
        "<ORIGCURRENCY><CURRATE>1.1<CURSYM>USD</ORIGCURRENCY><MEMO>",
    );
    assert_eq!(lines(&converted)[0].amount, 1250);
}

#[test]
fn amounts_with_either_mark() {
    for (written, amount) in [
        ("-1.234,56", -123_456),
        ("1,234.56", 123_456),
        ("-.5", -50),
        ("7", 700),
        ("-0.00", 0),
    ] {
        assert_eq!(
            lines(&PLAIN.replace("+12.50", written))[0].amount,
            amount,
            "{written}"
        );
    }
}

#[test]
fn several_accounts_credit_cards_and_pending_transactions() {
    let one = statement(PLAIN);
    let (_, body) = one.split_once("<BANKMSGSRSV1>").unwrap();
    let card = body
        .replace("</OFX>", "")
        .replace("STMTRS", "CCSTMTRS")
        .replace("BANKACCTFROM", "CCACCTFROM")
        .replace(
            "</BANKTRANLIST>",
            "</BANKTRANLIST><BANKTRANLISTP><STMTTRNP><TRNAMT>1</STMTTRNP></BANKTRANLISTP>",
        );
    let file = read(&one.replace("</OFX>", &format!("<CREDITCARDMSGSRSV1>{card}</OFX>"))).unwrap();
    assert_eq!(file.statements.len(), 2);
    assert_eq!(file.pending, 1);
    assert!(file.statements.iter().all(|statement| statement.lines.len() == 1));
}

#[test]
fn encodings_that_the_header_names() {
    let bytes = |text: &str| text.replace("&#228;", "\u{1}").into_bytes();
    let with = |text: &str, character: &[u8]| {
        let mut bytes = bytes(text);
        let at = bytes.iter().position(|byte| *byte == 1).unwrap();
        bytes.splice(at..=at, character.iter().copied());
        read_bytes(&bytes, None, &euros()).map(|file| file.statements[0].lines[0].text.chars().last())
    };
    let plain = statement(PLAIN);
    assert_eq!(with(&plain, b"\xe4"), Ok(Some('ä')));
    assert_eq!(with(&plain, b"\x80"), Ok(Some('€')));
    // Named wrongly, as it often is.
    assert_eq!(with(&plain, "ä".as_bytes()), Ok(Some('ä')));
    let unicode = plain.replace("USASCII", "UTF-8").replace("1252", "NONE");
    assert_eq!(with(&unicode, "ä".as_bytes()), Ok(Some('ä')));
    let problem = with(&unicode, b"\xe4").unwrap_err();
    assert_eq!(problem.line, Some(9));
    let xml = plain.replace(
        HEADER,
        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<?OFX OFXHEADER=\"200\"?>\n",
    );
    assert_eq!(with(&xml, b"\xe4"), Ok(Some('ä')));
}

#[test]
fn what_cannot_be_booked_is_refused_with_its_line() {
    for (from, to, reason) in [
        (
            "+12.50",
            "12.505",
            "line 8: \"12.505\" has 3 decimals, but EUR has 2",
        ),
        ("+12.50", "1e3", "line 8: \"1e3\" is not an amount"),
        ("+12.50", "1,23.45", "line 8: \"1,23.45\" is not an amount"),
        (
            "+12.50",
            "-1,000",
            "line 8: \"1,000\" can be read with decimals or with thousands; export the statement in another format",
        ),
        ("<TRNAMT>+12.50", "", "line 8: the transaction has no TRNAMT"),
        (
            "<DTPOSTED>20260131235959.123[-5:EST]",
            "",
            "line 8: the transaction has no DTPOSTED",
        ),
        (
            "20260131235959",
            "20260231",
            "line 8: \"20260231.123[-5:EST]\" is not a date",
        ),
        (
            "<CURDEF>EUR",
            "<CURDEF>USD",
            "line 7: the amounts are in \"USD\", but the account is kept in EUR",
        ),
        (
            "<MEMO>",
            "<CURRENCY><CURSYM>USD</CURRENCY><MEMO>",
            "line 9: the amounts are in \"USD\"",
        ),
        (
            "<MEMO>",
            "<CORRECTFITID>9<MEMO>",
            "line 8: the bank corrects the transaction \"9\" with this one",
        ),
        (
            "</STMTTRN>",
            "",
            "line 8: the transaction (STMTTRN) is not closed",
        ),
        (
            "</STMTTRN>",
            "<STMTTRN></STMTTRN>",
            "line 8: the transaction (STMTTRN) is not closed",
        ),
        (
            "</STMTRS>",
            "<STMTRS><CURDEF>EUR",
            "line 11: a statement begins inside another one",
        ),
        (
            "</OFX>",
            "",
            "line 11: the file ends before </OFX>; it is incomplete",
        ),
        (
            "<OFX>",
            "<!DOCTYPE a [<!ENTITY b \"c\">]><OFX>",
            "line 6: the file has a document type declaration",
        ),
        ("<MEMO>", "</*>", "line 9: \"*\" is not a tag of OFX"),
    ] {
        let refusal = refusal(&statement(PLAIN).replacen(from, to, 1));
        assert!(refusal.starts_with(reason), "{refusal}");
    }
    let failed = format!(
        "{HEADER}<OFX><SONRS><STATUS><CODE>15500<SEVERITY>ERROR<MESSAGE>wrong password</STATUS></SONRS></OFX>"
    );
    assert_eq!(
        refusal(&failed),
        "there is no statement of a bank account or credit card in the file; the bank's server says \"wrong password\"; \
         download it again"
    );
}
