//! The first organization of an empty database, made in the browser by whoever has the link that the server printed.

use bursar_db::{organizations, sign_in};
use bursar_domain::Refusal;
use bursar_domain::access::Role;
use bursar_domain::email::check_email;
use bursar_domain::ids::{Id, OrganizationId, UserId};
use bursar_domain::organization::{Organization, User};
use bursar_domain::sign_in::{ENTROPY_BYTES, Link, SecretHash, secret};
use bursar_domain::text::NAME;

use crate::act::Whole;
use crate::caller::{Caller, Proof};
use crate::error::AppError;
use crate::organizations::{CREATE, NewOrganization, add};
use crate::rule::Rule;
use crate::sign_in::begin as begin_session;

pub const LINK: Rule = Rule::of_operator("setup.link", "make a setup link");
pub const OPEN: Rule = Rule::of_visitor("setup.open", "open the setup link");
pub const BEGIN: Rule = Rule::of_visitor("setup.begin", "set up the first organization");
pub const RULES: &[&Rule] = &[&LINK, &OPEN, &BEGIN];

/// A setup link belongs to nobody yet.
const NOBODY: UserId = Id::from_bits(0);

/// The end of a link, if there is no organization yet. It works until there is one.
pub fn make_link(
    whole: &mut Whole<'_, '_>,
    entropy: &[u8; ENTROPY_BYTES],
) -> Result<Option<String>, AppError> {
    whole.allow(&LINK)?;
    if !organizations::all(whole.tx)?.is_empty() {
        return Ok(None);
    }
    let text = secret(entropy);
    let link = Link {
        user: NOBODY,
        created_at: whole.now(),
    };
    sign_in::add_link(whole.tx, &SecretHash::of(&text), &link)?;
    Ok(Some(text))
}

/// Refuses a link that is not in force.
pub fn open(whole: &mut Whole<'_, '_>, link: &SecretHash) -> Result<(), AppError> {
    whole.allow(&OPEN)?;
    check(whole, link)
}

fn check(whole: &mut Whole<'_, '_>, link: &SecretHash) -> Result<(), AppError> {
    let found = sign_in::link(whole.tx, link)?.filter(|link| link.user == NOBODY);
    match found.is_some() && organizations::all(whole.tx)?.is_empty() {
        true => Ok(()),
        false => Err(ended().into()),
    }
}

fn ended() -> Refusal {
    Refusal::missing("this link was used, or is not one of this server")
}

/// Makes the organization and its first admin, and signs them in.
pub fn begin(
    whole: &mut Whole<'_, '_>,
    link: &SecretHash,
    new: &NewOrganization,
    (name, email): (&str, &str),
    (session, agent): (SecretHash, &str),
) -> Result<(Organization, User), AppError> {
    whole.allow(&BEGIN)?;
    check(whole, link)?;
    // Of several who send the form at once, one removes the links; the others find none, or the organization.
    if sign_in::end_links_of(whole.tx, NOBODY)? == 0 || !organizations::all(whole.tx)?.is_empty() {
        return Err(ended().into());
    }
    let id: OrganizationId = whole.new_id();
    let organization = add(whole, id, new)?;
    let name = match name.trim() {
        "" => None,
        name => Some(NAME.check(name).map_err(Refusal::of_field("person"))?),
    };
    let user = User {
        id: whole.new_id(),
        email: check_email(email.trim()).map_err(Refusal::of_field("email"))?,
        name,
    };
    let user = organizations::user_or_insert(whole.tx, &user)?;
    organizations::set_role(whole.tx, id, user.id, Role::Admin)?;
    // From here on it is their own doing.
    whole.caller = Caller::Person(user.id, Some(Role::Admin), Proof::Fresh);
    whole.log(id, CREATE.name, Some(id.to_string()), None)?;
    begin_session(whole, &user, session, agent)?;
    Ok((organization, user))
}
