//! Where messages go: files in a folder, unless a server is configured.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use bursar_db::outbox::Message;
use bursar_domain::Timestamp;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart, SinglePart};
use lettre::{Address, SmtpTransport, Transport};

/// Where messages go.
#[derive(Debug)]
pub struct Outlet {
    /// The folder for what no server takes.
    pub folder: PathBuf,
    /// The server for e-mail.
    pub smtp: Option<SmtpTransport>,
    /// Whom mail is from.
    pub from: Address,
}

/// Why a message was not taken.
#[derive(Debug)]
pub struct Undelivered {
    /// The other side's answer, or what stood in the way.
    pub reason: String,
    /// Trying again is of no use.
    pub is_final: bool,
}

impl Undelivered {
    fn for_now(reason: impl std::fmt::Display) -> Self {
        Self { reason: reason.to_string(), is_final: false }
    }

    fn for_good(reason: impl std::fmt::Display) -> Self {
        Self { reason: reason.to_string(), is_final: true }
    }
}

impl Outlet {
    /// Sends a message, or writes it to a file.
    pub fn send(&self, message: &Message, now: Timestamp) -> Result<(), Undelivered> {
        if message.method == "sms" {
            let text = format!("To: {}\n\n{}\n", message.address, message.body);
            return self.write_file(&format!("{}.sms", message.id), text.as_bytes());
        }
        let mail = self.compose(message, now)?;
        match &self.smtp {
            Some(smtp) => smtp.send(&mail).map(drop).map_err(|error| {
                if error.is_permanent() { Undelivered::for_good(error) } else { Undelivered::for_now(error) }
            }),
            None => self.write_file(&format!("{}.eml", message.id), &mail.formatted()),
        }
    }

    /// The e-mail: its id is the message's own, so that a copy sent after a lost reply can be recognised.
    fn compose(&self, message: &Message, now: Timestamp) -> Result<lettre::Message, Undelivered> {
        let address: Address = message.address.parse().map_err(Undelivered::for_good)?;
        let name = Some(message.name.clone()).filter(|name| !name.is_empty());
        let seconds = u64::try_from(now.micros() / 1_000_000).unwrap_or(0);
        let date = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        let mut builder = lettre::Message::builder()
            .from(Mailbox::new(None, self.from.clone()))
            .to(Mailbox::new(name, address))
            .subject(message.subject.replace(['\r', '\n'], " "))
            .message_id(Some(format!("<{}@{}>", message.id, self.from.domain())))
            .date(date);
        for line in message.headers.lines() {
            if let Some((name, value)) = line.split_once(": ")
                && let Ok(name) = HeaderName::new_from_ascii(name.to_owned())
            {
                builder = builder.raw_header(HeaderValue::new(name, value.to_owned()));
            }
        }
        let part = |kind: ContentType, text: String| SinglePart::builder().header(kind).body(text);
        let both = MultiPart::alternative()
            .singlepart(part(ContentType::TEXT_PLAIN, message.body.clone()))
            .singlepart(part(ContentType::TEXT_HTML, html(&message.body)));
        builder.multipart(both).map_err(Undelivered::for_good)
    }

    /// Writes a whole file or none: a temporary name, synced, then renamed.
    fn write_file(&self, name: &str, bytes: &[u8]) -> Result<(), Undelivered> {
        let write = |folder: &Path| -> std::io::Result<()> {
            fs::create_dir_all(folder)?;
            let temporary = folder.join(format!(".{name}.part"));
            let mut file = File::create(&temporary)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&temporary, folder.join(name))
        };
        write(&self.folder).map_err(Undelivered::for_now)
    }
}

fn html(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let paragraphs: String = escaped.split("\n\n").map(|part| format!("<p>{}</p>\n", part.replace('\n', "<br>\n"))).collect();
    format!("<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"></head><body>\n{paragraphs}</body></html>\n")
}
