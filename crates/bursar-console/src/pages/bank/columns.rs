//! Asks what the columns of a CSV file are. The account remembers it for the next file.

use askama::Template;
use bursar_app::statements::{self, Column, Field, Guess, NewStatement, Notation};
use bursar_app::{View, uploads};
use bursar_domain::ids::kind;

use super::import::{account, import};
use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::{Form, Sent};
use crate::frame::Frame;

const SHOWN: &[&str] = &[];

struct Row {
    /// The name of its field in the form.
    field: String,
    name: String,
    examples: String,
    chosen: String,
}

#[derive(Template)]
#[template(path = "bank/columns.html")]
struct Page<'a> {
    frame: &'a Frame,
    form: &'a Form,
    file: String,
    account: String,
    accounts: Vec<(String, String)>,
    fields: Vec<(&'static str, &'static str)>,
    rows: Vec<Row>,
    /// Why it was not read as it is.
    why: String,
}

const fn label(field: Field) -> &'static str {
    match field {
        Field::Date => "Day",
        Field::ValueDate => "Value day",
        Field::Amount => "Amount, with its sign",
        Field::Debit => "Money out",
        Field::Credit => "Money in",
        Field::Sign => "In or out, as a word",
        Field::Text => "What it is for",
        Field::Name => "Who paid or was paid",
        Field::Account => "Their account",
        Field::OwnAccount => "Our account",
        Field::Reference => "The bank's reference",
        Field::Currency => "Currency",
        Field::Balance => "Balance after it",
    }
}

fn guesses(bytes: &[u8]) -> Result<Vec<Guess>, Problem> {
    statements::guess(bytes).ok_or_else(|| Problem::of("file", "The file is not a table."))
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let parked = uploads::get(view, asking.id::<kind::Upload>(0)?)?;
    let word = |field: Option<Field>| {
        let found = Field::ALL.iter().find(|(other, _)| Some(*other) == field);
        found.map_or("", |(_, word)| word)
    };
    let account = form.or("account", asking.query("account")).to_owned();
    let why = match &form.problem {
        Some(_) => String::new(),
        None => {
            let new = NewStatement {
                account: account.clone(),
                bytes: parked.bytes.clone(),
                format: None,
                columns: Vec::new(),
            };
            let read = statements::read(view, &new);
            let failure = read.err().map(Failure::from);
            failure
                .and_then(|failure| failure.problem())
                .map(|problem| problem.message)
                .unwrap_or_default()
        }
    };
    let rows = guesses(&parked.bytes)?
        .into_iter()
        .enumerate()
        .map(|(at, guess)| {
            let field = format!("column-{at}");
            Row {
                chosen: form.or(&field, word(guess.field)).to_owned(),
                field,
                name: match guess.name.is_empty() {
                    true => format!("Column {}", at + 1),
                    false => guess.name,
                },
                examples: guess.examples.join(" · "),
            }
        });
    let page = Page {
        frame: &asking.frame,
        form,
        file: parked.name,
        account,
        accounts: super::money_accounts(view)?,
        fields: Field::ALL
            .iter()
            .map(|(field, word)| (*word, label(*field)))
            .collect(),
        rows: rows.collect(),
        why,
    };
    Ok(page.render()?)
}

pub(crate) fn send(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let id = asking.id::<kind::Upload>(0)?;
    let parked = uploads::get(view, id)?;
    let notation = |name: &str| match form.get(name) {
        "day" => Some(Notation::DayFirst),
        "month" => Some(Notation::MonthFirst),
        "year" => Some(Notation::YearFirst),
        "point" => Some(Notation::Point),
        "comma" => Some(Notation::Comma),
        _ => None,
    };
    let mut columns = Vec::new();
    for (at, guess) in guesses(&parked.bytes)?.into_iter().enumerate() {
        let word = form.get(&format!("column-{at}"));
        let Some((field, _)) = Field::ALL.into_iter().find(|(_, known)| *known == word) else {
            continue;
        };
        columns.push(Column {
            name: guess.column,
            field,
            notation: match field {
                Field::Date | Field::ValueDate => notation("dates"),
                Field::Amount | Field::Debit | Field::Credit | Field::Balance => notation("mark"),
                _ => None,
            },
        });
    }
    let has = |field: Field| columns.iter().any(|column| column.field == field);
    if !has(Field::Date) || !(has(Field::Amount) || has(Field::Debit) || has(Field::Credit)) {
        let rule = "Choose at least the column with the day, and one with the amount.";
        return Err(Problem::of("columns", rule).into());
    }
    let new = NewStatement {
        account: account(form)?.to_string(),
        bytes: parked.bytes,
        format: Some(statements::Format::Csv),
        columns,
    };
    let read = statements::read(view, &new)?;
    let bank = asking.frame.at("bank");
    Ok(Sent::Do(Box::new(move |act| import(act, &read, &bank, Some(id)))))
}
