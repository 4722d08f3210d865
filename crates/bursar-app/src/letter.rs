//! Writes a reminder's message to one recipient: greeting, the officer's text with its placeholders filled in, and what
//! is owed.

use bursar_db::outbox::Message;
use bursar_domain::Date;
use bursar_domain::organization::Organization;
use bursar_domain::reminder::{Method, Reminder};
use bursar_domain::template::{self, Placeholder};

use crate::recipients::Recipient;
use crate::sms;
use crate::statement::{Statement, full_text};
use crate::texts::{TEXTS, say};

/// Sets everything of a message that depends on the recipient and on the day. `link` leads to the recipient's own page.
pub(crate) fn write(
    message: &mut Message,
    reminder: &Reminder,
    organization: &Organization,
    recipient: &Recipient,
    link: Option<&str>,
    today: Date,
) {
    let mut statement = Statement::of(&recipient.owed, today, recipient.reference.as_deref());
    let body = reminder.body.as_deref().unwrap_or_default();
    if let Some(statement) = &mut statement {
        // An officer's text that says how to pay is not said twice.
        let is_said = |what| template::placeholders(body).any(|placeholder| placeholder == what);
        let how = organization.pay_text.clone();
        statement.how_to_pay = how.filter(|_| !is_said(Placeholder::PayText));
        statement.pay_link = link.filter(|_| !is_said(Placeholder::PayLink)).map(str::to_owned);
    }
    let value = |placeholder| match placeholder {
        Placeholder::PayLink => Some(link.unwrap_or_default().to_owned()),
        other => value(other, organization, recipient, statement.as_ref(), today),
    };
    let of_organization = [("organization", organization.name.as_str())];
    message.subject = match reminder.subject.as_deref().filter(|subject| !subject.is_empty()) {
        Some(subject) => template::fill(subject, value),
        None => say(TEXTS.subject, &of_organization),
    };
    let text = template::fill(body, value);
    message.body = match reminder.method {
        Method::Email => {
            let text = match text.is_empty() {
                true => say(TEXTS.introduction, &of_organization),
                false => text,
            };
            let greeting = (!greets(body)).then(|| say(TEXTS.greeting, &[("name", &recipient.name)]));
            let about = about(recipient).filter(|_| statement.is_none());
            let paragraphs: Vec<String> = greeting.into_iter().chain(about).chain([text]).collect();
            paragraphs.join("\n\n")
        }
        Method::Sms if text.contains(&organization.name) => text,
        Method::Sms if text.is_empty() => organization.name.clone(),
        Method::Sms => say(
            TEXTS.sms,
            &[("organization", &organization.name), ("text", &text)],
        ),
    };
    message.address.clone_from(&recipient.address);
    message.name.clone_from(&recipient.name);
    message.owed = statement.as_ref().map(Statement::to_json);
    if reminder.method == Method::Sms {
        message.segments = i64::try_from(sms::segments(&sms::text(message))).ok();
    }
}

/// The plain text of an e-mail, with its signature.
pub fn mail_text(message: &Message, sender: &str, reply_to: Option<&str>) -> String {
    let mut text = full_text(message);
    let lines = signature(sender, reply_to);
    if !lines.is_empty() {
        // Mail programs recognise a signature by these dashes.
        text += &format!("\n\n-- \n{}\n", lines.join("\n"));
    }
    text
}

/// Who writes, and how to reach them.
pub fn signature<'a>(sender: &'a str, reply_to: Option<&str>) -> Vec<&'a str> {
    let reply = reply_to.map(|_| TEXTS.reply);
    let sender = Some(sender).filter(|name| !name.is_empty());
    sender.into_iter().chain(reply).collect()
}

/// A text greets by itself if its first line names the reader, or is a short line that ends like a greeting.
fn greets(body: &str) -> bool {
    const GREETING_CHARACTERS_MAX: usize = 60;
    let first = body.lines().next().unwrap_or_default().trim_end();
    let is_like_one = first.ends_with([',', '!']) && first.chars().count() <= GREETING_CHARACTERS_MAX;
    is_like_one || template::placeholders(first).any(Placeholder::is_a_name)
}

/// Whom the message is about, if not only the reader.
fn about(recipient: &Recipient) -> Option<String> {
    let reader = recipient.is_concerned.then(|| recipient.name.clone());
    let others = recipient.others.iter().map(|other| other.name.clone());
    let names: Vec<String> = reader.into_iter().chain(others).collect();
    let is_needed = !recipient.others.is_empty();
    is_needed.then(|| say(TEXTS.about, &[("members", &TEXTS.list(&names))]))
}

/// `None` where the reminder does not know it.
fn value(
    placeholder: Placeholder,
    organization: &Organization,
    recipient: &Recipient,
    statement: Option<&Statement>,
    today: Date,
) -> Option<String> {
    Some(match placeholder {
        Placeholder::FirstName => recipient.first_name.clone(),
        Placeholder::LastName => recipient.last_name.clone(),
        Placeholder::Name => recipient.name.clone(),
        Placeholder::Organization => organization.name.clone(),
        Placeholder::PayLink => return None,
        Placeholder::PayText => organization.pay_text.clone().unwrap_or_default(),
        Placeholder::Owed => {
            let statement = statement?;
            statement.money(&statement.total)
        }
        Placeholder::Overdue => statement?.overdue_told(),
        Placeholder::DueDate => statement?
            .earliest_due()
            .map_or_else(|| today.to_string(), str::to_owned),
        Placeholder::Reference => {
            let statement = statement?;
            let of_lines = statement.lines.iter().find_map(|line| line.reference.clone());
            statement.reference.clone().or(of_lines).unwrap_or_default()
        }
    })
}
