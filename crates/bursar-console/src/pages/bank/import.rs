//! Imports a statement file. Where the columns of a CSV file cannot be told, it is kept and they are asked for.

use askama::Template;
use bursar_app::statements::{self, Format, Imported, NewStatement, StatementRead};
use bursar_app::{Act, AppError, View, uploads};
use bursar_domain::Refusal;
use bursar_domain::ids::{AccountId, Id, UploadId};

use crate::asking::Asking;
use crate::failure::{Failure, Problem, told};
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::words;

const SHOWN: &[&str] = &["file"];

#[derive(Template)]
#[template(path = "bank/import.html")]
struct Page<'a> {
    frame: &'a Frame,
    form: &'a Form,
    accounts: Vec<(String, String)>,
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let page = Page {
        frame: &asking.frame,
        form,
        accounts: super::money_accounts(view)?,
    };
    Ok(page.render()?)
}

pub(super) fn account(form: &Form) -> Result<AccountId, Problem> {
    Id::parse(form.get("account")).ok_or_else(|| Problem::of("account", "Choose the account."))
}

pub(crate) fn send(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let account = account(form)?;
    let file = form.file("file")?;
    let new = NewStatement {
        account: account.to_string(),
        bytes: file.bytes.to_vec(),
        format: None,
        columns: Vec::new(),
    };
    let bank = asking.frame.at("bank");
    match statements::read(view, &new) {
        Ok(read) => Ok(Sent::Do(Box::new(move |act| import(act, &read, &bank, None)))),
        Err(AppError::Refused(refusal @ Refusal::Invalid { field: None, .. })) => {
            let is_table =
                Format::detect(&new.bytes) == Ok(Format::Csv) && statements::guess(&new.bytes).is_some();
            if !is_table {
                return Err(Problem::of("file", told(&refusal).message).into());
            }
            let name = file.name.clone();
            Ok(Sent::Do(Box::new(move |act| {
                let id = uploads::park(act, &name, &new.bytes)?;
                Ok(Done::new(
                    format!("{bank}/import/{id}?account={account}"),
                    "The file was uploaded. Nothing is imported yet.",
                ))
            })))
        }
        Err(other) => Err(other.into()),
    }
}

/// Imports what was read, and says what came of it.
pub(super) fn import(
    act: &mut Act<'_, '_>,
    read: &StatementRead,
    bank: &str,
    upload: Option<UploadId>,
) -> Result<Done, AppError> {
    let imported = statements::import(act, read, false)?;
    if let Some(upload) = upload {
        uploads::remove(act, upload)?;
    }
    let is_new = imported.new > 0;
    Ok(Done {
        undo: is_new.then(|| format!("statement/{}", imported.id)),
        ..Done::new(format!("{bank}/{}", imported.id), said(&imported))
    })
}

fn said(imported: &Imported) -> String {
    if imported.new == 0 {
        return match imported.lines {
            0 => "The file has no lines.".to_owned(),
            _ => "Every line of this file was imported before.".to_owned(),
        };
    }
    let mut said = format!("Imported {}", words::count(imported.new, "line", "lines"));
    if imported.known > 0 {
        said += &format!(", and left out {} imported before", imported.known);
    }
    said.push('.');
    if imported.booked > 0 {
        said += &format!(
            " {} booked by reference.",
            words::count(imported.booked, "was", "were")
        );
    }
    match (imported.proposed, imported.new - imported.booked) {
        (_, 0) => {}
        (0, _) => said += " No match was found for them; choose what they are.",
        (proposed, left) if proposed == left => said += " All of them have a proposal.",
        (proposed, _) => said += &format!(" {proposed} of them have a proposal."),
    }
    said
}
