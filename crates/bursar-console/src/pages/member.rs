//! A member: facts, balance, charges and money.

use askama::Template;
use bursar_app::books::credit;
use bursar_app::books::receipts::RECORD;
use bursar_app::desk::{self, ChargeQuery};
use bursar_app::members::CHANGE;
use bursar_app::online::autopay;
use bursar_app::payments::RAISE;
use bursar_app::reminders::SCHEDULE;
use bursar_app::{View, names, resources};
use bursar_domain::creditor_reference;
use bursar_domain::ids::{MemberId, kind};
use bursar_domain::member::Member;
use bursar_domain::money::Money;

use super::member_more::More;
use super::rows::{self, ChargeRow, ReceiptRow};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;
use crate::words;

#[derive(Template)]
#[template(path = "member.html")]
struct Page<'a> {
    frame: &'a Frame,
    id: MemberId,
    name: String,
    is_active: bool,
    is_erased: bool,
    may_export: bool,
    may_erase: bool,
    may_record: bool,
    may_raise: bool,
    may_remind: bool,
    may_link: bool,
    may_change: bool,
    is_owing: bool,
    balance_name: &'static str,
    balance: String,
    joined: String,
    email: String,
    phone: String,
    /// Address and name.
    groups: Vec<(String, String)>,
    may_credit: bool,
    more: Vec<More>,
    /// The saved card; empty without one.
    card: String,
    may_stop: bool,
    reference: String,
    /// The id, for a link; empty for who pays for themselves.
    payer_id: String,
    payer: String,
    charges: Vec<ChargeRow>,
    receipts: Vec<ReceiptRow>,
    /// All charges, if there are more than these; empty otherwise.
    all_charges: String,
    /// There is older money than this.
    is_more: bool,
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let id = asking.id::<kind::Member>(0)?;
    let member: Member = resources::one(view, id)?;
    let own = &frame.place.organization;
    let today = own.time_zone.date(view.now());
    let names = names::of_references(view, std::slice::from_ref(&member))?;
    let balance = desk::balances(view, &[id])?;
    let balance = balance
        .get(&id)
        .copied()
        .unwrap_or_else(|| Money::zero(own.currency));
    let of_member = ChargeQuery {
        member: Some(id),
        ..ChargeQuery::default()
    };
    let mut charges = desk::charges(view, &of_member, None)?;
    // The last ones that changed, by time.
    charges
        .rows
        .sort_by_key(|line| std::cmp::Reverse((line.due.is_none(), line.due, line.id)));
    let received = bursar_app::pages::receipts_of(view, id)?;
    let groups = member
        .groups
        .iter()
        .map(|group| (frame.at(&format!("groups/{group}")), names.told(Some(*group))));
    let payer = names::of(view, member.payer_id.as_slice())?.told(member.payer_id);
    let more = super::member_more::of(view, frame, id)?;
    let dash = || "\u{2013}".to_owned();
    let is_erased = member.erased_at.is_some();
    let page = Page {
        frame,
        id,
        name: member.name(),
        is_active: member.is_active,
        is_erased,
        may_export: frame.may(&bursar_app::privacy::EXPORT) && !is_erased,
        may_erase: frame.may(&bursar_app::privacy::ERASE) && !is_erased,
        may_record: frame.may(&RECORD),
        may_raise: frame.may(&RAISE) && member.is_active,
        may_remind: frame.may(&SCHEDULE) && member.is_active,
        may_link: frame.may(&bursar_app::member_access::LINK) && !is_erased,
        may_change: frame.may(&CHANGE) && !is_erased,
        is_owing: balance.minor > 0,
        balance_name: if balance.minor < 0 {
            "Paid in advance"
        } else {
            "Owes"
        },
        balance: words::money_in(Money::new(balance.minor.saturating_abs(), own.currency)),
        joined: words::day_or_dash(member.join_date),
        email: member.email.clone().unwrap_or_else(dash),
        phone: member.phone.clone().unwrap_or_else(dash),
        groups: groups.collect(),
        may_credit: frame.may(&credit::APPLY) && balance.minor < 0,
        more,
        card: autopay::of_member(view, id)?
            .and_then(|saved| saved.card)
            .unwrap_or_default(),
        may_stop: frame.may(&autopay::STOP),
        reference: member
            .reference
            .as_deref()
            .map_or_else(dash, creditor_reference::spaced),
        payer_id: member.payer_id.map(|payer| payer.to_string()).unwrap_or_default(),
        payer,
        charges: rows::charges(view, &charges.rows, own.currency, today)?,
        receipts: rows::receipts(view, &received.rows)?,
        all_charges: match charges.is_more {
            true => frame.at(&format!("charges?show=all&member={id}")),
            false => String::new(),
        },
        is_more: received.is_more,
    };
    Ok(page.render()?)
}
