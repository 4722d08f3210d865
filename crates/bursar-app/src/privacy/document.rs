//! What is known about a member, as a letter that the member can read.

use bursar_documents::{Align, Block, Cell, Column, Letter, Row, Table, Unset};
use serde_json::Value;

use crate::texts::TEXTS;

/// One table of the letter.
struct Part {
    heading: &'static str,
    key: &'static str,
    /// The heading, the field, and whether it is an amount. The second column takes the width that is left.
    columns: [(&'static str, &'static str); 4],
    /// Shown below the second column.
    below: &'static str,
}

const PARTS: &[Part] = &[
    part(
        "Groups",
        "groups",
        [("", ""), ("Name", "name"), ("", ""), ("", "")],
        "",
    ),
    part(
        "Paid for",
        "household",
        [("", ""), ("Name", "name"), ("", ""), ("", "")],
        "",
    ),
    part(
        "Charges",
        "payments",
        [
            ("Due", "dueDate"),
            ("For", "description"),
            ("State", "status"),
            ("Amount", "amount"),
        ],
        "reference",
    ),
    part(
        "Money received",
        "receipts",
        [
            ("Date", "date"),
            ("Reference", "reference"),
            ("Method", "method"),
            ("Amount", "amount"),
        ],
        "payerName",
    ),
    part(
        "Online payments",
        "onlinePayments",
        [
            ("Date", "createdAt"),
            ("Provider's id", "providerId"),
            ("State", "state"),
            ("Amount", "amount"),
        ],
        "failure",
    ),
    part(
        "Saved cards",
        "savedCards",
        [
            ("Since", "startedAt"),
            ("Card", "card"),
            ("State", "state"),
            ("Valid until", "cardUntil"),
        ],
        "providerId",
    ),
    part(
        "Reimbursements",
        "reimbursements",
        [
            ("Date", "incurredAt"),
            ("For", "description"),
            ("State", "status"),
            ("Amount", "amount"),
        ],
        "reviewerNote",
    ),
    part(
        "Orders",
        "orders",
        [
            ("Date", "createdAt"),
            ("Order", "id"),
            ("State", "status"),
            ("Amount", "totalAmount"),
        ],
        "",
    ),
    part(
        "Cards",
        "cards",
        [
            ("Number", "last4"),
            ("Name", "name"),
            ("State", "status"),
            ("Limit", "spendLimit"),
        ],
        "",
    ),
    part(
        "Messages",
        "messages",
        [
            ("Date", "createdAt"),
            ("Subject", "subject"),
            ("State", "state"),
            ("By", "method"),
        ],
        "body",
    ),
    part(
        "Bank lines",
        "statementLines",
        [
            ("Date", "date"),
            ("Text", "text"),
            ("From", "counterpartyName"),
            ("Amount", "amount"),
        ],
        "counterpartyAccount",
    ),
    part(
        "Attached files",
        "attachments",
        [
            ("Date", "createdAt"),
            ("Name", "name"),
            ("Type", "contentType"),
            ("Bytes", "size"),
        ],
        "",
    ),
    part(
        "Journal",
        "journalEntries",
        [
            ("Date", "date"),
            ("Memo", "memo"),
            ("Kind", "kind"),
            ("Reference", "reference"),
        ],
        "id",
    ),
    part(
        "Activity",
        "activity",
        [("Date", "at"), ("Action", "action"), ("", ""), ("", "")],
        "subject",
    ),
    part(
        "Events",
        "events",
        [("Date", "createdAt"), ("Type", "type"), ("", ""), ("", "")],
        "resourceId",
    ),
];

const fn part(
    heading: &'static str,
    key: &'static str,
    columns: [(&'static str, &'static str); 4],
    below: &'static str,
) -> Part {
    Part {
        heading,
        key,
        columns,
        below,
    }
}

/// Of what [`super::export`] returned.
pub fn pdf(exported: &Value) -> Result<Vec<u8>, Unset> {
    bursar_documents::pdf(&letter(exported))
}

fn letter(exported: &Value) -> Letter {
    let member = &exported["member"];
    let name = format!("{} {}", text(&member["firstName"]), text(&member["lastName"]));
    let organization = text(&exported["organization"]["name"]);
    let mut blocks = vec![Block::Paragraph(format!(
        "This is what {organization} keeps about you. The file in JSON that comes with it has every detail."
    ))];
    let facts = [
        ("Name", name.clone()),
        ("E-mail address", text(&member["email"])),
        ("Phone", text(&member["phone"])),
        ("Member since", text(&member["joinDate"])),
        ("State", state(member)),
        ("Reference", text(&member["reference"])),
        ("Bank accounts", text(&member["bankAccounts"])),
        ("Paid for by", text(&exported["payer"]["name"])),
        ("Credit", text(&exported["credit"])),
        ("Signs in as", text(&exported["signIn"]["email"])),
    ];
    let facts: Vec<Row> = facts
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(word, value)| row([word.to_owned(), value].map(Cell::from).to_vec()))
        .collect();
    blocks.push(Block::Table(Table {
        columns: vec![column("", Align::Left, false), column("", Align::Left, true)],
        rows: facts,
    }));
    for part in PARTS {
        let rows = exported[part.key].as_array().map_or(&[][..], Vec::as_slice);
        if !rows.is_empty() {
            blocks.push(Block::Heading(part.heading.to_owned()));
            blocks.push(Block::Table(table(part, rows)));
        }
    }
    let mut sender = vec![organization];
    sender.extend(Some(text(&exported["organization"]["contactEmail"])).filter(|text| !text.is_empty()));
    let email = Some(text(&member["email"])).filter(|text| !text.is_empty());
    Letter {
        language: TEXTS.language.to_owned(),
        title: "What we know about you".to_owned(),
        sender,
        recipient: [name].into_iter().chain(email).collect(),
        facts: vec![
            (TEXTS.date.to_owned(), day(&exported["exportedAt"])),
            (TEXTS.currency.to_owned(), text(&exported["currency"])),
        ],
        blocks,
        footer: TEXTS.page.to_owned(),
        missing: TEXTS.missing.to_owned(),
    }
}

fn state(member: &Value) -> String {
    match member["isActive"].as_bool() {
        Some(true) => "active".to_owned(),
        Some(false) => "archived".to_owned(),
        None => String::new(),
    }
}

fn table(part: &Part, rows: &[Value]) -> Table {
    let columns: Vec<(&str, &str)> = part
        .columns
        .into_iter()
        .filter(|(_, field)| !field.is_empty())
        .collect();
    let is_wide = |field: &str| field == part.columns[1].1;
    let align = |heading: &str| match heading {
        "Amount" | "Limit" | "Bytes" => Align::Right,
        _ => Align::Left,
    };
    let cells = |value: &Value| {
        let cell = |(_, field): &(&str, &str)| Cell {
            text: match field.ends_with("At") || *field == "at" {
                true => day(&value[*field]),
                false => text(&value[*field]),
            },
            below: Some(text(&value[part.below])).filter(|below| is_wide(field) && !below.is_empty()),
        };
        row(columns.iter().map(cell).collect())
    };
    Table {
        columns: columns
            .iter()
            .map(|(heading, field)| column(heading, align(heading), is_wide(field)))
            .collect(),
        rows: rows.iter().map(cells).collect(),
    }
}

fn row(cells: Vec<Cell>) -> Row {
    Row {
        cells,
        is_bold: false,
    }
}

fn column(heading: &str, align: Align, is_wide: bool) -> Column {
    Column {
        heading: heading.to_owned(),
        align,
        is_wide,
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(", "),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

fn day(value: &Value) -> String {
    let time = text(value);
    time.split('T').next().unwrap_or_default().to_owned()
}
