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
}

const MESSAGES_MAX: usize = 20;

/// Sections without a line are left out.
pub(super) fn of(view: &mut View<'_, '_>, frame: &Frame, member: MemberId) -> Result<Vec<More>, Failure> {
    let mut more = vec![
        More {
            title: "Messages",
            lines: sent(view, frame, member)?,
        },
        More {
            title: "Reimbursements",
            lines: reimbursements(view, frame, member)?,
        },
        More {
            title: "Orders",
            lines: orders(view, frame, member)?,
        },
    ];
    more.retain(|section| !section.lines.is_empty());
    Ok(more)
}

fn sent(view: &mut View<'_, '_>, frame: &Frame, member: MemberId) -> Result<Vec<Line>, Failure> {
    if !frame.may(&messages::LIST) {
        return Ok(Vec::new());
    }
    let found = messages::of_member(view, member, MESSAGES_MAX)?;
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
    Ok(found.into_iter().map(line).collect())
}

fn reimbursements(view: &mut View<'_, '_>, frame: &Frame, member: MemberId) -> Result<Vec<Line>, Failure> {
    if !frame.may(&Reimbursement::READ) {
        return Ok(Vec::new());
    }
    let found = desk::reimbursements_of(view, member)?.rows;
    let currency = frame.place.organization.currency;
    let line = |row: &desk::ReimbursementRow| Line {
        day: Moment::day_there(row.created_at, &frame.place.organization.time_zone),
        what: row.category.clone().unwrap_or_else(|| "Reimbursement".to_owned()),
        to: frame.at(&format!("reimbursements/{}", row.id)),
        detail: words::money_in(Money::new(row.amount, currency)),
        status: row.status.as_str(),
        state: words::label(row.status.as_str()),
    };
    Ok(found.iter().map(line).collect())
}

fn orders(view: &mut View<'_, '_>, frame: &Frame, member: MemberId) -> Result<Vec<Line>, Failure> {
    if !frame.may(&Order::READ) || !frame.may(&Listing::READ) {
        return Ok(Vec::new());
    }
    let found = desk::orders(view, Orders::Of(member), None)?.rows;
    let listings: Vec<_> = found.iter().filter_map(|row| row.listing).collect();
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
    Ok(found.iter().map(line).collect())
}
