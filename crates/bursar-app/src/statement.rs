//! What somebody owes, as a message says it, and the whole text of a message.

use bursar_db::outbox::Message;
use bursar_domain::Date;
use bursar_domain::creditor_reference::spaced;
use bursar_domain::money::{Currency, decimal};
use serde::{Deserialize, Serialize};

use crate::recipients::OwedLine;
use crate::texts::{TEXTS, say};

/// What somebody owes, stored with a message. Amounts are text, so that it always says the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Statement {
    pub currency: String,
    pub total: String,
    /// Overdue, if something is.
    #[serde(default)]
    pub overdue: Option<String>,
    /// Overdue and due, if something else is not due yet.
    #[serde(default)]
    pub to_pay_now: Option<String>,
    /// In the order of their standing.
    pub lines: Vec<StatementLine>,
    /// What to write on a transfer of the total.
    #[serde(default)]
    pub reference: Option<String>,
    /// The organization's own text.
    #[serde(default)]
    pub how_to_pay: Option<String>,
    /// Leads to the reader's own page.
    #[serde(default)]
    pub pay_link: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementLine {
    pub what: String,
    pub due: Option<String>,
    pub amount: String,
    #[serde(default)]
    pub standing: Standing,
    #[serde(default)]
    pub reference: Option<String>,
    /// Whose charge it is, if not the reader's.
    #[serde(default)]
    pub member: Option<String>,
}

/// How a charge stands on the day of the message. One without a due day is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Standing {
    Overdue,
    #[default]
    Due,
    NotDue,
}

impl Standing {
    pub(crate) fn on(today: Date, due: Option<Date>) -> Self {
        match due {
            Some(due) if due < today => Self::Overdue,
            Some(due) if due > today => Self::NotDue,
            Some(_) | None => Self::Due,
        }
    }

    pub const fn heading(self) -> &'static str {
        match self {
            Self::Overdue => TEXTS.overdue,
            Self::Due => TEXTS.due,
            Self::NotDue => TEXTS.not_due,
        }
    }
}

impl Statement {
    /// `None` when nothing is owed. `reference` is the reader's own, which pays for everything.
    pub fn of(owed: &[OwedLine], today: Date, reference: Option<&str>) -> Option<Self> {
        let currency = owed.first()?.amount.currency;
        let mut lines: Vec<(Standing, &OwedLine)> = owed
            .iter()
            .map(|line| (Standing::on(today, line.due_date), line))
            .collect();
        lines.sort_by_key(|(standing, line)| (*standing, line.due_date.is_none(), line.due_date));
        let sum = |until: Standing| {
            let counted = lines.iter().filter(|(standing, _)| *standing <= until);
            let sum: i128 = counted.map(|(_, line)| i128::from(line.amount.minor)).sum();
            Some(sum).filter(|sum| *sum > 0)
        };
        let told = |sum: Option<i128>| sum.map(|sum| decimal(sum, currency));
        let has_later = lines.iter().any(|(standing, _)| *standing == Standing::NotDue);
        let reference = match owed {
            [only] => only.reference.as_deref().or(reference),
            _ => reference,
        };
        Some(Self {
            currency: currency.code().to_owned(),
            total: told(sum(Standing::NotDue)).unwrap_or_else(|| decimal(0, currency)),
            overdue: told(sum(Standing::Overdue)),
            to_pay_now: told(sum(Standing::Due)).filter(|_| has_later),
            reference: reference.map(spaced),
            how_to_pay: None,
            pay_link: None,
            lines: lines
                .into_iter()
                .map(|(standing, line)| StatementLine::of(line, standing))
                .collect(),
        })
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    pub fn from_json(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// `120.00 USD`.
    pub fn money(&self, amount: &str) -> String {
        format!("{amount} {}", self.currency)
    }

    /// What is overdue, also if nothing is.
    pub fn overdue_told(&self) -> String {
        let currency = Currency::parse(&self.currency).unwrap_or(Currency::USD);
        self.money(self.overdue.as_deref().unwrap_or(&decimal(0, currency)))
    }

    pub fn earliest_due(&self) -> Option<&str> {
        self.lines.iter().filter_map(|line| line.due.as_deref()).min()
    }

    /// The lines of each standing that has some.
    pub fn sections(&self) -> impl Iterator<Item = (Standing, &[StatementLine])> {
        self.lines
            .chunk_by(|a, b| a.standing == b.standing)
            .filter_map(|lines| Some((lines.first()?.standing, lines)))
    }

    /// The sums at the end: a word and an amount with its currency.
    pub fn sums(&self) -> Vec<(&'static str, String)> {
        let now = self.to_pay_now.iter().map(|sum| (TEXTS.pay_now, self.money(sum)));
        now.chain([(TEXTS.total_owed, self.money(&self.total))]).collect()
    }

    /// What to write on the transfer, in words.
    pub fn reference_told(&self) -> Option<String> {
        let reference = self.reference.as_deref()?;
        let text = match self.lines.len() {
            1 => TEXTS.use_reference,
            _ => TEXTS.use_one_reference,
        };
        Some(say(text, &[("reference", reference)]))
    }

    /// The text on how to pay and the reference.
    pub fn pay_paragraphs(&self) -> Vec<String> {
        self.how_to_pay
            .iter()
            .cloned()
            .chain(self.reference_told())
            .collect()
    }

    /// As the plain text of an e-mail.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (standing, lines) in self.sections() {
            out += &format!("{}:\n", standing.heading());
            for line in lines {
                let reference = line.reference.as_deref().filter(|_| self.lines.len() > 1);
                let reference = reference.map(|reference| say(TEXTS.reference, &[("reference", reference)]));
                let reference = reference.map_or_else(String::new, |told| format!("\n  {told}"));
                out += &format!("- {}{reference}\n", self.line(line));
            }
            out.push('\n');
        }
        for (what, sum) in self.sums() {
            out += &format!("{what}: {sum}\n");
        }
        let how = self.pay_paragraphs();
        if !how.is_empty() {
            out += &format!("\n{}:\n{}\n", TEXTS.how_to_pay, how.join("\n"));
        }
        if let Some(link) = &self.pay_link {
            out += &format!("\n{}:\n{link}\n", TEXTS.pay_link);
        }
        out.truncate(out.trim_end().len());
        out
    }

    /// `Dues for Ben (due 2026-05-01): 12.50 USD`.
    fn line(&self, line: &StatementLine) -> String {
        // The description of dues already names the date.
        let due = line.due.as_deref().filter(|due| !line.what.contains(due));
        let due = due.map(|due| format!(" ({})", say(TEXTS.due_on, &[("date", due)])));
        format!(
            "{}{}: {}",
            line.whole_what(),
            due.unwrap_or_default(),
            self.money(&line.amount)
        )
    }

    /// As an SMS says it, with the first `shown` lines. The total is that of all lines.
    pub(crate) fn short_text(&self, shown: usize) -> String {
        let mut out = String::new();
        for line in self.lines.iter().take(shown) {
            let standing = match line.standing {
                Standing::Overdue => format!(" ({})", TEXTS.overdue.to_lowercase()),
                Standing::Due | Standing::NotDue => String::new(),
            };
            out += &format!("- {}{standing}\n", self.line(line));
        }
        let left = self.lines.len().saturating_sub(shown);
        let mut total = self.money(&self.total);
        if shown == 0 {
            let count = left.to_string();
            total = say(TEXTS.total_of, &[("amount", &total), ("count", &count)]);
        } else if left > 0 {
            let more = say(TEXTS.more, &[("count", &left.to_string())]);
            out += &format!("- {more}\n");
        }
        if let Some(overdue) = self.overdue.as_deref().filter(|overdue| *overdue != self.total) {
            let overdue = self.money(overdue);
            total = say(TEXTS.overdue_of, &[("amount", &total), ("overdue", &overdue)]);
        }
        out += &format!("{}: {total}", TEXTS.total_owed);
        if let Some(reference) = &self.reference {
            out += &format!("\n{}", say(TEXTS.reference, &[("reference", reference)]));
        }
        out
    }
}

impl StatementLine {
    fn of(line: &OwedLine, standing: Standing) -> Self {
        Self {
            what: match line.description.as_str() {
                "" => TEXTS.charge.to_owned(),
                // A description can have several lines; here it must be one.
                text => text.split_whitespace().collect::<Vec<_>>().join(" "),
            },
            due: line.due_date.map(|due| due.to_string()),
            amount: line.amount.to_string(),
            standing,
            reference: line.reference.as_deref().map(spaced),
            member: line.member.clone(),
        }
    }

    /// With whose it is.
    pub fn whole_what(&self) -> String {
        match &self.member {
            Some(member) => say(TEXTS.for_member, &[("what", &self.what), ("member", member)]),
            None => self.what.clone(),
        }
    }
}

/// The text of a message, with what is owed.
pub fn full_text(message: &Message) -> String {
    let owed = message.owed.as_deref().and_then(Statement::from_json);
    match (message.body.as_str(), owed) {
        ("", None) => message.subject.clone(),
        ("", Some(owed)) => owed.text(),
        (body, None) => body.to_owned(),
        (body, Some(owed)) => format!("{body}\n\n{}", owed.text()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bursar_domain::money::Money;

    fn line(minor: i64, description: &str, due: Option<&str>) -> OwedLine {
        OwedLine {
            description: description.to_owned(),
            due_date: due.and_then(Date::parse),
            amount: Money::new(minor, Currency::parse("JPY").unwrap()),
            reference: None,
            member: None,
        }
    }

    fn day(text: &str) -> Date {
        Date::parse(text).unwrap()
    }

    #[test]
    fn a_statement_adds_up_and_is_read_again() {
        let owed = [
            line(50, "", None),
            line(700, "Dues\nof July", Some("2026-07-01")),
            OwedLine {
                reference: Some("RF181".into()),
                member: Some("Ben Ito".into()),
                ..line(1_250, "Dues of May", Some("2026-05-01"))
            },
        ];
        let mut statement = Statement::of(&owed, day("2026-06-01"), Some("RF952")).unwrap();
        statement.how_to_pay = Some("To account 4711.".to_owned());
        statement.pay_link = Some("https://dues.example.org/m/l/x".to_owned());
        assert_eq!(
            statement.text(),
            "Overdue:\n- Dues of May for Ben Ito (due 2026-05-01): 1250 JPY\n  Reference RF18 1\n\n\
             Due now:\n- Payment: 50 JPY\n\n\
             Not due yet:\n- Dues of July (due 2026-07-01): 700 JPY\n\n\
             To pay now: 1300 JPY\nTotal owed: 2000 JPY\n\n\
             How to pay:\nTo account 4711.\n\
             Please give the reference RF95 2 to pay everything at once, or the reference of a single payment.\n\n\
             See your account and how to pay:\nhttps://dues.example.org/m/l/x"
        );
        assert_eq!(
            statement.short_text(2),
            "- Dues of May for Ben Ito (due 2026-05-01): 1250 JPY (overdue)\n- Payment: 50 JPY\n- and 1 more\n\
             Total owed: 2000 JPY, of which 1250 JPY is overdue\nReference RF95 2"
        );
        assert_eq!(Statement::from_json(&statement.to_json()), Some(statement));
        assert_eq!(Statement::of(&[], day("2026-06-01"), None), None);
    }

    #[test]
    fn a_single_charge_is_paid_with_its_own_reference() {
        let only = OwedLine {
            reference: Some("RF181".into()),
            ..line(5, "Dues", Some("2026-06-01"))
        };
        let statement = Statement::of(&[only], day("2026-06-01"), Some("RF952")).unwrap();
        assert_eq!(
            statement.text(),
            "Due now:\n- Dues (due 2026-06-01): 5 JPY\n\nTotal owed: 5 JPY\n\n\
             How to pay:\nPlease give the reference RF18 1."
        );
    }

    /// Messages that an earlier version queued are still sent.
    #[test]
    fn a_statement_of_an_earlier_version_is_read() {
        let kept = r#"{"currency":"USD","total":"7.50","lines":[{"what":"May","due":"2026-05-01","amount":"7.50"}]}"#;
        let statement = Statement::from_json(kept).unwrap();
        assert_eq!(
            statement.text(),
            "Due now:\n- May (due 2026-05-01): 7.50 USD\n\nTotal owed: 7.50 USD"
        );
    }
}
