//! Imports members from a spreadsheet: the file first, then what it would do, then the deed.

pub(crate) mod check;
mod options;

use askama::Template;
use bursar_app::{View, roster, uploads};

use crate::asking::Asking;
use crate::failure::{Failure, Problem, told};
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;

const SHOWN: &[&str] = &["file"];

#[derive(Template)]
#[template(path = "member_import/file.html")]
struct Page<'a> {
    frame: &'a Frame,
    form: &'a Form,
}

pub(crate) fn show(_: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let page = Page {
        frame: &asking.frame,
        form,
    };
    Ok(page.render()?)
}

/// Keeps the file. Only one that is no table at all is refused here.
pub(crate) fn send(_: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let file = form.file("file")?;
    let read = roster::read(&file.bytes, &roster::Options::default());
    if let Err(refusal) = read
        && options::guessed(&file.bytes).is_empty()
    {
        return Err(Problem::of("file", told(&refusal).message).into());
    }
    let (name, bytes, to) = (
        file.name.clone(),
        file.bytes.clone(),
        asking.frame.at("members/import"),
    );
    Ok(Sent::Do(Box::new(move |act| {
        let id = uploads::park(act, &name, &bytes)?;
        Ok(Done::new(
            format!("{to}/{id}"),
            "The file was uploaded. Nothing is changed yet.",
        ))
    })))
}
