//! Messages to people who sign in: codes, notices of what was done in their name, and invitations. They belong to no organization, so
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

pub(crate) fn queue(
    tx: &mut Tx<'_>,
    id: MessageId,
    user: &User,
    letter: Letter,
    (subject, body): (String, String),
    now: Timestamp,
) -> Result<(), DbError> {
    let headers = match letter {
        Letter::Code => CODE_HEADER,
        Letter::Act => ACT_HEADER,
        Letter::Invitation => INVITATION_HEADER,
    };
    let message = Message {
        organization: NO_ORGANIZATION,
        id,
        // Nothing but the message is under way.
        job: id.to_bytes(),
        recipient: user.id.to_bytes(),
        method: Method::Email,
        address: user.email.clone(),
        name: user.name.clone().unwrap_or_default(),
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
