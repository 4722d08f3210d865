//! Codes by mail. The answer is the same whether an address is known or not.

use bursar_db::{organizations, sign_in};
use bursar_domain::Refusal;
use bursar_domain::email::check_email;
use bursar_domain::organization::{User, address_key};
use bursar_domain::sign_in::code::{self, Code, TRIES_MAX};
use bursar_domain::sign_in::login::Proven;
use bursar_domain::sign_in::{ENTROPY_BYTES, SecretHash};

use super::passkey::written;
use super::{ENTER, begin, login};
use crate::act::Whole;
use crate::error::AppError;
use crate::personal::{self, Letter};
use crate::rule::Rule;

pub const ASK: Rule = Rule::of_visitor("sign_in.ask", "ask for a sign-in code");

/// What a try to enter by a code led to. Each is committed, so that a try counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    In(User),
    /// So many tries are left.
    Wrong(i64),
    /// It is too old, used or tried too often, or this browser has asked for none.
    Ended,
}

/// Makes a code for this browser and mails it, if the address is known and has not had too many today. `site` is what
/// the mail calls the place. With a `login` that waits in this browser, the code links it.
pub fn ask(
    whole: &mut Whole<'_, '_>,
    email: &str,
    browser: &str,
    entropy: &[u8; ENTROPY_BYTES],
    site: &str,
    login: Option<&SecretHash>,
) -> Result<(), AppError> {
    whole.allow(&ASK)?;
    let login = match login {
        None => None,
        Some(key) => {
            let ended = || Refusal::missing("this sign-in took longer than 10 minutes; begin again");
            Some(login::waiting(whole, key)?.ok_or_else(ended)?)
        }
    };
    let email = check_email(email.trim()).map_err(Refusal::of_field("email"))?;
    let (now, digits) = (whole.now(), code::digits(entropy));
    let user = organizations::user_by_email(whole.tx, &email)?;
    let key = address_key(&email);
    let had = sign_in::codes_of(whole.tx, &key, code::counted_since(now))?;
    let user = user.filter(|_| had < code::A_DAY_MAX);
    let code = Code {
        browser: SecretHash::of(browser),
        email: key,
        user: user.as_ref().map(|user| user.id),
        hash: code::hash(browser, &digits),
        tries: 0,
        login: login.as_ref().map(written).transpose()?,
        created_at: now,
    };
    sign_in::add_code(whole.tx, &code)?;
    if let Some(user) = user {
        let id = whole.new_id();
        personal::queue(
            whole.tx,
            id,
            &user,
            Letter::Code,
            letter(&digits, site, login.as_ref()),
            now,
        )?;
    }
    Ok(())
}

fn letter(digits: &str, site: &str, login: Option<&Proven>) -> (String, String) {
    let spaced = code::spaced(digits);
    let linked = login.map_or_else(String::new, |login| {
        let named = login::named(&login.issuer, &login.email);
        format!(" It also links the login {named} to your account, which signs you in without a code from then on.")
    });
    let body = format!(
        "{spaced}\n\nThis code signs you in to bursar at {site}, in the browser that asked for it. It works once, within 10 \
         minutes.{linked}\n\nIf you did not request it, ignore this message. Do not share this code with anyone."
    );
    (format!("{spaced} is your sign-in code"), body)
}

/// The address that this browser asked for, while its code is in force.
pub fn asked(whole: &mut Whole<'_, '_>, browser: &SecretHash) -> Result<Option<String>, AppError> {
    whole.allow(&ASK)?;
    let now = whole.now();
    let found = sign_in::code(whole.tx, browser)?;
    Ok(found.filter(|code| code.is_in_force(now)).map(|code| code.email))
}

/// Uses up the code of this browser if it was typed; else what came of the try, which counts.
pub(super) fn try_code(
    whole: &mut Whole<'_, '_>,
    browser: &str,
    typed: &str,
) -> Result<Result<Code, Entry>, AppError> {
    let (now, browser_hash) = (whole.now(), SecretHash::of(browser));
    let tried = sign_in::try_code(whole.tx, &browser_hash)?;
    let Some(tried) = tried.filter(|code| now < code::expiry(code.created_at)) else {
        return Ok(Err(Entry::Ended));
    };
    if tried.user.is_none() || tried.hash != code::hash(browser, typed) {
        return Ok(Err(match TRIES_MAX - tried.tries {
            0 => Entry::Ended,
            left => Entry::Wrong(left),
        }));
    }
    sign_in::use_up_code(whole.tx, &browser_hash)?;
    Ok(Ok(tried))
}

/// Begins a session if the code is right, and ends the one that the browser had.
pub fn enter(
    whole: &mut Whole<'_, '_>,
    browser: &str,
    typed: &str,
    (session, agent): (SecretHash, &str),
    before: Option<&SecretHash>,
) -> Result<Entry, AppError> {
    whole.allow(&ENTER)?;
    let code = match try_code(whole, browser, typed)? {
        Ok(code) => code,
        Err(entry) => return Ok(entry),
    };
    let user = match code.user {
        // Who changes their address proves with this code that it is theirs, not that they are somebody.
        Some(user) => {
            organizations::user(whole.tx, user)?.filter(|user| address_key(&user.email) == code.email)
        }
        None => None,
    };
    let Some(user) = user else {
        return Ok(Entry::Ended);
    };
    if let Some(login) = &code.login {
        login::link(whole, &user, login)?;
    }
    if let Some(before) = before {
        sign_in::end_session(whole.tx, before)?;
    }
    begin(whole, &user, session, agent)?;
    Ok(Entry::In(user))
}
