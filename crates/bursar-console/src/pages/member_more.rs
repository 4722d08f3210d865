//! What a member's page shows below charges and money: messages, reimbursements, orders.

use bursar_app::desk::{self, Orders};
use bursar_app::messages;
use bursar_app::{View, names};
use bursar_domain::ids::MemberId;
use bursar_domain::listing::Listing;
use bursar_domain::money::Money;
use bursar_domain::order::Order;
use bursar_domain::reimbursement::Reimbursement;

use crate::failure::Failure;
use crate::frame::Frame;
use crate::words::{self, Moment};
use bursar_app::resources::Readable;

/// A line with a badge.
pub(crate) struct Line {
    pub(crate) day: Moment,
    pub(crate) what: String,
    /// Where it leads; empty if nowhere.
    pub(crate) to: String,
    pub(crate) detail: String,
    pub(crate) status: &'static str,
    pub(crate) state: String,
}

/// Sections with a title, and their lines.
pub(crate) struct More {
    pub(crate) title: &'static str,
    pub(crate) lines: Vec<Line>,
    /// There are older ones than these.
    pub(crate) is_more: bool,
}

/// Lines, and whether there are older ones.
type Lines = (Vec<Line>, bool);

const MESSAGES_MAX: usize = 20;

/// Sections without a line are left out.
pub(super) fn of(view: &mut View<'_, '_>, frame: &Frame, member: MemberId) -> Result<Vec<More>, Failure> {
    let mut more = Vec::new();
    for (title, (lines, is_more)) in [
        ("Messages", sent(view, frame, member)?),
        ("Reimbursements", reimbursements(view, frame, member)?),
        ("Orders", orders(view, frame, member)?),
    ] {
        more.push(More {
            title,
            lines,
            is_more,
        });
    }
    more.retain(|section| !section.lines.is_empty());
    Ok(more)
}

fn sent(view: &mut View<'_, '_>, frame: &Frame, member: MemberId) -> Result<Lines, Failure> {
    if !frame.may(&messages::LIST) {
        return Ok(Lines::default());
    }
    let mut found = messages::of_member(view, member, MESSAGES_MAX + 1)?;
    let is_more = found.len() > MESSAGES_MAX;
    found.truncate(MESSAGES_MAX);
    let line = |sent: messages::Sent| Line {
        day: Moment::there(
            sent.ended_at.unwrap_or(sent.created_at),
            &frame.place.organization.time_zone,
        ),
        what: sent.subject.unwrap_or_else(|| "Message".to_owned()),
        to: String::new(),
        detail: sent.detail.unwrap_or_default(),
        status: sent.state.as_str(),
        state: words::label(sent.state.as_str()),
    };
    Ok((found.into_iter().map(line).collect(), is_more))
}

fn reimbursements(view: &mut View<'_, '_>, frame: &Frame, member: MemberId) -> Result<Lines, Failure> {
    if !frame.may(&Reimbursement::READ) {
        return Ok(Lines::default());
    }
    let found = desk::reimbursements_of(view, member)?;
    let currency = frame.place.organization.currency;
    let line = |row: &desk::ReimbursementRow| Line {
        day: Moment::day_there(row.created_at, &frame.place.organization.time_zone),
        what: row.category.clone().unwrap_or_else(|| "Reimbursement".to_owned()),
        to: frame.at(&format!("reimbursements/{}", row.id)),
        detail: words::money_in(Money::new(row.amount, currency)),
        status: row.status.as_str(),
        state: words::label(row.status.as_str()),
    };
    Ok((found.rows.iter().map(line).collect(), found.is_more))
}

fn orders(view: &mut View<'_, '_>, frame: &Frame, member: MemberId) -> Result<Lines, Failure> {
    if !frame.may(&Order::READ) || !frame.may(&Listing::READ) {
        return Ok(Lines::default());
    }
    let found = desk::orders(view, Orders::Of(member), None)?;
    let listings: Vec<_> = found.rows.iter().filter_map(|row| row.listing).collect();
    let named = names::of(view, &listings)?;
    let currency = frame.place.organization.currency;
    let line = |row: &desk::OrderRow| Line {
        day: Moment::day_there(row.created_at, &frame.place.organization.time_zone),
        what: match row.listing {
            Some(listing) => named.told(Some(listing)),
            None => "Order".to_owned(),
        },
        to: frame.at(&format!("orders/{}", row.id)),
        detail: words::money_in(Money::new(row.total, currency)),
        status: row.status.as_str(),
        state: words::label(row.status.as_str()),
    };
    Ok((found.rows.iter().map(line).collect(), found.is_more))
}
