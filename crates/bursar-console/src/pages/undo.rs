//! Undoes a bulk act.

use askama::Template;
use bursar_app::{View, undo};
use bursar_domain::ids::kind;

use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::words;

const SHOWN: &[&str] = &[];

#[derive(Template)]
#[template(path = "undo.html")]
struct Page<'a> {
    frame: &'a Frame,
    form: &'a Form,
}

pub(crate) fn show(_: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    asking.id::<kind::Bulk>(0)?;
    let page = Page {
        frame: &asking.frame,
        form,
    };
    Ok(page.render()?)
}

pub(crate) fn send(_: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<Sent, Failure> {
    let id = asking.id::<kind::Bulk>(0)?;
    let to = asking.frame.at("");
    Ok(Sent::Do(Box::new(move |act| {
        let undone = undo::undo(act, id)?;
        let back = words::count(
            undone.reversed.len(),
            "thing was taken back",
            "things were taken back",
        );
        let said = match undone.left.as_slice() {
            [] => format!("Undone: {back}."),
            left => format!(
                "Undone: {back}; {} since and stays as it is.",
                words::count(left.len(), "has changed", "have changed")
            ),
        };
        Ok(Done::new(to.clone(), said))
    })))
}
