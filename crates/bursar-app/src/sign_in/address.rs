//! A person's own e-mail address. They alone change it, with a code that is mailed to the new one.

use bursar_db::{organizations, sign_in};
use bursar_domain::Refusal;
use bursar_domain::email::check_email;
use bursar_domain::organization::{User, address_key};
use bursar_domain::sign_in::code::{self, Code};
use bursar_domain::sign_in::{ENTROPY_BYTES, SecretHash};

use super::code::{Entry, try_code};
use crate::act::Whole;
use crate::caller::Caller;
use crate::error::AppError;
use crate::personal::{self, Letter};
use crate::rule::Rule;

pub const CHANGE: Rule = Rule::of_oneself("address.change", "change their e-mail address").guarded();

fn oneself(whole: &mut Whole<'_, '_>) -> Result<User, AppError> {
    let Caller::Person(user, ..) = whole.caller else {
        return Err(AppError::Unrecognised);
    };
    let user = organizations::user(whole.tx, user)?;
    user.ok_or(AppError::Unrecognised)
}

/// Mails a code to the new address, unless somebody has it or it had too many codes today. Whoever asks is told the same.
pub fn ask(
    whole: &mut Whole<'_, '_>,
    email: &str,
    browser: &str,
    entropy: &[u8; ENTROPY_BYTES],
    site: &str,
) -> Result<(), AppError> {
    whole.allow(&CHANGE)?;
    let user = oneself(whole)?;
    let email = check_email(email.trim()).map_err(Refusal::of_field("email"))?;
    let (now, digits, key) = (whole.now(), code::digits(entropy), address_key(&email));
    if key == address_key(&user.email) {
        return Err(Refusal::invalid("email", "is your address already; type the new one").into());
    }
    let is_taken = organizations::user_by_email(whole.tx, &email)?.is_some();
    let had = sign_in::codes_of(whole.tx, &key, code::counted_since(now))?;
    let is_sent = !is_taken && had < code::A_DAY_MAX;
    let code = Code {
        browser: SecretHash::of(browser),
        email: key,
        user: is_sent.then_some(user.id),
        hash: code::hash(browser, &digits),
        tries: 0,
        login: None,
        created_at: now,
    };
    sign_in::add_code(whole.tx, &code)?;
    if is_sent {
        let id = whole.new_id();
        let reader = User { email, ..user };
        let queued = personal::queue(whole.tx, id, &reader, Letter::Code, letter(&digits, site), now);
        queued?;
    }
    Ok(())
}

fn letter(digits: &str, site: &str) -> (String, String) {
    let spaced = code::spaced(digits);
    let body = format!(
        "{spaced}\n\nThis code makes this address the one of your account at {site}. It works once, within 10 minutes, in the \
         browser that asked for it.\n\nIf you did not request it, ignore this message. Do not share this code with \
         anyone."
    );
    (format!("{spaced} is your code for this address"), body)
}

/// Changes the address if the code is right, and writes to the old one.
pub fn confirm(whole: &mut Whole<'_, '_>, browser: &str, typed: &str) -> Result<Entry, AppError> {
    whole.allow(&CHANGE)?;
    let user = oneself(whole)?;
    let code = match try_code(whole, browser, typed)? {
        Ok(code) if code.user == Some(user.id) => code,
        Ok(_) => return Ok(Entry::Ended),
        Err(entry) => return Ok(entry),
    };
    if organizations::user_by_email(whole.tx, &code.email)?.is_some() {
        return Ok(Entry::Ended);
    }
    let changed = User {
        email: code.email,
        ..user.clone()
    };
    organizations::update_user(whole.tx, &changed)?;
    let (now, id) = (whole.now(), whole.new_id());
    let body = format!(
        "The address of your account was changed from {} to {}, at {now}. Codes and notices go to the new address from now \
         on.\n\nIf it was you, there is nothing to do. If not, tell whoever runs the server at once: they can give you a link \
         to sign in.",
        user.email, changed.email
    );
    let told = ("The address of your account was changed".to_owned(), body);
    personal::queue(whole.tx, id, &user, Letter::Act, told, now)?;
    Ok(Entry::In(changed))
}
