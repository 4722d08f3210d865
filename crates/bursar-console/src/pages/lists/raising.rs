//! Campaigns, what came for one, the store's listings and cards.

use bursar_app::{View, campaigns as app, names};
use bursar_domain::campaign::Campaign;
use bursar_domain::card::Card;
use bursar_domain::ids::kind;
use bursar_domain::listing::Listing;

use super::books::{RECEIPT, receipt_rows};
use super::{ROWS_MAX, cut, file, whole};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::pages::{campaigns as page, cards as card_page, store};
use crate::reply::Download;
use crate::sheet::Cell;
use crate::words;

pub(crate) fn campaigns(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let (found, raised) = page::found(view, asking)?;
    let row = |campaign: &Campaign| {
        let sum = page::sum_of(&raised, campaign);
        let percent = page::percent(sum, campaign.goal_amount);
        vec![
            Cell::Text(campaign.name.clone()),
            Cell::Text(words::label(campaign.status.as_str())),
            Cell::Money(sum),
            Cell::money(campaign.goal_amount),
            Cell::Count(i64::try_from(percent).unwrap_or(i64::MAX)),
            Cell::Day(campaign.end_date),
        ]
    };
    let rows = whole(found.iter().map(row).collect());
    let columns = [
        "Name",
        "State",
        "Collected",
        "Goal",
        "Of the goal (%)",
        "Last day",
    ];
    Ok(file(view, asking, "campaigns", &columns, rows))
}

/// What came for one.
pub(crate) fn campaign(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let found = app::raised_for(view, asking.id::<kind::Campaign>(0)?, ROWS_MAX)?;
    let mut rows = receipt_rows(view, &found.receipts)?;
    if found.is_more {
        rows.push(cut());
    }
    Ok(file(view, asking, "campaign", &RECEIPT, rows))
}

pub(crate) fn listings(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let row = |listing: &Listing| {
        vec![
            Cell::Text(listing.name.clone()),
            Cell::text(store::sale(listing.is_active)),
            Cell::Text(store::items(listing)),
        ]
    };
    let rows = whole(store::listings(view, asking)?.iter().map(row).collect());
    Ok(file(
        view,
        asking,
        "listings",
        &["Listing", "State", "Items"],
        rows,
    ))
}

pub(crate) fn cards(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let found = card_page::found(view, asking)?;
    let holders = names::of_references(view, &found)?;
    let row = |card: &Card| {
        let holder = card.assigned_member_id.map(|id| holders.told(Some(id)));
        let often = card.spend_limit_frequency.filter(|_| card.spend_limit.is_some());
        vec![
            Cell::Text(card_page::named(card)),
            Cell::Text(holder.unwrap_or_default()),
            Cell::Text(card_page::status(card).1),
            Cell::money(card.spend_limit),
            often.map_or(Cell::Nothing, |often| {
                Cell::text(words::label(card_page::often(often)))
            }),
        ]
    };
    let rows = whole(found.iter().map(row).collect());
    let columns = ["Name", "Holder", "State", "Limit", "How often"];
    Ok(file(view, asking, "cards", &columns, rows))
}
