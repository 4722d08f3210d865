//! The words that members read in reminders and statements. A language is one file beside this one with one `Texts`.
//!
//! Names in braces are filled in; each field's comment says which ones it has.

mod english;

use bursar_domain::journal::EntryKind;
use bursar_domain::receipt::Method;
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

    /// The title of a member's statement.
    pub statement: &'static str,
    /// Whom the reader pays for. `{members}`.
    pub covers: &'static str,
    /// In the address, if the reader pays for the member. `{member}`.
    pub on_behalf: &'static str,
    pub date: &'static str,
    pub period: &'static str,
    /// `{from}`, `{until}`.
    pub from_until: &'static str,
    pub your_reference: &'static str,
    pub reference_word: &'static str,
    pub currency: &'static str,
    pub amount: &'static str,
    pub description: &'static str,
    pub charged: &'static str,
    pub credited: &'static str,
    pub balance: &'static str,
    pub opening_balance: &'static str,
    pub closing_balance: &'static str,
    pub open_charges: &'static str,
    pub open_amount: &'static str,
    /// `{date}`.
    pub nothing_owed: &'static str,
    /// `{date}`, `{amount}`.
    pub in_credit: &'static str,
    /// `{date}`, `{amount}`.
    pub you_owe: &'static str,
    /// `{date}`, `{amount}`, `{overdue}`.
    pub you_owe_overdue: &'static str,
    /// The title of a receipt.
    pub receipt: &'static str,
    pub receipt_number: &'static str,
    pub method: &'static str,
    pub total: &'static str,
    /// `{organization}`, `{name}`, `{amount}`, `{date}`.
    pub received: &'static str,
    pub receipt_returned: &'static str,
    pub receipt_reversed: &'static str,
    /// `{amount}`.
    pub refunded: &'static str,
    /// What of a receipt paid nothing yet.
    pub as_credit: &'static str,
    pub method_of: fn(Method) -> &'static str,
    /// Before the link to the member's page.
    pub pay_link: &'static str,
    /// `{page}`, `{pages}`.
    pub page: &'static str,
    /// `{codes}`: characters that the fonts of a PDF lack.
    pub missing: &'static str,
    /// What an entry of the journal means to a member.
    pub entry: fn(EntryKind) -> &'static str,
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
