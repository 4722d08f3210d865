//! Bad files: refused with the line and the reason, and nothing is written.

use super::*;
use crate::support::dump;

#[test]
fn bad_files_change_nothing() {
    both_engines(|test| {
        let desk = Desk::open(test, 80, noon("2026-03-20"));
        let mt940 = |currency: &str, closing: &str| {
            format!(
                ":20:X\n:25:1/1\n:28C:1/1\n:60F:C260228{currency}0,00\n:61:260302C10,00NTRFNONREF//B7\n:86:one\n\
                 :62F:C260302{currency}{closing}\n"
            )
        };
        let good = mt940("USD", "10,00");
        let bomb = "<?xml version=\"1.0\"?>\n<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;\">]>\n\
                    <Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.02\"><BkToCstmrStmt>&b;</BkToCstmrStmt></Document>";
        let cases: [(&str, Vec<u8>, &str); 9] = [
            (
                "truncated",
                good.split(":62F").next().unwrap().into(),
                "line 1: the message has no closing balance",
            ),
            (
                "wrong balance",
                mt940("USD", "11,00").into(),
                "line 7: the opening balance 0.00",
            ),
            ("foreign currency", mt940("EUR", "10,00").into(), "EUR"),
            ("entities", bomb.into(), "line 2"),
            (
                "wrong encoding",
                b"Date;Amount;Text\n2026-03-02;1.00;\x81\x8d\x00\xff\n".to_vec(),
                "",
            ),
            (
                "a date that does not exist",
                csv(&[("2026-02-30", "1.00", "", "", "x", "")]),
                "line 2",
            ),
            (
                "a date ahead",
                csv(&[("2027-03-02", "1.00", "", "", "x", "")]),
                "line 2: the booking day 2027-03-02 is in the future",
            ),
            (
                "an amount with four decimals",
                csv(&[("2026-03-02", "0.1234", "", "", "x", "")]),
                "line 2",
            ),
            ("no statement", b"%PDF-1.7".to_vec(), "this is a PDF"),
        ];
        let before = dump(&desk.db);
        for (name, bytes, reason) in cases {
            let refused = desk.try_import(file("bank", bytes), true).unwrap_err();
            assert!(refused.contains(reason), "{name}: {refused}");
        }
        let refused = desk
            .try_import(file("dues", good.clone().into()), false)
            .unwrap_err();
        assert!(
            refused.contains("must be an account that holds money"),
            "{refused}"
        );
        let refused = desk.try_import(file("bnk", good.into()), false).unwrap_err();
        assert!(refused.contains("did you mean bank?"), "{refused}");
        assert_eq!(dump(&desk.db), before);
    });
}

#[test]
fn a_mapping_is_remembered_for_the_account() {
    both_engines(|test| {
        let desk = Desk::open(test, 81, noon("2026-03-20"));
        let bytes = |day: &str| format!("Wann;Wieviel;Wofür\n{day};1,50;x {day}\n").into_bytes();
        let unknown = desk
            .try_import(file("bank", bytes("13.03.2026")), false)
            .unwrap_err();
        assert!(unknown.contains("--map"), "{unknown}");
        let mapped = NewStatement {
            columns: ["Wann=date", "Wieviel=amount", "Wofür=text"]
                .map(|c| c.parse().unwrap())
                .to_vec(),
            ..file("bank", bytes("13.03.2026"))
        };
        let done = desk.try_import(mapped, false).unwrap();
        assert!(
            done.columns.contains(&"Wann=date:dmy".to_owned()),
            "{:?}",
            done.columns
        );
        // The second time it is known, also that days come first, which this file alone would leave open.
        desk.try_import(file("bank", bytes("04.03.2026")), false).unwrap();
        let days: Vec<String> = desk
            .lines()
            .iter()
            .map(|shown| shown.line.date.to_string())
            .collect();
        assert_eq!(days, ["2026-03-04", "2026-03-13"]);
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn a_remembered_mapping_is_kept_whole_or_not_at_all() {
    both_engines(|test| {
        let desk = Desk::open(test, 82, noon("2026-03-20"));
        let bytes = |rows: &str| format!("Date;Amount;Charged;Currency;Balance;Text\n{rows}").into_bytes();
        let mapped = NewStatement {
            columns: [
                "Date=date",
                "Charged=amount",
                "Currency=currency",
                "Balance=balance",
                "Text=text",
            ]
            .map(|c| c.parse().unwrap())
            .to_vec(),
            ..file("bank", bytes("2026-03-02;1,00;10,50;USD;10,50;one\n"))
        };
        let columns = desk.try_import(mapped, false).unwrap().columns;
        // A line that the mapping refuses is refused. No other columns are tried.
        for (row, reason) in [
            ("2026-03-03;1,00;40,5x;USD;;two", "line 2: "),
            (
                "2026-03-03;1,00;40,50;EUR;;two",
                "line 2: the amounts are in \"EUR\"",
            ),
            (
                "2026-03-03;1,00;1,00;USD;11,50;two\n2026-03-04;1,00;1,00;USD;13,00;three",
                "line 3: the balance before and the amount make 12.50 USD",
            ),
        ] {
            let refused = desk.try_import(file("bank", bytes(row)), false).unwrap_err();
            assert!(refused.contains(reason), "{row}: {refused}");
        }
        let known = file("bank", bytes("2026-03-03;1,00;40,50;USD;51,00;two\n"));
        assert_eq!(desk.try_import(known, false).unwrap().columns, columns);
        // A file without one of the columns is another table, which is read as the first time.
        let other = |amount: &str| {
            let text = format!("Booking date;Amount;Purpose\n2026-03-04;{amount};three\n");
            file("bank", text.into_bytes())
        };
        let refused = desk.try_import(other("40,5x"), false).unwrap_err();
        assert!(refused.starts_with("line 2: "), "{refused}");
        let columns = desk.try_import(other("40,50"), false).unwrap().columns;
        assert_eq!(
            columns,
            ["Booking date=date:ymd", "Amount=amount:comma", "Purpose=text"]
        );
        let amounts: Vec<i64> = desk.lines().iter().map(|shown| shown.line.amount).collect();
        assert_eq!(amounts, [1050, 4050, 4050]);
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn what_a_file_leaves_open_is_not_remembered() {
    both_engines(|test| {
        let desk = Desk::open(test, 83, noon("2026-03-20"));
        let bytes = |row: &str| format!("Date;Amount;Text\n{row}\n").into_bytes();
        let done = desk
            .try_import(file("bank", bytes("03/03/2026;10;one")), false)
            .unwrap();
        assert_eq!(done.columns, ["Date=date", "Amount=amount", "Text=text"]);
        for (row, reason) in [
            (
                "04/02/2026;11.50;two",
                "can be read with the day or the month first",
            ),
            (
                "2026-03-04;1.000;two",
                "can be read with a decimal point or a decimal comma",
            ),
        ] {
            let refused = desk.try_import(file("bank", bytes(row)), false).unwrap_err();
            assert!(refused.contains(reason), "{refused}");
        }
        let done = desk
            .try_import(file("bank", bytes("03/13/2026;1.50;two")), false)
            .unwrap();
        let told = ["Date=date:mdy", "Amount=amount:point", "Text=text"];
        assert_eq!(done.columns, told);
        // What was told once holds for files that leave it open.
        let done = desk
            .try_import(file("bank", bytes("03/04/2026;10;three")), false)
            .unwrap();
        assert_eq!(done.columns, told);
        let days: Vec<String> = desk
            .lines()
            .iter()
            .map(|shown| shown.line.date.to_string())
            .collect();
        assert_eq!(days, ["2026-03-03", "2026-03-04", "2026-03-13"]);
        assert_eq!(problems(&desk.db), []);
    });
}
