//! What the commands of statements print.

use bursar_app::statements::{self, Listed, Settled, ShownLine, What};
use bursar_domain::ids::{OrganizationId, StatementLineId};
use bursar_domain::money::Money;
use bursar_domain::statement::{Balance, LineStatus};
use serde_json::{Value, json};

use super::super::super::door::Door;
use super::super::super::{Failure, Globals, Outcome, output};
use super::super::or_dash;

/// Texts of banks are cut at this length in tables.
const TEXT_MAX: usize = 60;

pub(super) fn list(globals: &Globals, listed: &[Listed]) -> Outcome {
    if globals.json {
        let all: Vec<Value> = listed.iter().map(list_json).collect();
        return output::json(&all);
    }
    let rows = listed.iter().map(|one| {
        let statement = &one.statement;
        [
            one.account.clone(),
            or_dash(statement.first_date),
            or_dash(statement.last_date),
            statement.format.to_string(),
            one.lines().to_string(),
            one.count(LineStatus::Open).to_string(),
            or_dash(
                statement
                    .closing
                    .map(|closing| Money::new(closing.amount, one.currency)),
            ),
            statement.id.to_string(),
        ]
    });
    let header = [
        "account", "from", "until", "format", "lines", "open", "closing", "id",
    ];
    output::table(header, rows.collect(), "no statements");
    Ok(())
}

fn list_json(one: &Listed) -> Value {
    let statement = &one.statement;
    let balance = |balance: Option<Balance>| {
        balance.map(
            |balance| json!({ "date": balance.date, "amount": Money::new(balance.amount, one.currency) }),
        )
    };
    json!({
        "id": statement.id, "account": one.account, "format": statement.format, "from": statement.first_date,
        "until": statement.last_date, "opening": balance(statement.opening), "closing": balance(statement.closing),
        "lines": one.lines(), "open": one.count(LineStatus::Open), "matched": one.count(LineStatus::Matched),
        "booked": one.count(LineStatus::Booked), "ignored": one.count(LineStatus::Ignored),
        "importedAt": statement.imported_at,
    })
}

pub(super) fn lines(globals: &Globals, shown: &[ShownLine], none: &str) -> Outcome {
    if globals.json {
        let all: Vec<Value> = shown.iter().map(line_json).collect();
        return output::json(&all);
    }
    let rows = shown.iter().map(|shown| {
        let line = &shown.line;
        [
            line.date.to_string(),
            Money::new(line.amount, shown.currency).to_string(),
            or_dash(line.counterparty_name.as_deref()),
            cut(&line.text),
            line.status.to_string(),
            proposal_words(shown),
            line.id.to_string(),
        ]
    });
    let header = ["date", "amount", "from or to", "text", "status", "proposal", "id"];
    output::table(header, rows.collect(), none);
    Ok(())
}

fn cut(text: &str) -> String {
    match text.chars().count() > TEXT_MAX {
        true => text.chars().take(TEXT_MAX - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

fn proposal_words(shown: &ShownLine) -> String {
    let fee = |minor| Money::new(minor, shown.currency).to_string();
    match (&shown.proposed, &shown.entries[..]) {
        (Some(proposed), _) => proposed.words(fee),
        (None, []) => "-".to_owned(),
        (None, entries) => entries
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    }
}

fn line_json(shown: &ShownLine) -> Value {
    let line = &shown.line;
    let fee = |minor| Money::new(minor, shown.currency).to_string();
    let proposal = shown.proposed.as_ref().map(|proposed| {
        let entries = match &proposed.proposal.what {
            What::Entries(entries) => entries.clone(),
            What::Receipt { .. } | What::Payout { .. } => Vec::new(),
        };
        let kept = match &proposed.proposal.what {
            What::Payout { fee } => Some(Money::new(*fee, shown.currency)),
            What::Receipt { .. } | What::Entries(_) => None,
        };
        let payments: Vec<_> = proposed.payments.iter().map(|(id, _)| *id).collect();
        json!({
            "reason": proposed.proposal.reason, "payments": payments, "entries": entries,
            "payerId": proposed.payer.as_ref().map(|(id, _)| *id),
            "payerName": proposed.payer.as_ref().map(|(_, name)| name.as_str()),
            "fee": kept, "isExact": proposed.proposal.is_exact, "words": proposed.words(fee),
        })
    });
    json!({
        "id": line.id, "date": line.date, "amount": Money::new(line.amount, shown.currency), "text": line.text,
        "proposal": proposal, "status": line.status, "account": shown.account, "statementId": line.statement,
        "reference": line.reference, "endToEnd": line.end_to_end, "counterpartyName": line.counterparty_name,
        "counterpartyAccount": line.counterparty_account, "entries": shown.entries,
    })
}

/// Lines as they are now.
pub(super) fn changed(door: &Door<'_>, org: OrganizationId, ids: &[StatementLineId]) -> Outcome {
    lines(door.globals, &read(door, org, ids)?, "")
}

fn read(door: &Door<'_>, org: OrganizationId, ids: &[StatementLineId]) -> Result<Vec<ShownLine>, Failure> {
    let one = |id: &StatementLineId| door.survey(org, |view| statements::line(view, *id));
    ids.iter().map(one).collect()
}

/// Lines that are in the books now.
pub(super) fn settled(globals: &Globals, settled: &[Settled]) -> Outcome {
    if globals.json {
        let all: Vec<Value> = settled
            .iter()
            .map(|settled| {
                let line = &settled.line;
                json!({
                    "id": line.id, "date": line.date, "amount": Money::new(line.amount, settled.currency), "text": line.text,
                    "status": line.status, "entries": settled.entries,
                    "reason": settled.proposed.as_ref().map(|proposed| proposed.proposal.reason),
                })
            })
            .collect();
        return output::json(&all);
    }
    let rows = settled.iter().map(|settled| {
        let line = &settled.line;
        let entries: Vec<String> = settled.entries.iter().map(ToString::to_string).collect();
        let fee = |minor| Money::new(minor, settled.currency).to_string();
        let why = settled.proposed.as_ref().map(|proposed| proposed.words(fee));
        [
            line.date.to_string(),
            Money::new(line.amount, settled.currency).to_string(),
            or_dash(line.counterparty_name.as_deref()),
            line.status.to_string(),
            or_dash(why),
            entries.join(", "),
            line.id.to_string(),
        ]
    });
    let header = ["date", "amount", "from or to", "status", "why", "entries", "id"];
    output::table(header, rows.collect(), "no line has a proposal");
    Ok(())
}

/// Says how many lines and how much an undo takes out of the books.
pub(super) fn plan_of_undo(
    door: &Door<'_>,
    org: OrganizationId,
    ids: &[StatementLineId],
) -> Result<String, Failure> {
    let shown = read(door, org, ids)?;
    let booked = shown
        .iter()
        .filter(|shown| shown.line.status == LineStatus::Booked);
    let total: i128 = booked.clone().map(|shown| i128::from(shown.line.amount)).sum();
    let currency = shown.first().map(|shown| shown.currency);
    let sum = currency.map_or_else(String::new, |currency| {
        format!("{} {currency}", bursar_domain::money::decimal(total, currency))
    });
    let (all, made) = (shown.len() as u64, booked.count() as u64);
    let made = match made {
        0 => "nothing in the books changes".to_owned(),
        made => format!("what {} booked is reversed, {sum}", output::many(made, "line")),
    };
    Ok(format!(
        "{} open again; {made}.",
        match all {
            1 => "1 line will be".to_owned(),
            _ => format!("{all} lines will be"),
        }
    ))
}
