//! Undoes what a form did with lines, and takes whole imports back.

use askama::Template;
use bursar_app::View;
use bursar_app::sign_in;
use bursar_app::statements;
use bursar_domain::Refusal;
use bursar_domain::ids::{Id, StatementId, StatementLineId, kind};

use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::words;

const SHOWN: &[&str] = &[];

#[derive(Template)]
#[template(path = "bank/undo.html")]
struct Page<'a> {
    frame: &'a Frame,
    form: &'a Form,
    title: String,
    text: &'static str,
    button: &'static str,
}

/// The lines that a form settled, by its key.
fn lines(view: &mut View<'_, '_>, asking: &Asking) -> Result<Vec<StatementLineId>, Failure> {
    let key = asking.params.first().map_or("", String::as_str);
    let sent = sign_in::sent(view, key)?;
    let done = sent.and_then(|output| serde_json::from_str::<Done>(&output.body).ok());
    let lines: Vec<StatementLineId> = done
        .map(|done| done.lines.iter().filter_map(|id| Id::parse(id)).collect())
        .unwrap_or_default();
    match lines.is_empty() {
        true => {
            Err(Refusal::missing("this can no longer be undone here; open the lines of the statement").into())
        }
        false => Ok(lines),
    }
}

pub(crate) fn show_lines(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let lines = lines(view, asking)?;
    let page = Page {
        frame: &asking.frame,
        form,
        title: format!("Undo {}?", words::count(lines.len(), "line", "lines")),
        text: "What was booked from them is reversed, charges are open again, and the lines are to match.",
        button: "Undo",
    };
    Ok(page.render()?)
}

pub(crate) fn send_lines(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<Sent, Failure> {
    let lines = lines(view, asking)?;
    let to = asking.frame.at("bank/open");
    Ok(Sent::Do(Box::new(move |act| {
        let undone = statements::undo(act, &lines)?;
        let many = words::count(undone.len(), "line", "lines");
        Ok(Done::new(to.clone(), format!("Undone: {many} to match again.")))
    })))
}

pub(crate) fn show_statement(
    view: &mut View<'_, '_>,
    asking: &Asking,
    form: &Form,
) -> Result<String, Failure> {
    let id: StatementId = asking.id::<kind::Statement>(0)?;
    let listed = statements::list(view, None)?;
    let missing = || Refusal::missing("there is no such statement");
    let one = listed
        .iter()
        .find(|one| one.statement.id == id)
        .ok_or_else(missing)?;
    let count = usize::try_from(one.lines()).unwrap_or(0);
    let page = Page {
        frame: &asking.frame,
        form,
        title: format!("Undo the import of {}?", words::count(count, "line", "lines")),
        text: "The statement and its lines are removed, as if the file had never been imported. The books stay as they are.",
        button: "Undo the import",
    };
    Ok(page.render()?)
}

pub(crate) fn send_statement(_: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<Sent, Failure> {
    let id: StatementId = asking.id::<kind::Statement>(0)?;
    let to = asking.frame.at("bank");
    Ok(Sent::Do(Box::new(move |act| {
        let (_, lines) = statements::remove(act, id)?;
        let many = words::count(lines, "line", "lines");
        Ok(Done::new(to.clone(), format!("Undid the import of {many}.")))
    })))
}
