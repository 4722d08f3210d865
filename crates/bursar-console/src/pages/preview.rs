//! What an act on many people would do: whom it is about, who is left out and why, and the button that does it.

use askama::Template;
use bursar_app::preview::Shown;

use super::seen::CHANGED;
use super::tabbed::Column;
use crate::failure::Failure;
use crate::forms::{Form, NAMES_AFTER};
use crate::frame::Frame;
use crate::words;

/// Names on one page. The act is about all of them.
const NAMES: usize = 200;
/// Names of those who are left out for one reason.
const LEFT_OUT: usize = 20;

pub(crate) struct Person {
    pub(crate) name: String,
    /// For the columns after the name.
    pub(crate) cells: Vec<String>,
}

#[derive(Template)]
#[template(path = "preview.html")]
pub(crate) struct Preview<'a> {
    pub(crate) frame: &'a Frame,
    pub(crate) form: &'a Form,
    pub(crate) title: String,
    /// Where the form is, and its name.
    pub(crate) back: (String, String),
    pub(crate) lead: String,
    /// Who is left out: a reason, and names.
    pub(crate) left_out: Vec<(String, String)>,
    pub(crate) button: String,
    pub(crate) is_dangerous: bool,
    /// Instead of the button, if there is nothing to do.
    pub(crate) nothing: &'static str,
    pub(crate) letter: Option<Shown>,
    pub(crate) heading: &'static str,
    pub(crate) columns: Vec<Column>,
    pub(crate) people: Vec<Person>,
    /// Said instead of the table, if it has no rows.
    pub(crate) nobody: &'static str,
    /// The last line of the table.
    pub(crate) total: String,
    pub(crate) part: Part,
    /// A digest of what is shown; empty if it may be another when it is done.
    pub(crate) plan: String,
}

/// Which of the names are on this page.
pub(crate) struct Part {
    /// `Names 201 to 400 of 60,000`; empty if all are shown.
    pub(crate) told: String,
    /// The next page is after this one; empty on the last.
    pub(crate) next: String,
    pub(crate) is_first: bool,
}

impl Preview<'_> {
    /// Said above it, if the person has looked at something else.
    fn changed(&self) -> &'static str {
        match self.form.is_planned(&self.plan) {
            true => "",
            false => CHANGED,
        }
    }

    pub(crate) fn page(self) -> Result<String, Failure> {
        Ok(self.render()?)
    }
}

/// The part of a long list that the form asks for.
pub(crate) fn part<'t, T>(all: &'t [T], form: &Form, id: impl Fn(&T) -> String) -> (&'t [T], Part) {
    let after = form.get(NAMES_AFTER);
    let from = match after {
        "" => 0,
        after => all.iter().position(|one| id(one) == after).map_or(0, |at| at + 1),
    };
    let rest = all.get(from..).unwrap_or_default();
    let shown = rest.get(..NAMES).unwrap_or(rest);
    let number = |count: usize| words::number(i64::try_from(count).unwrap_or(i64::MAX));
    let part = Part {
        told: match shown.len() == all.len() {
            true => String::new(),
            false => format!(
                "Names {} to {} of {}",
                number(from + 1),
                number(from + shown.len()),
                number(all.len())
            ),
        },
        next: match (shown.len() < rest.len(), shown.last()) {
            (true, Some(last)) => id(last),
            _ => String::new(),
        },
        is_first: from == 0,
    };
    (shown, part)
}

/// `Ada, Bo and 300 more`
pub(crate) fn some_names<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let more = names.len().saturating_sub(LEFT_OUT);
    let shown = names.take(LEFT_OUT).collect::<Vec<_>>().join(", ");
    match i64::try_from(more) {
        Ok(0) | Err(_) => shown,
        Ok(more) => format!("{shown} and {} more", words::number(more)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_shown_in_parts() {
        let all: Vec<usize> = (0..450).collect();
        let shown = |text: &str| {
            let form = Form::parse(text);
            let (shown, part) = part(&all, &form, usize::to_string);
            (shown.len(), shown.first().copied(), part.told, part.next)
        };
        let told = |from: usize, to: usize| format!("Names {from} to {to} of 450");
        assert_eq!(shown(""), (200, Some(0), told(1, 200), "199".to_owned()));
        assert_eq!(
            shown("names-after=199"),
            (200, Some(200), told(201, 400), "399".to_owned())
        );
        assert_eq!(
            shown("names-after=399"),
            (50, Some(400), told(401, 450), String::new())
        );
        // Somebody who is not there any more.
        assert_eq!(shown("names-after=x").1, Some(0));
        let (few, part) = part(&all[..3], &Form::default(), usize::to_string);
        assert_eq!((few.len(), part.told.as_str(), part.next.as_str()), (3, "", ""));
    }

    #[test]
    fn names_that_are_left_out_are_counted() {
        let names = vec!["A"; 1_022];
        assert!(some_names(names.iter().copied()).ends_with("A and 1,002 more"));
        assert_eq!(some_names(["A", "B"].into_iter()), "A, B");
    }
}
