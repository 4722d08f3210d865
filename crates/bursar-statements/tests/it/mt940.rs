//! MT940 as banks write it.

use bursar_statements::Line;

use crate::{day, read, refusal};

/// A message with these lines between its balances, from line 4 on.
fn message(opening: &str, inside: &str, closing: &str) -> String {
    format!(":20:S\n:25:12030000/202051EUR\n:60F:{opening}\n{inside}\n:62F:{closing}\n-\n")
}

/// One line of 12.50 in, with this information.
fn line(information: &str) -> Line {
    let inside = format!(":61:2601310201CR12,50NTRFNONREF//B7\n:86:{information}");
    let file = read(&message("C260131EUR0,", &inside, "C260201EUR12,5")).unwrap();
    file.statements[0].lines[0].clone()
}

#[test]
fn german_information() {
    let found = line(
        "166?00SEPA-GUTSCHRIFT?100399?20EREF+RE 2026-7\n?21MREF+M1?22SVWZ+Mitgliedsbeitrag 20\n?2326 Anna?30COBADEFFXXX\
         ?31DE89370400440532013000?32ANNA MUELLER UND EINE MENGE?33 MEHR?34000",
    );
    let expected = Line {
        day: day("2026-02-01"),
        value_day: Some(day("2026-01-31")),
        amount: 1250,
        reference: Some("B7".to_owned()),
        end_to_end: Some("RE 2026-7".to_owned()),
        counterparty_name: Some("ANNA MUELLER UND EINE MENGE MEHR".to_owned()),
        counterparty_account: Some("DE89370400440532013000".to_owned()),
        text: "Mitgliedsbeitrag 20 26 Anna".to_owned(),
        place: 4,
    };
    assert_eq!(found, expected);
}

#[test]
fn information_in_other_forms() {
    for (information, text, name, account, end_to_end) in [
        ("Beitrag 2026\nAnna", "Beitrag 2026 Anna", None, None, None),
        ("091", "091", None, None, None),
        ("", "", None, None, None),
        ("166?00GUTSCHRIFT?20", "GUTSCHRIFT", None, None, None),
        (
            "000>100987654321\n>20ALGEMENE TUSSENREKENING KOS>21TEN",
            "ALGEMENE TUSSENREKENING KOSTEN",
            None,
            None,
            None,
        ),
        ("?20Dues?21SVWZ+for 2026", "Dues for 2026", None, None, None),
        (
            "166?20KREF+K1 SVWZ+Dues ABWA+Bob Roe?31123",
            "Dues",
            Some("Bob Roe"),
            Some("123"),
            None,
        ),
        (
            "166?20Dues?38PL61109010140000071219812874?31x",
            "Dues",
            None,
            Some("PL61109010140000071219812874"),
            None,
        ),
        (
            "/TRTP/SEPA OVERBOEKING/IBAN/NL91ABNA0417164300/NAME/A DE V\nRIES/REMI/Contributie/EREF/NOTPROVIDED",
            "Contributie",
            Some("A DE VRIES"),
            Some("NL91ABNA0417164300"),
            None,
        ),
        (
            "/EREF/E 1//CNTP/NL32INGB0000012345/INGBNL2A/ING BANK///REMI/USTD//Contributie 2026/",
            "Contributie 2026",
            Some("ING BANK"),
            Some("NL32INGB0000012345"),
            Some("E 1"),
        ),
        (
            "/BENM//NAME/JOHN DOE/REMI/R 7/ISDT/2026-01-02",
            "R 7",
            Some("JOHN DOE"),
            None,
            None,
        ),
        ("/unknown/x", "/unknown/x", None, None, None),
    ] {
        let found = line(information);
        let parts = (
            &*found.text,
            found.counterparty_name.as_deref(),
            found.counterparty_account.as_deref(),
            found.end_to_end.as_deref(),
        );
        assert_eq!(parts, (text, name, account, end_to_end), "{information}");
    }
}

#[test]
fn lines_in_all_their_forms() {
    for (written, amount, booked, value) in [
        ("260131C5,NTRFNONREF", 500_i64, "2026-01-31", "2026-01-31"),
        ("2601310131D5,00NTRF", -500, "2026-01-31", "2026-01-31"),
        ("2512310102CR5,5NTRF", 550, "2026-01-02", "2025-12-31"),
        ("2601021231RC5,NTRF", -500, "2025-12-31", "2026-01-02"),
        ("2601020102RDR5,NTRF", 500, "2026-01-02", "2026-01-02"),
        ("2601020102CN000000000005,10NTRF", 510, "2026-01-02", "2026-01-02"),
        ("1602300301DR6,00N024NONREF", -600, "2016-03-01", "2016-02-29"),
        ("260102C500NTRF", 50_000, "2026-01-02", "2026-01-02"),
    ] {
        let closing = format!(
            "{}260201EUR{},{:02}",
            if amount < 0 { 'D' } else { 'C' },
            amount.abs() / 100,
            amount.abs() % 100
        );
        let file = read(&message("C260101EUR0,", &format!(":61:{written}"), &closing)).unwrap();
        let found = &file.statements[0].lines[0];
        assert_eq!(
            (found.amount, found.day, found.value_day),
            (amount, day(booked), Some(day(value))),
            "{written}"
        );
    }
}

#[test]
fn references_of_both_sides() {
    for (written, reference, end_to_end, text) in [
        ("NTRFNONREF//0000", None, None, ""),
        (
            "NTRFRF18539007547034//4711/1",
            Some("4711/1"),
            Some("RF18539007547034"),
            "",
        ),
        (
            "NTRFEREF//B 2\n/OCMT/EUR10,00/",
            Some("B 2"),
            None,
            "/OCMT/EUR10,00/",
        ),
        (
            "N0440121470966      W.P. Jansen",
            None,
            Some("0121470966"),
            "W.P. Jansen",
        ),
        ("", None, None, ""),
    ] {
        let inside = format!(":61:260131C1,{written}");
        let file = read(&message("C260101EUR0,", &inside, "C260201EUR1,")).unwrap();
        let found = &file.statements[0].lines[0];
        let parts = (
            found.reference.as_deref(),
            found.end_to_end.as_deref(),
            &*found.text,
        );
        assert_eq!(parts, (reference, end_to_end, text), "{written}");
    }
}

#[test]
fn envelopes_and_several_messages() {
    let one = message("C260101EUR0,", ":61:260131C1,NTRF\n:86:a\n:86:b", "C260201EUR1,");
    let two = message("D260101EUR2,", ":61:260131D1,NTRF\n:86:c", "D260201EUR3,");
    let bare = read(&format!("{one}{two}")).unwrap();
    assert_eq!(bare.statements.len(), 2);
    assert_eq!(bare.statements[0].lines[0].text, "a b");
    assert_eq!(bare.statements[0].account.as_deref(), Some("12030000/202051"));
    let header = "{1:F01KNABNL2HAXXX0000000000}{2:I940KNABNL2HXXXXN3020}{4:\r\n";
    let enclosed = format!("{header}{one}{header}{two}").replace("-\n", "-}{5:{CHK:1}}\n");
    let mut enclosed = read(&enclosed).unwrap();
    for (found, bare) in enclosed.statements.iter_mut().zip(&bare.statements) {
        for (line, other) in found.lines.iter_mut().zip(&bare.lines) {
            line.place = other.place;
        }
    }
    assert_eq!(enclosed.statements, bare.statements);
    let preamble = format!("ABNANL2A\n940\nABNANL2A\n{one}");
    assert_eq!(read(&preamble).unwrap().statements[0].lines.len(), 1);
}

#[test]
fn pages_of_a_statement_are_one_statement() {
    let first = message("C260101EUR10,", ":61:260131C1,NTRF", "C260131EUR11,").replace("62F", "62M");
    let second = message("C260131EUR11,", ":61:260131D5,NTRF", "C260201EUR6,").replace("60F", "60M");
    let file = read(&format!("{first}{second}")).unwrap();
    let [statement] = &file.statements[..] else {
        panic!("{file:?}")
    };
    assert_eq!(statement.opening.unwrap().amount, 1000);
    assert_eq!(statement.closing.unwrap().amount, 600);
    assert_eq!(statement.lines.len(), 2);
    let gap = second.replace("EUR11,", "EUR12,").replace("EUR6,", "EUR7,");
    assert_eq!(
        refusal(&format!("{first}{gap}")),
        "line 9: the message before closes with 11.00 EUR, but this one, which continues it, opens with 12.00 EUR; a part is \
         missing, download the file again"
    );
    // A page alone is read as far as it goes.
    assert_eq!(read(&second).unwrap().statements[0].lines.len(), 1);
}

#[test]
fn what_cannot_be_booked_is_refused_with_its_line() {
    let good = message("C260101EUR0,", ":61:260131C1,NTRF", "C260201EUR1,");
    for (from, to, reason) in [
        (
            "EUR1,",
            "EUR2,",
            "line 5: the opening balance 0.00 EUR and the 1 lines",
        ),
        (
            ":62F:C260201EUR1,\n",
            "",
            "line 1: the message has no closing balance (:62F:); it is incomplete",
        ),
        (
            ":60F:C260101EUR0,\n",
            "",
            "line 1: the message has no opening balance (:60F:); it is incomplete",
        ),
        (
            "C260101EUR",
            "C260101USD",
            "line 3: the amounts are in \"USD\", but the account is kept in EUR",
        ),
        ("C1,", "C1,005", "line 4: \"1,005\" has 3 decimals, but EUR has 2"),
        (
            "C1,",
            "C1.000",
            "line 4: \"1.000\" can be read with decimals or with thousands; export the statement in another format",
        ),
        (":61:260131", ":61:261331", "line 4: :61: has no value day"),
        (
            ":61:260131",
            ":61:2601311331",
            "line 4: :61: has no valid booking day",
        ),
        ("C1,", "X1,", "line 4: :61: has no direction"),
        ("C1,", "C,", "line 4: \",\" is not an amount"),
        (
            "C260101EUR",
            "X260101EUR",
            "line 3: :60F: must be such as C260131EUR12,50",
        ),
        (":61:", ":60F:C260101EUR0,\n:61:", "line 4: :60F: is there twice"),
        (
            ":60F:C260101EUR0,\n:61:260131C1,NTRF\n:62F:C260201EUR1,",
            ":34F:EUR0,",
            "line 1: this is MT942",
        ),
    ] {
        let refusal = refusal(&good.replacen(from, to, 1));
        assert!(refusal.starts_with(reason), "{refusal}");
    }
}
