//! How members get to their own pages: by a link in a message, or by a code that is mailed to the address that the
//! organization has.

use bursar_db::member_access as rows;
use bursar_domain::access::Role;
use bursar_domain::email::check_email;
use bursar_domain::ids::{MemberId, OrganizationId};
use bursar_domain::member::Member;
use bursar_domain::member_access::{LinkKey, MemberCode, MemberLink, MemberSession};
use bursar_domain::organization::{Organization, address_key};
use bursar_domain::sign_in::code::{self, TRIES_MAX};
use bursar_domain::sign_in::{ENTROPY_BYTES, SecretHash};
use bursar_domain::{Refusal, Timestamp};

use crate::act::{Act, View, Whole};
use crate::caller::{Caller, MemberProof};
use crate::error::AppError;
use crate::personal::{self, Letter, Reader};
use crate::rule::Rule;

pub const ANNOUNCE: Rule = Rule::of_operator("site.announce", "say where the service is reached");
pub const LINK: Rule = Rule::of("member.link", Role::Editor, "make links to members' pages");
pub const REVOKE: Rule = Rule::of(
    "member.link.revoke",
    Role::Editor,
    "revoke links to members' pages",
);
pub const ASK: Rule = Rule::of_visitor("member.code.ask", "ask for a member's code");
pub const ASK_OWN: Rule = Rule::of_member("member.code.ask_own", MemberProof::Link, "ask for a code");
pub const ENTER: Rule = Rule::of_visitor("member.code.enter", "enter a member's code");
pub const RULES: &[&Rule] = &[&ANNOUNCE, &LINK, &REVOKE, &ASK, &ASK_OWN, &ENTER];

/// Below this address are members' pages.
pub const PATH: &str = "/m/";
/// Before the end of a link.
pub const LINK_PATH: &str = "/m/l/";

/// Stores where the service is reached, for the links in messages. `entropy` becomes the key that signs them, if there
/// is none yet.
pub fn announce(
    whole: &mut Whole<'_, '_>,
    base_url: &str,
    entropy: &[u8; ENTROPY_BYTES],
) -> Result<(), AppError> {
    whole.allow(&ANNOUNCE)?;
    match rows::site(whole.tx)? {
        Some((known, _)) if known == base_url => Ok(()),
        _ => Ok(rows::set_site(whole.tx, base_url, &LinkKey(*entropy))?),
    }
}

/// A link for an officer to hand on.
pub fn link(view: &mut View<'_, '_>, member: MemberId) -> Result<(Member, String, Timestamp), AppError> {
    view.allow(&LINK)?;
    let member: Member = view.find(member)?;
    let never = || {
        Refusal::conflict(
            "the address of the members' pages is not known yet; start the server once with `bursar serve`",
        )
    };
    let link = Links::of(view)?.ok_or_else(never)?.to(member.id);
    let ends_at = view.now().plus_days(bursar_domain::member_access::LINK_DAYS);
    Ok((member, link, ends_at))
}

/// Every link to the member's page that was made until now stops working, and who is signed in is signed out.
pub fn revoke(act: &mut Act<'_, '_>, member: MemberId) -> Result<Member, AppError> {
    act.allow(&REVOKE)?;
    let found: Member = act.find(member)?;
    let now = act.now();
    rows::revoke(act.tx, act.organization, member, now)?;
    rows::end_sessions_of(act.tx, act.organization, member)?;
    act.log(REVOKE.name, Some(member.to_string()), None)?;
    Ok(found)
}

/// Signs links to the pages of an organization's members.
pub(crate) struct Links {
    base_url: String,
    key: LinkKey,
    organization: OrganizationId,
    now: Timestamp,
}

impl Links {
    /// `None` before the service was first served.
    pub(crate) fn of<M>(act: &mut Act<'_, '_, M>) -> Result<Option<Self>, AppError> {
        let (organization, now) = (act.organization, act.now());
        let links = |(base_url, key)| Self {
            base_url,
            key,
            organization,
            now,
        };
        Ok(rows::site(act.tx)?.map(links))
    }

    pub(crate) fn to(&self, member: MemberId) -> String {
        let link = MemberLink::sign(&self.key, self.organization, member, self.now);
        format!("{}{LINK_PATH}{link}", self.base_url)
    }

    /// What an officer sees in place of a member's link.
    pub(crate) fn example(&self) -> String {
        format!("{}{LINK_PATH}…", self.base_url)
    }
}

/// What a try to enter a code led to. Each is committed, so that a try counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    In,
    /// So many tries are left.
    Wrong(i64),
    /// It is too old, used or tried too often, or this browser has asked for none.
    Ended,
}

/// An organization whose members can sign in, by its id.
pub fn entrance(whole: &mut Whole<'_, '_>, organization: OrganizationId) -> Result<Organization, AppError> {
    whole.allow(&ASK)?;
    own(whole, organization)
}

/// Makes a code for this browser and mails it, if a member has the address and it has not had too many today.
pub fn ask(
    whole: &mut Whole<'_, '_>,
    organization: OrganizationId,
    email: &str,
    browser: &str,
    entropy: &[u8; ENTROPY_BYTES],
) -> Result<(), AppError> {
    whole.allow(&ASK)?;
    let own = own(whole, organization)?;
    let email = check_email(email.trim()).map_err(Refusal::of_field("email"))?;
    let members = with_address(whole, organization, &email)?;
    // The address as the organization has it, not as a visitor spells it.
    let known = members.into_iter().find_map(|member| {
        let email = member.email.clone()?;
        Some((member, email))
    });
    let asked = Asked {
        organization: &own,
        email: address_key(&email),
        browser,
        entropy,
    };
    let (now, id) = (whole.now(), whole.new_id());
    match known {
        Some((member, email)) => {
            let reader = Reader {
                key: member.id.to_bytes(),
                email: &email,
                name: "",
            };
            mail(whole.tx, &asked, Some(reader), None, (now, id))
        }
        None => mail(whole.tx, &asked, None, None, (now, id)),
    }
}

/// The same for whoever has a member's link: the code goes to the member's address. Returns that address.
pub fn ask_own(
    act: &mut Act<'_, '_>,
    browser: &str,
    entropy: &[u8; ENTROPY_BYTES],
) -> Result<String, AppError> {
    act.allow(&ASK_OWN)?;
    let Caller::Member(member, _) = act.caller else {
        return Err(AppError::Unrecognised);
    };
    let (own, member) = (act.own()?, act.find::<Member>(member)?);
    let no_address = || {
        Refusal::conflict(format!(
            "{} has no e-mail address of yours; ask them to add one",
            own.name
        ))
    };
    let email = member.email.clone().ok_or_else(no_address)?;
    let asked = Asked {
        organization: &own,
        email: address_key(&email),
        browser,
        entropy,
    };
    let reader = Reader {
        key: member.id.to_bytes(),
        email: &email,
        name: "",
    };
    let (now, id) = (act.now(), act.new_id());
    mail(act.tx, &asked, Some(reader), Some(member.id), (now, id))?;
    Ok(email)
}

struct Asked<'a> {
    organization: &'a Organization,
    /// In lower case.
    email: String,
    browser: &'a str,
    entropy: &'a [u8; ENTROPY_BYTES],
}

fn mail(
    tx: &mut bursar_db::Tx<'_>,
    asked: &Asked<'_>,
    reader: Option<Reader<'_>>,
    member: Option<MemberId>,
    (now, id): (Timestamp, bursar_domain::ids::MessageId),
) -> Result<(), AppError> {
    let organization = asked.organization.id;
    let had = rows::codes_of(tx, organization, &asked.email, code::counted_since(now))?;
    let reader = reader.filter(|_| had < code::A_DAY_MAX);
    let digits = code::digits(asked.entropy);
    let code = MemberCode {
        browser: SecretHash::of(asked.browser),
        organization,
        email: asked.email.clone(),
        is_known: reader.is_some(),
        member,
        hash: code::hash(asked.browser, &digits),
        tries: 0,
        created_at: now,
    };
    rows::add_code(tx, &code)?;
    if let Some(reader) = reader {
        let letter = letter(&digits, &asked.organization.name);
        personal::queue(tx, id, reader, Letter::Code, letter, now)?;
    }
    Ok(())
}

fn letter(digits: &str, organization: &str) -> (String, String) {
    let spaced = code::spaced(digits);
    let body = format!(
        "{spaced}\n\nThis code opens your page at {organization}, in the browser that asked for it. It works once, within 10 \
         minutes.\n\nIf you did not request it, ignore this message. Do not share this code with anyone."
    );
    (format!("{spaced} is your code for {organization}"), body)
}

/// Whom this browser asked for, while its code is in force: the organization and the address.
pub fn asked(
    whole: &mut Whole<'_, '_>,
    browser: &SecretHash,
) -> Result<Option<(Organization, String)>, AppError> {
    whole.allow(&ASK)?;
    let now = whole.now();
    match rows::code(whole.tx, browser)?.filter(|code| code.is_in_force(now)) {
        Some(code) => Ok(Some((own(whole, code.organization)?, code.email))),
        None => Ok(None),
    }
}

/// Begins a session if the code is right. The member is the one who asked, or the only one with the address; otherwise
/// [`choose`] says who.
pub fn enter(
    whole: &mut Whole<'_, '_>,
    browser: &str,
    typed: &str,
    session: SecretHash,
) -> Result<Entry, AppError> {
    whole.allow(&ENTER)?;
    let (now, browser_hash) = (whole.now(), SecretHash::of(browser));
    let tried = rows::try_code(whole.tx, &browser_hash)?;
    let Some(tried) = tried.filter(|code| now < code::expiry(code.created_at)) else {
        return Ok(Entry::Ended);
    };
    if !tried.is_known || tried.hash != code::hash(browser, typed) {
        return Ok(match TRIES_MAX - tried.tries {
            0 => Entry::Ended,
            left => Entry::Wrong(left),
        });
    }
    rows::use_up_code(whole.tx, &browser_hash)?;
    let members = with_address(whole, tried.organization, &tried.email)?;
    let asked_for = tried
        .member
        .filter(|id| members.iter().any(|member| member.id == *id));
    let member = match (asked_for, members.as_slice()) {
        // The address was changed since.
        (_, []) => return Ok(Entry::Ended),
        (Some(member), _) => Some(member),
        (None, [only]) => Some(only.id),
        (None, _) => None,
    };
    let session = MemberSession {
        hash: session,
        organization: tried.organization,
        email: tried.email,
        member,
        started_at: now,
    };
    rows::begin_session(whole.tx, &session)?;
    Ok(Entry::In)
}

/// A session, and who has its address.
#[derive(Clone, Debug)]
pub struct Choice {
    pub organization: Organization,
    pub chosen: Option<MemberId>,
    /// With their names.
    pub members: Vec<(MemberId, String)>,
}

/// `None` if there is no such session, or it has ended.
pub fn choice(whole: &mut Whole<'_, '_>, session: &SecretHash) -> Result<Option<Choice>, AppError> {
    whole.allow(&ENTER)?;
    let now = whole.now();
    let Some(session) = rows::session(whole.tx, session)?.filter(|session| session.is_in_force(now)) else {
        return Ok(None);
    };
    let members = with_address(whole, session.organization, &session.email)?;
    Ok(Some(Choice {
        organization: own(whole, session.organization)?,
        chosen: session.member,
        members: members
            .into_iter()
            .map(|member| (member.id, member.name()))
            .collect(),
    }))
}

/// Shows another member with the same address from now on.
pub fn choose(whole: &mut Whole<'_, '_>, session: &SecretHash, member: MemberId) -> Result<(), AppError> {
    whole.allow(&ENTER)?;
    let choice = choice(whole, session)?.ok_or(AppError::Unrecognised)?;
    let is_offered = choice.members.iter().any(|(id, _)| *id == member);
    if !is_offered {
        return Err(Refusal::missing("there is no such member with your address").into());
    }
    Ok(rows::choose(whole.tx, session, member)?)
}

pub fn end(whole: &mut Whole<'_, '_>, session: &SecretHash) -> Result<(), AppError> {
    whole.allow(&ENTER)?;
    Ok(rows::end_session(whole.tx, session)?)
}

fn own(whole: &mut Whole<'_, '_>, organization: OrganizationId) -> Result<Organization, AppError> {
    let own = bursar_db::organizations::get(whole.tx, organization)?;
    Ok(own.ok_or_else(|| Refusal::missing("there is no such organization"))?)
}

/// Members of one organization with this address, whatever its case, by name.
fn with_address(
    whole: &mut Whole<'_, '_>,
    organization: OrganizationId,
    email: &str,
) -> Result<Vec<Member>, AppError> {
    let key = address_key(email);
    let mut members = Vec::new();
    for id in rows::maybe_with_address(whole.tx, organization, email)? {
        let member: Option<Member> = bursar_db::table::get(whole.tx, organization, id)?;
        members.extend(member.filter(|member| member.email.as_deref().map(address_key) == Some(key.clone())));
    }
    members.sort_by_cached_key(|member| (member.name(), member.id));
    Ok(members)
}
