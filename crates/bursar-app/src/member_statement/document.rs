//! The statement as a letter.

use bursar_documents::{Align, Block, Cell, Column, Frame, Letter, Row, Table, Unset};
use bursar_domain::money::Money;

use super::{Line, MemberStatement, OpenCharge};
use crate::statement::Standing;
use crate::texts::{TEXTS, say};

/// A PDF that can be printed and posted.
pub fn pdf(statement: &MemberStatement) -> Result<Vec<u8>, Unset> {
    bursar_documents::pdf(&letter(statement))
}

fn letter(statement: &MemberStatement) -> Letter {
    let mut blocks = vec![Block::Paragraph(summary(statement))];
    if !statement.household.is_empty() {
        let names: Vec<String> = statement
            .household
            .iter()
            .map(|person| person.name.clone())
            .collect();
        let members = TEXTS.list(&names);
        blocks.push(Block::Paragraph(say(TEXTS.covers, &[("members", &members)])));
    }
    blocks.push(Block::Table(movements(statement)));
    if !statement.open.is_empty() {
        blocks.push(Block::Heading(TEXTS.open_charges.to_owned()));
        blocks.push(Block::Table(open_charges(statement)));
    }
    blocks.extend(how_to_pay(statement).map(Block::Frame));
    let mut sender = vec![statement.organization.clone()];
    sender.extend(statement.contact.clone());
    Letter {
        language: TEXTS.language.to_owned(),
        title: TEXTS.statement.to_owned(),
        sender,
        recipient: recipient(statement),
        facts: facts(statement),
        blocks,
        footer: TEXTS.page.to_owned(),
        missing: TEXTS.missing.to_owned(),
    }
}

/// To the payer, if somebody else pays.
fn recipient(statement: &MemberStatement) -> Vec<String> {
    let reader = statement.payer.as_ref().unwrap_or(&statement.member);
    let about = statement
        .payer
        .as_ref()
        .map(|_| say(TEXTS.on_behalf, &[("member", &statement.member.name)]));
    [Some(reader.name.clone()), reader.email.clone(), about]
        .into_iter()
        .flatten()
        .collect()
}

fn facts(statement: &MemberStatement) -> Vec<(String, String)> {
    let period = say(
        TEXTS.from_until,
        &[
            ("from", &statement.from.to_string()),
            ("until", &statement.until.to_string()),
        ],
    );
    let mut facts = vec![
        (TEXTS.date.to_owned(), statement.until.to_string()),
        (TEXTS.period.to_owned(), period),
    ];
    let reference = statement.member.reference.clone();
    facts.extend(reference.map(|reference| (TEXTS.your_reference.to_owned(), reference)));
    facts.push((TEXTS.currency.to_owned(), statement.currency.to_string()));
    facts
}

/// What the reader has to know first.
fn summary(statement: &MemberStatement) -> String {
    let date = statement.until.to_string();
    let closing = statement.closing;
    let amount = with_currency(Money::new(closing.minor.abs(), closing.currency));
    let overdue = with_currency(statement.overdue);
    let values = [
        ("date", date.as_str()),
        ("amount", amount.as_str()),
        ("overdue", overdue.as_str()),
    ];
    let text = match (closing.minor, statement.overdue.minor) {
        (0, _) => TEXTS.nothing_owed,
        (..0, _) => TEXTS.in_credit,
        (_, 0) => TEXTS.you_owe,
        (_, _) => TEXTS.you_owe_overdue,
    };
    say(text, &values)
}

fn with_currency(money: Money) -> String {
    format!("{money} {}", money.currency)
}

fn column(heading: &str, align: Align, is_wide: bool) -> Column {
    Column {
        heading: heading.to_owned(),
        align,
        is_wide,
    }
}

fn movements(statement: &MemberStatement) -> Table {
    let sum = |text: &str, date: String, [charged, credited, balance]: [String; 3]| Row {
        cells: vec![
            date.into(),
            text.into(),
            charged.into(),
            credited.into(),
            balance.into(),
        ],
        is_bold: true,
    };
    let empty = String::new;
    let first = sum(
        TEXTS.opening_balance,
        statement.from.to_string(),
        [empty(), empty(), statement.opening.to_string()],
    );
    let last = sum(
        TEXTS.closing_balance,
        statement.until.to_string(),
        [
            statement.charged.to_string(),
            statement.credited.to_string(),
            statement.closing.to_string(),
        ],
    );
    let rows = [first]
        .into_iter()
        .chain(statement.lines.iter().map(movement))
        .chain([last]);
    Table {
        columns: vec![
            column(TEXTS.date, Align::Left, false),
            column(TEXTS.description, Align::Left, true),
            column(TEXTS.charged, Align::Right, false),
            column(TEXTS.credited, Align::Right, false),
            column(TEXTS.balance, Align::Right, false),
        ],
        rows: rows.collect(),
    }
}

fn movement(line: &Line) -> Row {
    let shown = |money: Money| match money.minor {
        0 => String::new(),
        _ => money.to_string(),
    };
    let reference = line.reference.as_deref();
    Row {
        cells: vec![
            line.date.to_string().into(),
            Cell {
                text: line.told(),
                below: reference.map(|reference| say(TEXTS.reference, &[("reference", reference)])),
            },
            shown(line.charged).into(),
            shown(line.credited).into(),
            line.balance.to_string().into(),
        ],
        is_bold: false,
    }
}

fn open_charges(statement: &MemberStatement) -> Table {
    let row = |charge: &OpenCharge| {
        let due = charge.due_date.map(|due| due.to_string()).unwrap_or_default();
        let standing = match charge.standing {
            Standing::Overdue => TEXTS.overdue,
            Standing::Due => TEXTS.due,
            Standing::NotDue => TEXTS.not_due,
        };
        let what = match &charge.member {
            Some(member) => say(
                TEXTS.for_member,
                &[("what", &charge.description), ("member", member)],
            ),
            None => charge.description.clone(),
        };
        let reference = charge.reference.as_deref();
        Row {
            cells: vec![
                Cell {
                    text: what,
                    below: reference.map(|reference| say(TEXTS.reference, &[("reference", reference)])),
                },
                due.into(),
                standing.into(),
                charge.open.to_string().into(),
            ],
            is_bold: false,
        }
    };
    Table {
        columns: vec![
            column(TEXTS.description, Align::Left, true),
            column(TEXTS.due_heading, Align::Left, false),
            column("", Align::Left, false),
            column(TEXTS.open_amount, Align::Right, false),
        ],
        rows: statement.open.iter().map(row).collect(),
    }
}

/// Only if something is owed.
fn how_to_pay(statement: &MemberStatement) -> Option<Frame> {
    if statement.closing.minor <= 0 {
        return None;
    }
    let own = statement.member.reference.clone();
    let reference = match statement.open.as_slice() {
        [only] => only.reference.clone().or(own),
        _ => own,
    };
    let amount = (TEXTS.amount.to_owned(), with_currency(statement.closing));
    let reference = reference.map(|reference| (TEXTS.reference_word.to_owned(), reference));
    Some(Frame {
        heading: TEXTS.how_to_pay.to_owned(),
        paragraphs: statement.how_to_pay.iter().cloned().collect(),
        facts: [amount].into_iter().chain(reference).collect(),
    })
}
