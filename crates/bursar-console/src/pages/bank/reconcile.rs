//! What the bank says an account holds against what the books say, and what explains the difference.

use askama::Template;
use bursar_app::View;
use bursar_app::statements::reconciliation::reconciliation;
use bursar_domain::Refusal;
use bursar_domain::ids::{StatementLineId, kind};
use bursar_domain::money::Money;

use super::rows;
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;
use crate::words;

#[derive(Template)]
#[template(path = "bank/reconcile.html")]
struct Page<'a> {
    frame: &'a Frame,
    name: String,
    at: String,
    day: String,
    stated: String,
    steps: Vec<(String, String)>,
    books: String,
    unexplained: String,
    is_explained: bool,
    open: Vec<(StatementLineId, String, String, String)>,
    entries: Vec<(String, String, String)>,
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let id = asking.id::<kind::Account>(0)?;
    let (known, _) = bursar_app::books::entries::accounts(view)?;
    if !known.contains_key(&id) {
        return Err(Refusal::missing("there is no such account").into());
    }
    let at = bursar_domain::Date::parse(asking.query("at"));
    let held = reconciliation(view, &id.to_string(), at)?;
    let minus = |money: Money| words::money(Money::new(money.minor.saturating_neg(), money.currency));
    let unexplained = held.unexplained.map_or(0, |money| money.minor);
    let mut steps = vec![(
        match held.stated {
            Some((day, _)) => format!("At the bank, as stated on {}", words::day(day)),
            None => "At the bank, by the lines that were imported".to_owned(),
        },
        words::money(held.bank_balance),
    )];
    let mut step = |name: String, money: Money, amount: String| {
        if money.minor != 0 {
            steps.push((name, amount));
        }
    };
    let lines = words::count(held.open_lines.len(), "line", "lines");
    step(
        format!("Without {lines} to match"),
        held.open_total,
        minus(held.open_total),
    );
    step(
        "Without lines excluded from the books".to_owned(),
        held.ignored_total,
        minus(held.ignored_total),
    );
    let entries = words::count(held.entries.len(), "entry", "entries");
    step(
        format!("With {entries} that the bank does not show yet"),
        held.entries_total,
        words::money(held.entries_total),
    );
    if let Some(left) = held.unexplained {
        step("Not explained".to_owned(), left, minus(left));
    }
    let page = Page {
        frame: &asking.frame,
        name: super::account_name(&held.account),
        at: held.at.to_string(),
        day: words::day(held.at),
        stated: held
            .stated
            .map(|(day, money)| format!("{} on {}", words::money_in(money), words::day(day)))
            .unwrap_or_default(),
        steps,
        books: words::money(held.book_balance),
        unexplained: held.unexplained.map(words::money_in).unwrap_or_default(),
        is_explained: unexplained == 0,
        open: held
            .open_lines
            .iter()
            .map(|line| {
                let amount = words::money(Money::new(line.amount, held.book_balance.currency));
                (line.id, words::day(line.date), rows::who(line), amount)
            })
            .collect(),
        entries: held
            .entries
            .iter()
            .map(|(entry, money)| {
                let told = rows::entry_words(entry);
                (words::day(entry.date), told, words::money(*money))
            })
            .collect(),
    };
    Ok(page.render()?)
}
