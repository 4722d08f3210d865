//! Search: members by name, e-mail address or phone number; a charge and money by reference; anything by its id.

mod ids;

use askama::Template;
use bursar_app::books::receipts;
use bursar_app::desk::{self, Filter, MemberLine};
use bursar_app::reminders::SEND_NOW;
use bursar_app::resources::Readable;
use bursar_app::{AppError, View, activity, search};
use bursar_domain::campaign::Campaign;
use bursar_domain::card::Card;
use bursar_domain::group::Group;
use bursar_domain::ids::{Id, MemberId, ReceiptId, RequestId};
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::order::Order;
use bursar_domain::payment::Payment;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::reminder::Reminder;

use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;
use crate::words;

/// Members that are shown.
const MEMBERS_MAX: usize = 20;
/// Receipts with the same reference that are shown.
const RECEIPTS_MAX: usize = 10;

/// What has the id, the reference or the request id.
struct Hit {
    to: String,
    name: String,
}

struct Row {
    id: MemberId,
    name: String,
    address: String,
    state: &'static str,
    balance: String,
}

#[derive(Template)]
#[template(path = "search.html")]
struct Page<'a> {
    frame: &'a Frame,
    text: &'a str,
    hits: Vec<Hit>,
    members: Vec<Row>,
    is_more: bool,
    /// The same search in the list of members.
    all: String,
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let (frame, text) = (&asking.frame, asking.query("q"));
    let hits = hits(view, frame, text)?;
    let (lines, is_more) = match bursar_domain::search::wanted(text).is_empty() || !frame.may(&Member::READ) {
        true => (Vec::new(), false),
        false => search::members(view, text, Filter::default(), MEMBERS_MAX)?,
    };
    let ids: Vec<MemberId> = lines.iter().map(|line| line.id).collect();
    let balances = desk::balances(view, &ids)?;
    let row = |line: MemberLine| Row {
        id: line.id,
        name: format!("{} {}", line.first_name, line.last_name),
        address: line.email.or(line.phone).unwrap_or_default(),
        state: if line.is_active { "Active" } else { "Archived" },
        balance: balances
            .get(&line.id)
            .map_or_else(|| "\u{2013}".to_owned(), |balance| words::money(*balance)),
    };
    let page = Page {
        frame,
        text,
        hits,
        members: lines.into_iter().map(row).collect(),
        is_more,
        all: asking.with("members", &[("state", "all")]),
    };
    Ok(page.render()?)
}

fn hits(view: &mut View<'_, '_>, frame: &Frame, text: &str) -> Result<Vec<Hit>, Failure> {
    let mut hits = Vec::new();
    by_id::<Member>(view, frame, ("members", "Member"), text, &mut hits)?;
    by_id::<Group>(view, frame, ("groups", "Group"), text, &mut hits)?;
    by_id::<Payment>(view, frame, ("charges", "Charge"), text, &mut hits)?;
    by_id::<Reimbursement>(view, frame, ("reimbursements", "Reimbursement"), text, &mut hits)?;
    // Its page is for those who may send it.
    if frame.may(&SEND_NOW) {
        by_id::<Reminder>(view, frame, ("reminders", "Reminder"), text, &mut hits)?;
    }
    by_id::<Card>(view, frame, ("cards", "Card"), text, &mut hits)?;
    by_id::<Campaign>(view, frame, ("campaigns", "Campaign"), text, &mut hits)?;
    by_id::<Listing>(view, frame, ("store", "Listing"), text, &mut hits)?;
    by_id::<Order>(view, frame, ("orders", "Order"), text, &mut hits)?;
    let mut hit = |end: &str, name: String| {
        hits.push(Hit {
            to: frame.at(end),
            name,
        });
    };
    if frame.may(&Payment::READ)
        && let Some(charge) = search::charge(view, text)?
    {
        let name = format!(
            "Charge \u{201c}{}\u{201d}, {}",
            charge.description,
            words::money_in(charge.amount)
        );
        hit(&format!("charges/{}", charge.id), name);
    }
    if frame.may(&receipts::READ) && !text.is_empty() {
        for receipt in receipts::by_reference(view, text, RECEIPTS_MAX)? {
            let amount = words::money_in(Money::new(receipt.amount, frame.place.organization.currency));
            let name = format!("{amount} of {}, reference {text}", words::day(receipt.date));
            hit(&format!("money/{}", receipt.id), name);
        }
    }
    let receipt: Option<ReceiptId> = Id::parse(text);
    if let Some(id) = receipt.filter(|_| frame.may(&receipts::READ)) {
        match receipts::show(view, id) {
            Ok(_) => hit(&format!("money/{id}"), format!("Money in {id}")),
            Err(AppError::Refused(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let request: Option<RequestId> = Id::parse(text);
    if let Some(id) = request.filter(|_| frame.may(&activity::LIST)) {
        let query = activity::Query {
            limit: 1,
            request: Some(id),
            ..activity::Query::default()
        };
        if !activity::list(view, &query)?.is_empty() {
            hit(
                &format!("activity?request={id}"),
                format!("What request {id} did"),
            );
        }
    }
    ids::add(view, frame, text, &mut hits)?;
    Ok(hits)
}

fn by_id<R: Readable>(
    view: &mut View<'_, '_>,
    frame: &Frame,
    (list, noun): (&str, &str),
    text: &str,
    hits: &mut Vec<Hit>,
) -> Result<(), Failure> {
    if Id::<R::Kind>::parse(text).is_some()
        && frame.may(&R::READ)
        && let Some(id) = search::has::<R>(view, text)?
    {
        hits.push(Hit {
            to: frame.at(&format!("{list}/{id}")),
            name: format!("{noun} {id}"),
        });
    }
    Ok(())
}
