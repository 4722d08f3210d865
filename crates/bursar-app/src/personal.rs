//! Messages to people and members who sign in: codes, notices of what was done in their name, and invitations. They belong to no organization, so
//! no officer sees them, and nothing is kept of one that was sent.

use bursar_db::outbox::{self, Claimed, Message};
use bursar_db::{DbError, Tx};
use bursar_domain::Timestamp;
use bursar_domain::ids::MessageId;
use bursar_domain::organization::User;
use bursar_domain::reminder::Method;
use bursar_domain::sign_in::code;

use crate::act::NO_ORGANIZATION;

const CODE_HEADER: &str = "X-Bursar-Notice: sign-in-code";
const ACT_HEADER: &str = "X-Bursar-Notice: act";
const INVITATION_HEADER: &str = "X-Bursar-Notice: invitation";

/// What a person is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Letter {
    /// Worthless after its time, so it is not sent late.
    Code,
    Act,
    /// A role that somebody was given.
    Invitation,
}

/// Whom a message goes to.
pub(crate) struct Reader<'a> {
    /// The bytes of the person's or member's id.
    pub(crate) key: [u8; 16],
    pub(crate) email: &'a str,
    pub(crate) name: &'a str,
}

impl<'a> From<&'a User> for Reader<'a> {
    fn from(user: &'a User) -> Self {
        Self {
            key: user.id.to_bytes(),
            email: &user.email,
            name: user.name.as_deref().unwrap_or_default(),
        }
    }
}

pub(crate) fn queue<'a>(
    tx: &mut Tx<'_>,
    id: MessageId,
    reader: impl Into<Reader<'a>>,
    letter: Letter,
    (subject, body): (String, String),
    now: Timestamp,
) -> Result<(), DbError> {
    let headers = match letter {
        Letter::Code => CODE_HEADER,
        Letter::Act => ACT_HEADER,
        Letter::Invitation => INVITATION_HEADER,
    };
    let reader = reader.into();
    let message = Message {
        organization: NO_ORGANIZATION,
        id,
        // Nothing but the message is under way.
        job: id.to_bytes(),
        recipient: reader.key,
        method: Method::Email,
        address: reader.email.to_owned(),
        name: reader.name.to_owned(),
        subject,
        body,
        owed: None,
        headers: headers.to_owned(),
        segments: None,
    };
    outbox::add(tx, &message, now)
}

pub(crate) fn is_personal(message: &Message) -> bool {
    message.organization == NO_ORGANIZATION
}

/// A code that has expired on its way.
pub(crate) fn is_late(claimed: &Claimed, now: Timestamp) -> bool {
    let message = &claimed.message;
    is_personal(message) && message.headers == CODE_HEADER && now >= code::expiry(claimed.created_at)
}
