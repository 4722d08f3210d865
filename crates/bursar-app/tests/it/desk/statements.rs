//! Bank statements from the file to the books, on both engines.

mod big;
mod days;
mod files;
mod proposals;

use bursar_app::books::entries::{self, NewPosting};
use bursar_app::books::receipts::{self, NewReceipt};
use bursar_app::books::{accounts, periods};
use bursar_app::privacy::{self, Looking};
use bursar_app::statements::reconciliation::reconciliation;
use bursar_app::statements::{
    self, Booking, Imported, Lines, NewStatement, Part, PartOf, Reason, Settled, ShownLine, Target, What,
};
use bursar_domain::ids::{EntryId, PaymentId, StatementLineId};
use bursar_domain::statement::LineStatus;

use super::*;

/// A CSV file as a bank exports it, with one row for each line: day, amount, name, account, text and reference.
fn csv(rows: &[(&str, &str, &str, &str, &str, &str)]) -> Vec<u8> {
    let mut text = "Booking date;Amount;Name;IBAN;Purpose;Bank reference\n".to_owned();
    for (day, amount, name, iban, purpose, reference) in rows {
        text.push_str(&format!("{day};{amount};{name};{iban};{purpose};{reference}\n"));
    }
    text.into_bytes()
}

fn file(account: &str, bytes: Vec<u8>) -> NewStatement {
    NewStatement {
        account: account.into(),
        bytes,
        format: None,
        columns: Vec::new(),
    }
}

impl Desk {
    fn try_import(&self, new: NewStatement, auto_reference: bool) -> Result<Imported, String> {
        let read = self
            .look(move |view| statements::read(view, &new))
            .map_err(|error| error.to_string())?;
        self.try_as(Identity::Operator, move |act| {
            statements::import(act, &read, auto_reference)
        })
    }

    #[track_caller]
    fn import_csv(&self, rows: &[(&str, &str, &str, &str, &str, &str)]) -> Imported {
        self.try_import(file("bank", csv(rows)), false).unwrap()
    }

    fn lines(&self) -> Vec<ShownLine> {
        let shown = self.look(|view| statements::show(view, &Lines::default()));
        shown.unwrap()
    }

    /// The only line with this text.
    #[track_caller]
    fn line(&self, text: &str) -> ShownLine {
        let mut found = self
            .lines()
            .into_iter()
            .filter(|shown| shown.line.text.contains(text));
        let line = found.next().unwrap();
        assert!(found.next().is_none(), "{text} is in several lines");
        line
    }

    fn confirm(&self, line: StatementLineId) -> Settled {
        self.act(move |act| statements::confirm(act, &[line])).remove(0)
    }

    fn post(&self, debit: &str, credit: &str, amount: &str, date: &str) -> EntryId {
        let new = NewPosting {
            debit: debit.into(),
            credit: credit.into(),
            amount: amount.into(),
            date: Some(day(date)),
            memo: None,
            reference: None,
        };
        self.act(move |act| entries::record(act, &new)).id
    }

    fn receive_on(&self, payer: MemberId, amount: &str, method: Paid, date: &str) -> receipts::Recorded {
        let new = NewReceipt {
            amount: amount.into(),
            method,
            date: Some(day(date)),
            account: Some("bank".into()),
            payer: Some(payer),
            payer_name: None,
            reference: None,
            payments: Vec::new(),
            campaign: None,
            income: None,
            again: true,
        };
        self.act(move |act| receipts::record(act, &new))
    }

    fn reference(&self, payment: PaymentId) -> String {
        self.get::<Payment>(payment).reference.unwrap()
    }
}

#[test]
fn a_line_is_taken_once_however_often_files_have_it() {
    both_engines(|test| {
        let desk = Desk::open(test, 70, noon("2026-03-20"));
        let first = [
            ("2026-03-01", "10.00", "A", "", "one", "B1"),
            ("2026-03-02", "5.00", "A", "", "coffee", ""),
            ("2026-03-02", "5.00", "A", "", "coffee", ""),
        ];
        let done = desk.import_csv(&first);
        assert_eq!((done.lines, done.new, done.known), (3, 3, 0));
        // The same file again writes nothing, and names the first import.
        let again = desk.import_csv(&first);
        assert_eq!((again.id, again.new, again.known), (done.id, 0, 3));
        // A longer file that overlaps; the bank has changed a text, but not its reference.
        let second = [
            ("2026-03-01", "10.00", "A", "", "one, corrected", "B1"),
            ("2026-03-02", "5.00", "A", "", "coffee", ""),
            ("2026-03-02", "5.00", "A", "", "coffee", ""),
            ("2026-03-02", "5.00", "A", "", "coffee", ""),
            ("2026-03-03", "-7.50", "B", "", "rent", ""),
        ];
        let done = desk.import_csv(&second);
        assert_eq!((done.lines, done.new, done.known), (5, 2, 3));
        assert_eq!(desk.lines().len(), 5);
        assert_eq!(
            desk.look(|view| statements::list(view, Some("bank")))
                .unwrap()
                .len(),
            2
        );
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn days_of_another_format_and_files_of_another_account_are_refused() {
    both_engines(|test| {
        let desk = Desk::open(test, 71, noon("2026-03-20"));
        let done = desk.import_csv(&[("2026-03-02", "10.00", "A", "", "one", "")]);
        let mt940 = |day: &str, account: &str| {
            format!(
                ":20:X\n:25:{account}\n:28C:1/1\n:60F:C260228USD0,00\n:61:{day}C10,00NTRFNONREF//B7\n:86:one\n:62F:C{day}USD10,00\n"
            )
            .into_bytes()
        };
        let refused = desk
            .try_import(file("bank", mt940("260302", "1/1")), false)
            .unwrap_err();
        assert!(
            refused.contains("2026-03-02 was imported as csv before"),
            "{refused}"
        );
        assert!(
            refused.contains(&format!("bursar statement undo {}", done.id)),
            "{refused}"
        );
        // The day after is fine.
        desk.try_import(file("bank", mt940("260303", "1/1")), false)
            .unwrap();
        let refused = desk
            .try_import(file("bank", mt940("260304", "2/2")), false)
            .unwrap_err();
        assert!(
            refused.contains("earlier files for \"bank\" were of 1/1"),
            "{refused}"
        );
        // The way out: take the import back.
        let id = done.id;
        let (_, lines) = desk.act(move |act| statements::remove(act, id));
        assert_eq!(lines, 1);
        desk.try_import(file("bank", mt940("260302", "1/1")), false)
            .unwrap();
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn days_of_another_format_are_refused_also_where_a_line_is_known() {
    both_engines(|test| {
        let desk = Desk::open(test, 68, noon("2026-03-20"));
        let rows = [("2026-03-02", "10.00", "A", "", "one", "B7")];
        let done = desk.import_csv(&rows);
        let mt940 = |lines: &str, closing: &str| {
            let text =
                format!(":20:X\n:25:1/1\n:28C:1/1\n:60F:C260228USD0,00\n{lines}:62F:C260303USD{closing}\n");
            file("bank", text.into_bytes())
        };
        let known = ":61:260302C10,00NTRFNONREF//B7\n:86:one\n";
        let longer = format!("{known}:61:260303C5,00NTRFNONREF//B8\n:86:two\n");
        for new in [mt940(known, "10,00"), mt940(&longer, "15,00")] {
            let refused = desk.try_import(new, false).unwrap_err();
            assert!(
                refused.contains("2026-03-02 was imported as csv before"),
                "{refused}"
            );
        }
        let again = desk.import_csv(&rows);
        assert_eq!((again.id, again.new, again.known), (done.id, 0, 1));
        assert_eq!(desk.lines().len(), 1);
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn a_confirmed_line_is_a_receipt_and_undo_takes_it_back() {
    both_engines(|test| {
        let desk = Desk::open(test, 72, noon("2026-03-20"));
        let ada = desk.member("Ada", &[]).id;
        let dues = desk.charge(ada, "40.00").id;
        let text = format!("dues {}", desk.reference(dues).to_lowercase());
        let imported = desk.import_csv(&[("2026-03-05", "40.00", "A. T.", "DE1", &text, "B1")]);
        assert_eq!((imported.proposed, imported.booked), (1, 0));
        let line = desk.line("dues");
        let proposed = line.proposed.clone().unwrap();
        assert_eq!(proposed.proposal.reason, Reason::Reference);
        assert_eq!(proposed.payments, [(dues, "Dues".to_owned())]);
        assert_eq!(proposed.words(|_| String::new()), "reference: Ada Test, Dues");
        let settled = desk.confirm(line.line.id);
        assert_eq!(settled.line.status, LineStatus::Booked);
        let payment = desk.get::<Payment>(dues);
        assert_eq!(payment.status, PaymentStatus::Paid);
        assert_eq!(payment.paid_at, Some(day("2026-03-05").start()));
        assert_eq!(desk.get::<Member>(ada).bank_accounts, ["DE1"]);
        assert_eq!(desk.line("dues").entries, settled.entries);
        // Confirmed lines stay, an import with one cannot be taken back, and nothing is confirmed twice.
        let id = line.line.id;
        let refused = desk.refused(move |act| statements::confirm(act, &[id]));
        assert!(refused.contains("is booked already"), "{refused}");
        let statement = imported.id;
        let refused = desk.refused(move |act| statements::remove(act, statement));
        assert!(refused.contains("1 of the 1 lines"), "{refused}");
        assert_eq!(problems(&desk.db), []);
        desk.act(move |act| statements::undo(act, &[id]));
        assert_eq!(desk.get::<Payment>(dues).status, PaymentStatus::Pending);
        assert!(desk.get::<Member>(ada).bank_accounts.is_empty());
        assert_eq!(desk.line("dues").line.status, LineStatus::Open);
        let refused = desk.refused(move |act| statements::undo(act, &[id]));
        assert!(refused.contains("nothing to undo"), "{refused}");
        desk.act(move |act| statements::remove(act, statement));
        assert!(desk.lines().is_empty());
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn exact_references_are_booked_where_the_organization_allows_it() {
    both_engines(|test| {
        let desk = Desk::open(test, 73, noon("2026-03-20"));
        let ada = desk.member("Ada", &[]);
        let (first, second) = (desk.charge(ada.id, "40.00").id, desk.charge(ada.id, "30.00").id);
        let (one, two) = (desk.reference(first), desk.reference(second));
        let rows = [
            ("2026-03-05", "40.00", "A", "DE1", one.as_str(), "B1"),
            // Not to the cent, so a person decides.
            ("2026-03-06", "29.00", "A", "DE1", two.as_str(), "B2"),
        ];
        let imported = desk.try_import(file("bank", csv(&rows)), true).unwrap();
        assert_eq!((imported.new, imported.booked, imported.proposed), (2, 1, 1));
        assert_eq!(desk.get::<Payment>(first).status, PaymentStatus::Paid);
        assert_eq!(desk.get::<Payment>(second).status, PaymentStatus::Pending);
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn lines_are_booked_split_chosen_and_ignored() {
    both_engines(|test| {
        let desk = Desk::open(test, 74, noon("2026-03-20"));
        let ada = desk.member("Ada", &[]).id;
        let dues = desk.charge(ada, "40.00").id;
        desk.import_csv(&[
            ("2026-03-01", "-12.50", "Bank", "", "fees", ""),
            ("2026-03-02", "60.00", "Uncle", "DE9", "dues and gift", ""),
            ("2026-03-03", "40.00", "Uncle", "DE9", "for my niece", ""),
            ("2026-03-04", "0.01", "Bank", "", "test", ""),
        ]);
        let [fees, gift, niece, test] = ["fees", "gift", "niece", "test"].map(|text| desk.line(text).line.id);
        let booking = Booking {
            account: Some("bank-fees".into()),
            campaign: None,
            memo: None,
        };
        let booked = desk.act(move |act| statements::book(act, fees, &booking));
        assert_eq!(booked.line.status, LineStatus::Booked);
        let parts = |first: &str| {
            vec![
                Part {
                    amount: first.into(),
                    of: PartOf::Payment(dues),
                },
                Part {
                    amount: "20.00".into(),
                    of: PartOf::Account("donations".into()),
                },
            ]
        };
        let wrong = parts("41.00");
        let refused = desk.refused(move |act| statements::split(act, gift, &wrong));
        assert!(
            refused.contains("must sum to the amount of the line, 60.00, got 61.00"),
            "{refused}"
        );
        let right = parts("40.00");
        let split = desk.act(move |act| statements::split(act, gift, &right));
        assert_eq!(split.entries.len(), 2);
        assert_eq!(desk.get::<Payment>(dues).status, PaymentStatus::Paid);
        // Undone, and then the next line is said to be for the charge.
        desk.act(move |act| statements::undo(act, &[gift]));
        assert_eq!(desk.get::<Payment>(dues).status, PaymentStatus::Pending);
        let refused = desk.refused(move |act| statements::confirm(act, &[niece]));
        assert!(refused.contains("has no proposal"), "{refused}");
        desk.act(move |act| statements::choose(act, niece, &[Target::Payment(dues)]));
        let shown = desk.line("niece");
        assert_eq!(shown.proposed.unwrap().proposal.reason, Reason::Chosen);
        desk.confirm(niece);
        assert_eq!(desk.get::<Payment>(dues).status, PaymentStatus::Paid);
        assert_eq!(desk.get::<Member>(ada).bank_accounts, ["DE9"]);
        desk.act(move |act| statements::ignore(act, &[test]));
        let refused = desk.refused(move |act| statements::ignore(act, &[test]));
        assert!(refused.contains("is ignored already"), "{refused}");
        let balance = |name: &str| {
            let lines = desk.look(|view| accounts::list(view, None)).unwrap();
            lines
                .into_iter()
                .find(|line| line.name == name)
                .unwrap()
                .balance
                .to_string()
        };
        assert_eq!(
            (balance("bank"), balance("bank-fees")),
            ("27.50".into(), "12.50".into())
        );
        let refused = desk.refused(move |act| statements::choose(act, gift, &[]));
        assert!(refused.contains("match is one of"), "{refused}");
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn what_happens_to_an_entry_happens_to_its_line() {
    both_engines(|test| {
        let desk = Desk::open(test, 75, noon("2026-03-20"));
        let (ada, ben) = (desk.member("Ada", &[]).id, desk.member("Ben", &[]).id);
        desk.import_csv(&[("2026-03-05", "40.00", "Ada Test", "DE1", "dues", "B1")]);
        let line = desk.line("dues").line.id;
        desk.act(move |act| statements::choose(act, line, &[Target::Member(ada)]));
        let entry = desk.confirm(line).entries[0];
        let all = desk
            .look(|view| receipts::list(view, (None, None), None))
            .unwrap();
        let receipt = all[0].receipt.id;
        // A moved receipt keeps its line.
        let moved = desk.act(move |act| receipts::move_to(act, receipt, ben));
        assert_ne!(moved.receipt.entry, entry);
        assert_eq!(desk.line("dues").entries, [moved.receipt.entry]);
        assert_eq!(problems(&desk.db), []);
        // One that is taken back as a mistake opens it.
        desk.act(move |act| receipts::reverse(act, receipt, None));
        assert_eq!(desk.line("dues").line.status, LineStatus::Open);
        assert_eq!(problems(&desk.db), []);
        // Money that the bank takes back has a line of its own.
        desk.act(move |act| statements::choose(act, line, &[Target::Member(ada)]));
        desk.confirm(line);
        let all = desk
            .look(|view| receipts::list(view, (None, None), None))
            .unwrap();
        let receipt = all
            .iter()
            .find(|one| one.receipt.id != receipt)
            .unwrap()
            .receipt
            .id;
        desk.act(move |act| receipts::bounce(act, receipt, Some(day("2026-03-09")), None));
        assert_eq!(desk.line("dues").line.status, LineStatus::Booked);
        desk.import_csv(&[("2026-03-09", "-40.00", "Ada Test", "DE1", "returned", "B2")]);
        let returned = desk.line("returned");
        assert_eq!(returned.proposed.unwrap().proposal.reason, Reason::Books);
        desk.confirm(returned.line.id);
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn the_bank_and_the_books_are_compared() {
    both_engines(|test| {
        let desk = Desk::open(test, 76, noon("2026-03-20"));
        desk.post("bank", "opening", "100.00", "2026-02-28");
        let loose = desk.post("bank", "other-income", "8.00", "2026-03-10");
        let mt940 = ":20:X\n:25:1/1\n:28C:1/1\n:60F:C260228USD100,00\n:61:260302C10,00NTRFNONREF//B1\n:86:one\n\
                     :61:260303D3,00NTRFNONREF//B2\n:86:two\n:61:260304C1,00NTRFNONREF//B3\n:86:three\n:62F:C260304USD108,00\n";
        desk.try_import(file("bank", mt940.into()), false).unwrap();
        let (one, three) = (desk.line("one").line.id, desk.line("three").line.id);
        let booking = Booking {
            account: Some("other-income".into()),
            campaign: None,
            memo: Some("raffle".into()),
        };
        desk.act(move |act| statements::book(act, one, &booking));
        desk.act(move |act| statements::ignore(act, &[three]));
        let found = desk.look(|view| reconciliation(view, "bank", None)).unwrap();
        let text = |money: Option<bursar_domain::money::Money>| money.unwrap().to_string();
        assert_eq!(found.bank_balance.to_string(), "108.00");
        assert_eq!(found.book_balance.to_string(), "118.00");
        assert_eq!(found.open_total.to_string(), "-3.00");
        assert_eq!(found.ignored_total.to_string(), "1.00");
        assert_eq!(found.entries[0].0.id, loose);
        assert_eq!(found.entries_total.to_string(), "8.00");
        assert_eq!(text(found.unexplained), "0.00");
        let at = desk.look(|view| reconciliation(view, "bank", Some(day("2026-03-02"))));
        let at = at.unwrap();
        assert_eq!(
            (at.bank_balance.to_string(), at.unexplained),
            ("110.00".into(), None)
        );
        let none = desk.look(|view| reconciliation(view, "cash", None)).unwrap_err();
        assert!(none.to_string().contains("no statements of \"cash\""), "{none}");
    });
}

#[test]
fn two_officers_at_once_on_one_line_and_one_wins() {
    both_engines(|test| {
        let desk = Desk::open(test, 77, noon("2026-03-20"));
        let ada = desk.member("Ada", &[]).id;
        let dues = desk.charge(ada, "40.00").id;
        let text = desk.reference(dues);
        desk.import_csv(&[("2026-03-05", "40.00", "A", "DE1", &text, "B1")]);
        let line = desk.lines()[0].line.id;
        let (tina, tom) = (
            desk.officer("tina@example.org", Role::Editor),
            desk.officer("tom@example.org", Role::Editor),
        );
        let both: Vec<Reply<Vec<Settled>, AppError>> = [tina, tom]
            .into_iter()
            .map(|who| {
                desk.app
                    .act(who, desk.org, move |act| statements::confirm(act, &[line]))
            })
            .collect();
        let done: Vec<Result<Vec<Settled>, AppError>> = both.into_iter().map(Reply::wait).collect();
        let won = done.iter().filter(|result| result.is_ok()).count();
        assert_eq!(won, 1);
        let lost = done.into_iter().find_map(Result::err).unwrap().to_string();
        assert!(lost.contains("is booked already; undo that first"), "{lost}");
        assert_eq!(desk.get::<Payment>(dues).paid_to_date.to_string(), "40.00");
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn lines_in_a_closed_period_are_matched_and_not_booked() {
    both_engines(|test| {
        let desk = Desk::open(test, 78, noon("2026-03-20"));
        let ada = desk.member("Ada", &[]).id;
        let (first, second) = (desk.charge(ada, "40.00").id, desk.charge(ada, "41.00").id);
        desk.receive_on(ada, "40.00", Paid::Transfer, "2026-02-05");
        desk.act(|act| periods::close(act, day("2026-02-28")));
        let (one, two) = (desk.reference(first), desk.reference(second));
        desk.import_csv(&[
            ("2026-02-05", "40.00", "A", "DE1", &one, "B1"),
            ("2026-02-06", "41.00", "A", "DE1", &two, "B2"),
        ]);
        let lines = desk.lines();
        assert!(matches!(
            lines[0].proposed.as_ref().unwrap().proposal.what,
            What::Entries(_)
        ));
        assert_eq!(lines[1].proposed, None);
        desk.confirm(lines[0].line.id);
        let id = lines[1].line.id;
        let refused = desk.refused(move |act| statements::confirm(act, &[id]));
        assert!(
            refused.contains("the books are closed until 2026-02-28"),
            "{refused}"
        );
        assert_eq!(problems(&desk.db), []);
    });
}

/// The receipt was recorded before the member was erased, and the statement comes after it.
#[test]
fn a_confirmed_line_tells_nothing_about_an_erased_member() {
    both_engines(|test| {
        let desk = Desk::open(test, 79, noon("2026-03-20"));
        let ada = desk.member("Ada", &[]).id;
        let text = format!("dues {}", desk.reference(desk.charge(ada, "40.00").id));
        desk.receive_on(ada, "40.00", Paid::Transfer, "2026-03-05");
        desk.act(move |act| privacy::erase(act, ada, &Looking::default(), "asked for it"));
        desk.import_csv(&[("2026-03-05", "40.00", "A. T.", "DE1", &text, "B1")]);
        let settled = desk.confirm(desk.line("dues").line.id);
        assert_eq!(settled.line.status, LineStatus::Matched);
        assert!(desk.get::<Member>(ada).bank_accounts.is_empty());
        assert_eq!(problems(&desk.db), []);
    });
}
