//! Undoes a bulk act.

use askama::Template;
use bursar_app::View;
use bursar_app::undo::{self, What};
use bursar_domain::ids::kind;

use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::words::{self, Moment};

const SHOWN: &[&str] = &[];
const CHARGES: &str = "The charges are cancelled, and the credit they used is restored.";

#[derive(Template)]
#[template(path = "undo.html")]
struct Page<'a> {
    frame: &'a Frame,
    form: &'a Form,
    /// What was done, and when.
    done: String,
    at: Moment,
    /// What undoing it does.
    back: &'static str,
    /// When it was undone already.
    undone: Option<Moment>,
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let about = undo::about(view, asking.id::<kind::Bulk>(0)?)?;
    let zone = &asking.frame.place.organization.time_zone;
    let count = |one, many| words::count(usize::try_from(about.count).unwrap_or(0), one, many);
    let (done, back) = match about.what {
        What::Charged => (format!("Raised {}", count("charge", "charges")), CHARGES),
        What::Dues => (
            format!("Raised the dues of a group: {}", count("charge", "charges")),
            CHARGES,
        ),
        What::LateFees => (format!("Charged {}", count("late fee", "late fees")), CHARGES),
        What::Added => (
            format!("Added people to a group: {}", count("change", "changes")),
            "They are removed from the group, and what they were charged for joining is cancelled.",
        ),
        What::Archived => (
            format!("Archived {}", count("member", "members")),
            "They are restored.",
        ),
        What::Imported => (
            format!("Imported members: {}", count("change", "changes")),
            "Members it added are archived, values it changed are restored, and charges it raised are cancelled.",
        ),
    };
    let page = Page {
        frame: &asking.frame,
        form,
        done,
        at: Moment::there(about.at, zone),
        back,
        undone: about.undone_at.map(|at| Moment::there(at, zone)),
    };
    Ok(page.render()?)
}

pub(crate) fn send(_: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<Sent, Failure> {
    let id = asking.id::<kind::Bulk>(0)?;
    let to = asking.frame.at("");
    Ok(Sent::Do(Box::new(move |act| {
        let undone = undo::undo(act, id)?;
        let back = words::count(undone.reversed.len(), "thing was undone", "things were undone");
        let said = match undone.left.as_slice() {
            [] => format!("Undone: {back}."),
            left => format!(
                "Undone: {back}; {} since and is left unchanged.",
                words::count(left.len(), "has changed", "have changed")
            ),
        };
        Ok(Done::new(to.clone(), said))
    })))
}
