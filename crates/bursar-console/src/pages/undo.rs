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
        Ok(Done::new(
            to.clone(),
            told(undone.reversed.len(), undone.left.len()),
        ))
    })))
}

fn told(reversed: usize, left: usize) -> String {
    let undid = format!("Undid {}.", words::count(reversed, "change", "changes"));
    match left {
        0 => undid,
        1 => format!("{undid} 1 item was changed in the meantime and was left as it is."),
        left => {
            let items = words::count(left, "item", "items");
            format!("{undid} {items} were changed in the meantime and were left as they are.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_is_told() {
        assert_eq!(told(1, 0), "Undid 1 change.");
        assert_eq!(
            told(3, 1),
            "Undid 3 changes. 1 item was changed in the meantime and was left as it is."
        );
        assert_eq!(
            told(0, 2),
            "Undid 0 changes. 2 items were changed in the meantime and were left as they are."
        );
    }
}
