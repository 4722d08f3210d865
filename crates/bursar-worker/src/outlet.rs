//! Where messages go: a mail server and an SMS provider, or files in a folder if none is configured.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use bursar_app::outbox::Claimed;
use bursar_app::{private, sms};
use bursar_domain::reminder::Method;
use lettre::Address;

use super::mail;
use super::sms::Sms;
use super::smtp::Smtp;

/// Characters of a reply that are kept.
const ANSWER_MAX: usize = 500;

#[derive(Debug)]
pub struct Outlet {
    /// For files, if no server is configured.
    pub folder: PathBuf,
    pub way: Way,
}

#[derive(Debug)]
pub enum Way {
    /// From this address, by a server or to files.
    Mail(Address, Option<Box<Smtp>>),
    /// By a provider or to files.
    Sms(Option<Sms>),
}

/// What became of a message that was sent.
#[derive(Debug, PartialEq, Eq)]
pub enum Handed {
    /// To a server, which replied this.
    Over(String),
    /// To a file, because no server is configured.
    ToFile(String),
}

#[derive(Debug, PartialEq, Eq)]
pub struct Undelivered {
    /// The server's reply, or what went wrong.
    pub reason: String,
    pub fault: Fault,
    /// As the server asks.
    pub retry_after_seconds: Option<i64>,
}

/// What is at fault when delivery fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The message: a retry is useless.
    Final,
    /// Something temporary.
    Passing,
    /// The server is unreachable or refuses the sender: no message can be sent for now.
    Unreachable,
    /// The server refuses the login: no message can be sent until the operator acts.
    Login,
}

impl Undelivered {
    pub(super) fn new(fault: Fault, reason: impl std::fmt::Display) -> Self {
        Self {
            reason: reason.to_string(),
            fault,
            retry_after_seconds: None,
        }
    }

    pub(super) fn for_good(reason: impl std::fmt::Display) -> Self {
        Self::new(Fault::Final, reason)
    }
}

impl Outlet {
    pub const fn method(&self) -> Method {
        match self.way {
            Way::Mail(..) => Method::Email,
            Way::Sms(_) => Method::Sms,
        }
    }

    /// Closes a connection that was idle for a while.
    pub(super) fn rest(&mut self) {
        if let Way::Mail(_, Some(smtp)) = &mut self.way {
            smtp.rest();
        }
    }

    /// Returns the server's reply, or the file's name.
    pub fn send(&mut self, claimed: &Claimed) -> Result<Handed, Undelivered> {
        let address = claimed.message.address.as_str();
        match self.hand_over(claimed) {
            Ok(Handed::Over(answer)) => Ok(Handed::Over(told(&answer, address))),
            Ok(Handed::ToFile(name)) => Ok(Handed::ToFile(name)),
            Err(undelivered) => Err(Undelivered {
                reason: told(&undelivered.reason, address),
                ..undelivered
            }),
        }
    }

    fn hand_over(&mut self, claimed: &Claimed) -> Result<Handed, Undelivered> {
        let message = &claimed.message;
        match &mut self.way {
            Way::Sms(Some(sms)) => sms.send(&message.address, &sms::text(message)).map(Handed::Over),
            Way::Sms(None) => {
                let file = format!("To: {}\n\n{}\n", message.address, sms::text(message));
                self.write_file(&format!("{}.sms", message.id), file.as_bytes())
            }
            Way::Mail(from, smtp) => {
                let mail = mail::compose(claimed, from)?;
                match smtp {
                    Some(smtp) => smtp.send(mail.envelope(), &mail.formatted()).map(Handed::Over),
                    None => self.write_file(&format!("{}.eml", message.id), &mail.formatted()),
                }
            }
        }
    }

    /// Writes a whole file or none: temporary name, sync, rename. Writing again gives the same file.
    fn write_file(&self, name: &str, bytes: &[u8]) -> Result<Handed, Undelivered> {
        let write = |folder: &Path| -> std::io::Result<()> {
            private::create_folder(folder)?;
            let temporary = folder.join(format!(".{name}.part"));
            let mut file = private::create(&temporary)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&temporary, folder.join(name))
        };
        match write(&self.folder) {
            Ok(()) => Ok(Handed::ToFile(format!("written to {name}"))),
            Err(error) => {
                let reason = format!("{} cannot be written: {error}", self.folder.join(name).display());
                Err(Undelivered::new(Fault::Unreachable, reason))
            }
        }
    }
}

/// A reply as it is kept: one line, bounded, and without the address, which is deleted earlier than the record.
fn told(answer: &str, address: &str) -> String {
    let mut answer = answer.replace(|c: char| c.is_control(), " ");
    if !address.is_empty() {
        answer = answer.replace(address, "[address]");
        // A provider may repeat the number without its plus.
        let digits = address.trim_start_matches('+');
        if digits.len() != address.len() {
            answer = answer.replace(digits, "[address]");
        }
    }
    match answer.char_indices().nth(ANSWER_MAX) {
        Some((end, _)) => format!("{}…", &answer[..end]),
        None => answer,
    }
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn an_answer_is_one_short_line_without_the_address() {
        assert_eq!(
            told("550 5.1.1 <ann@example.org>:\r\nunknown", "ann@example.org"),
            "550 5.1.1 <[address]>:  unknown"
        );
        assert_eq!(
            told("12025550123 is not valid", "+12025550123"),
            "[address] is not valid"
        );
        assert_eq!(told(&"ä".repeat(900), "").chars().count(), 501);
    }
}
