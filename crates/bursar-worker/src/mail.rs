//! Composes an e-mail as plain text and HTML.

use std::time::{Duration, UNIX_EPOCH};

use bursar_app::letter;
use bursar_app::outbox::Claimed;
use bursar_app::statement::Statement;
use lettre::Address;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart, SinglePart};

use super::html;
use super::outlet::Undelivered;

/// Id, date and boundary come from the message: a copy that is sent after a lost reply is
/// the same e-mail and can be recognised.
pub fn compose(claimed: &Claimed, from: &Address) -> Result<lettre::Message, Undelivered> {
    let message = &claimed.message;
    let to: Address = message.address.parse().map_err(Undelivered::for_good)?;
    let seconds = u64::try_from(claimed.created_at.micros() / 1_000_000).unwrap_or(0);
    let mut builder = lettre::Message::builder()
        .from(Mailbox::new(name(&claimed.sender), from.clone()))
        .to(Mailbox::new(name(&message.name), to))
        .subject(one_line(&message.subject))
        .message_id(Some(format!("<{}@{}>", message.id, from.domain())))
        .date(UNIX_EPOCH + Duration::from_secs(seconds));
    if let Some(reply_to) = claimed.reply_to.as_deref().and_then(|text| text.parse().ok()) {
        builder = builder.reply_to(Mailbox::new(name(&claimed.sender), reply_to));
    }
    // Asks autoresponders not to reply (RFC 3834).
    builder = builder.raw_header(header("Auto-Submitted", "auto-generated")?);
    for line in message.headers.lines() {
        let Some((name, value)) = line.split_once(": ") else {
            continue;
        };
        builder = builder.raw_header(header(name, value)?);
    }
    let statement = message.owed.as_deref().and_then(Statement::from_json);
    let signature = letter::signature(&claimed.sender, claimed.reply_to.as_deref());
    let page = html::page(&message.body, statement.as_ref(), &claimed.sender, &signature);
    let text = letter::mail_text(message, &claimed.sender, claimed.reply_to.as_deref());
    let part = |kind: ContentType, text: String| SinglePart::builder().header(kind).body(text);
    // No encoded text contains `=_`, and nobody can predict the id.
    let both = MultiPart::alternative()
        .boundary(format!("=_{}", message.id))
        .singlepart(part(ContentType::TEXT_PLAIN, text))
        .singlepart(part(ContentType::TEXT_HTML, page));
    builder.multipart(both).map_err(Undelivered::for_good)
}

fn header(name: &str, value: &str) -> Result<HeaderValue, Undelivered> {
    let name = HeaderName::new_from_ascii(name.to_owned()).map_err(Undelivered::for_good)?;
    Ok(HeaderValue::new(name, one_line(value)))
}

fn name(text: &str) -> Option<String> {
    Some(one_line(text)).filter(|name| !name.is_empty())
}

/// Line breaks are removed, so that a value cannot start another header.
fn one_line(text: &str) -> String {
    let plain = |c: char| {
        if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') {
            ' '
        } else {
            c
        }
    };
    let text: String = text.chars().map(plain).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
