//! What somebody owes, as a message says it, and the whole text of a message.

use bursar_db::outbox::Message;
use bursar_domain::money::decimal;
use serde::{Deserialize, Serialize};

use crate::recipients::OwedLine;

/// What somebody owes, stored with a message. Amounts are text, so that it always says the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    pub currency: String,
    pub total: String,
    pub lines: Vec<StatementLine>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementLine {
    pub what: String,
    pub due: Option<String>,
    pub amount: String,
}

impl Statement {
    /// `None` when nothing is owed.
    pub fn of(owed: &[OwedLine]) -> Option<Self> {
        let currency = owed.first()?.amount.currency;
        let total: i128 = owed.iter().map(|line| i128::from(line.amount.minor)).sum();
        let line = |line: &OwedLine| StatementLine {
            what: match line.description.as_str() {
                "" => "Payment".to_owned(),
                // A description can have several lines; here it must be one.
                text => text.split_whitespace().collect::<Vec<_>>().join(" "),
            },
            due: line.due_date.clone(),
            amount: line.amount.to_string(),
        };
        Some(Self {
            currency: currency.code().to_owned(),
            total: decimal(total, currency),
            lines: owed.iter().map(line).collect(),
        })
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    pub fn from_json(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub fn text(&self) -> String {
        self.text_of(self.lines.len())
    }

    /// Shows the first `shown` lines. The total is that of all lines.
    pub(crate) fn text_of(&self, shown: usize) -> String {
        let line = |line: &StatementLine| {
            // The description of dues already names the date.
            let due = line.due.as_deref().filter(|due| !line.what.contains(due));
            let due = due.map_or_else(String::new, |due| format!(" (due {due})"));
            format!("- {}{due}: {} {}\n", line.what, line.amount, self.currency)
        };
        let lines: String = self.lines.iter().take(shown).map(line).collect();
        let (total, currency, all) = (&self.total, &self.currency, self.lines.len());
        match (shown, all.saturating_sub(shown)) {
            (0, _) => format!("Total owed: {total} {currency} ({all} payments)"),
            (_, 0) => format!("What is owed:\n{lines}Total: {total} {currency}"),
            (_, more) => format!("What is owed:\n{lines}- and {more} more\nTotal: {total} {currency}"),
        }
    }
}

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
    use bursar_domain::money::{Currency, Money};

    #[test]
    fn a_statement_adds_up_and_is_read_again() {
        let jpy = Currency::parse("JPY").unwrap();
        let line = |minor, description: &str, due: Option<&str>| OwedLine {
            description: description.to_owned(),
            due_date: due.map(str::to_owned),
            amount: Money::new(minor, jpy),
        };
        let owed = [
            line(1_250, "Dues\nof May", Some("2026-05-01")),
            line(50, "", None),
        ];
        let statement = Statement::of(&owed).unwrap();
        assert_eq!(
            statement.text(),
            "What is owed:\n- Dues of May (due 2026-05-01): 1250 JPY\n- Payment: 50 JPY\nTotal: 1300 JPY"
        );
        assert_eq!(Statement::from_json(&statement.to_json()), Some(statement));
        assert_eq!(Statement::of(&[]), None);
    }
}
