//! What the days of lines and entries decide: lines of the next days, and reconciliations of a day that is past.

use bursar_app::statements::reconciliation::Reconciliation;

use super::*;

impl Desk {
    /// The reconciliation of the bank account at the end of a day.
    fn reconciled(&self, at: &str) -> Reconciliation {
        let at = Some(day(at));
        self.look(move |view| reconciliation(view, "bank", at)).unwrap()
    }
}

/// Open lines, entries without a line, and the rest.
fn totals(found: &Reconciliation) -> [String; 3] {
    let rest = found.unexplained.unwrap();
    assert_eq!(
        found.open_lines.iter().map(|line| line.amount).sum::<i64>(),
        found.open_total.minor
    );
    [found.open_total, found.entries_total, rest].map(|money| money.to_string())
}

/// A file with these balances.
fn mt940((opening, closing): (&str, &str), lines: &str) -> Vec<u8> {
    format!(":20:X\n:25:1/1\n:28C:1/1\n:60F:{opening}\n{lines}:62F:{closing}\n").into_bytes()
}

#[test]
fn a_line_of_tomorrow_waits_and_stops_nothing_else() {
    both_engines(|test| {
        let desk = Desk::open(test, 77, noon("2026-03-20"));
        let ada = desk.member("Ada", &[]).id;
        let today = desk.reference(desk.charge(ada, "10.00").id);
        let tomorrow = desk.reference(desk.charge(ada, "11.00").id);
        let chosen = desk.charge(ada, "12.00").id;
        let rows = [
            ("2026-03-20", "10.00", "A", "", today.as_str(), "B1"),
            ("2026-03-21", "11.00", "A", "", tomorrow.as_str(), "B2"),
            ("2026-03-21", "12.00", "A", "", "chosen", "B3"),
        ];
        let done = desk.try_import(file("bank", csv(&rows)), true).unwrap();
        assert_eq!((done.booked, done.proposed), (1, 0));
        let line = desk.line("chosen").line.id;
        desk.act(move |act| statements::choose(act, line, &[Target::Payment(chosen)]));
        assert_eq!(desk.act(|act| statements::confirm_proposed(act, "bank")).len(), 0);
        let said = desk.try_as(Identity::Operator, move |act| statements::confirm(act, &[line]));
        let said = said.unwrap_err();
        assert!(
            said.contains("2026-03-21 is in the future; confirm it on that day"),
            "{said}"
        );
        desk.set_clock(noon("2026-03-21"));
        assert_eq!(desk.act(|act| statements::confirm_proposed(act, "bank")).len(), 2);
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn a_past_reconciliation_stays_when_later_lines_are_matched() {
    both_engines(|test| {
        let desk = Desk::open(test, 78, noon("2026-11-19"));
        desk.post("bank", "opening", "100.00", "2026-09-30");
        desk.post("bank", "other-income", "7.00", "2026-10-02");
        let check = desk.post("bank", "other-income", "30.00", "2026-10-30");
        let october = mt940(
            ("C260930USD100,00", "C261031USD107,00"),
            ":61:261002C7,00NTRFNONREF//B1\n:86:one\n",
        );
        desk.try_import(file("bank", october), false).unwrap();
        desk.act(|act| statements::confirm_proposed(act, "bank"));
        assert_eq!(totals(&desk.reconciled("2026-10-31")), ["0.00", "30.00", "0.00"]);

        let november = mt940(
            ("C261031USD107,00", "C261110USD148,00"),
            ":61:261103C30,00NTRFNONREF//B2\n:86:deposit\n:61:261110D9,00NTRFNONREF//B3\n:86:rent\n\
             :61:261110C20,00NTRFNONREF//B4\n:86:two\n",
        );
        desk.try_import(file("bank", november), false).unwrap();
        assert_eq!(desk.act(|act| statements::confirm_proposed(act, "bank")).len(), 1);
        let found = desk.reconciled("2026-10-31");
        assert_eq!(totals(&found), ["0.00", "30.00", "0.00"]);
        assert_eq!(found.entries[0].0.id, check);
        assert_eq!(totals(&desk.reconciled("2026-11-09")), ["0.00", "0.00", "0.00"]);

        // Lines of the 10th, settled by entries of the 18th, one of them in part.
        let rent = desk.post("other-expense", "bank", "9.00", "2026-11-18");
        let [before, after] =
            ["2026-11-09", "2026-11-18"].map(|date| desk.post("bank", "other-income", "10.00", date));
        for (text, entries) in [("rent", vec![rent]), ("two", vec![before, after])] {
            let line = desk.line(text).line.id;
            let targets: Vec<Target> = entries.into_iter().map(Target::Entry).collect();
            desk.act(move |act| statements::choose(act, line, &targets));
            desk.confirm(line);
        }
        assert_eq!(totals(&desk.reconciled("2026-11-16")), ["1.00", "0.00", "0.00"]);
        assert_eq!(totals(&desk.reconciled("2026-11-18")), ["0.00", "0.00", "0.00"]);
        assert_eq!(totals(&desk.reconciled("2026-11-09")), ["0.00", "10.00", "0.00"]);

        // A reversal counts from its own day.
        let reversed = desk.post("bank", "other-income", "4.00", "2026-11-11");
        desk.act(|act| periods::close(act, day("2026-11-12")));
        desk.act(move |act| entries::reverse(act, reversed, "a mistake"));
        assert_eq!(totals(&desk.reconciled("2026-11-16")), ["1.00", "4.00", "0.00"]);
        assert_eq!(totals(&desk.reconciled("2026-11-19")), ["0.00", "0.00", "0.00"]);
        assert_eq!(problems(&desk.db), []);
    });
}
