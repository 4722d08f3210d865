//! The words that members read in reminders and statements. A language is one file beside this one with one `Texts`.
//!
//! Names in braces are filled in; each field's comment says which ones it has.

mod english;

use bursar_domain::template::fill_named;

/// Everything that bursar itself says to members.
#[derive(Debug)]
pub struct Texts {
    /// The language as HTML and PDF name it.
    pub language: &'static str,

    /// Opens an e-mail. `{name}`.
    pub greeting: &'static str,
    /// Says what an e-mail without a text is about. `{organization}`.
    pub introduction: &'static str,
    /// Says whom it is about when that is not the reader. `{members}`.
    pub about: &'static str,
    /// Joins the last two of a list of names.
    pub and: &'static str,
    /// For a reminder without a subject. `{organization}`.
    pub subject: &'static str,
    /// Before the subject of a test mail. `{subject}`.
    pub test_subject: &'static str,
    /// Before an SMS that does not name the organization. `{organization}`, `{text}`.
    pub sms: &'static str,
    /// At the end of an e-mail, where a reply reaches the organization.
    pub reply: &'static str,

    pub overdue: &'static str,
    pub due: &'static str,
    pub not_due: &'static str,
    /// For a charge without a description.
    pub charge: &'static str,
    pub due_heading: &'static str,
    /// `{date}`.
    pub due_on: &'static str,
    /// After what a charge is for, in a household's e-mail. `{what}`, `{member}`.
    pub for_member: &'static str,
    /// `{reference}`.
    pub reference: &'static str,
    pub pay_now: &'static str,
    pub total_owed: &'static str,
    /// `{amount}`, `{overdue}`.
    pub overdue_of: &'static str,
    /// `{count}`.
    pub more: &'static str,
    /// `{amount}`, `{count}`: what an SMS says when there is no room for the charges.
    pub total_of: &'static str,
    pub how_to_pay: &'static str,
    /// `{reference}`.
    pub use_reference: &'static str,
    /// `{reference}`: for everything, where each charge has its own too.
    pub use_one_reference: &'static str,
}

/// The language of every organization for now.
pub const TEXTS: &Texts = &english::ENGLISH;

/// Fills in the names of a text.
pub fn say(text: &str, values: &[(&str, &str)]) -> String {
    fill_named(text, values)
}

impl Texts {
    /// `Ann`, `Ann and Ben`, `Ann, Ben and Carla`.
    pub fn list(&self, names: &[String]) -> String {
        match names {
            [] => String::new(),
            [only] => only.clone(),
            [first @ .., last] => format!("{} {} {last}", first.join(", "), self.and),
        }
    }
}
