//! Groups, reimbursements, reminders, orders, chapters and the activity log.

use bursar_app::desk;
use bursar_app::messages;
use bursar_app::{View, names, pages, reports, resources};
use bursar_domain::Timestamp;
use bursar_domain::group::Group;
use bursar_domain::ids::{ActivityId, Id, MessageId, OrderId, ReimbursementId, ReminderId};
use bursar_domain::money::Money;
use bursar_domain::reminder::Reminder;

use super::{all, file, next, whole};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::pages::{
    activity as log, groups as group_page, reimbursements as expenses, reminders as letters, store,
};
use crate::reply::Download;
use crate::sheet::Cell;
use crate::words;

pub(crate) fn groups(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let mut groups = Vec::new();
    resources::each(view, |group: Group| groups.push(group))?;
    groups.sort_by(|one, other| one.name.cmp(&other.name));
    let row = |group: &Group| {
        vec![
            Cell::Text(group.name.clone()),
            Cell::Count(group.member_count),
            Cell::money(group.amount_due),
            match group.amount_due {
                Some(_) => Cell::text(group_page::every(group.recurring_interval)),
                None => Cell::Nothing,
            },
            Cell::Day(group.next_due()),
        ]
    };
    let rows = all(|_: Option<()>| Ok((groups.iter().map(row).collect(), None)))?;
    let columns = ["Name", "Active members", "Dues", "How often", "Next due"];
    Ok(file(view, asking, "groups", &columns, rows))
}

pub(crate) fn reimbursements(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let status = expenses::here(asking).0;
    let rows = all(|after: Option<(Timestamp, ReimbursementId)>| {
        let page = pages::reimbursements(view, status, after)?;
        let named = names::of_references(view, &page.rows)?;
        let found = page.rows.iter().map(|one| {
            vec![
                Cell::Text(expenses::what(one)),
                Cell::Text(expenses::who(one, &named)),
                Cell::Text(one.category.clone().unwrap_or_default()),
                Cell::Day(one.incurred_at),
                Cell::text(expenses::state(one.status)),
                Cell::Money(one.amount),
            ]
        });
        Ok((
            found.collect(),
            next(&page, |one| (one.stamps.updated_at, one.id)),
        ))
    })?;
    let columns = ["What for", "Who is paid", "Category", "Spent", "State", "Amount"];
    Ok(file(view, asking, "reimbursements", &columns, rows))
}

pub(crate) fn reminders(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    if letters::is_failed(asking) {
        return undelivered(view, asking);
    }
    let which = letters::here(asking).0;
    let zone = &asking.frame.place.organization.time_zone;
    let like: Option<ReminderId> = Id::parse(asking.query("batch"));
    let rows = all(|after: Option<(Timestamp, ReminderId)>| {
        let page = match like {
            Some(like) => pages::reminders_like(view, like, after)?,
            None => pages::reminders(view, which, after)?,
        };
        let shown: Vec<Reminder> = page.lines.iter().map(|line| line.reminder.clone()).collect();
        let named = names::of_references(view, &shown)?;
        let mut found = Vec::new();
        for line in &page.lines {
            let reminder = &line.reminder;
            let became = match line.count {
                1 => letters::became(&messages::counts(view, reminder.id)?),
                _ => String::new(),
            };
            found.push(vec![
                Cell::Text(letters::what(reminder)),
                Cell::Text(letters::to(line, &named)),
                Cell::Text(letters::when(reminder, zone).told),
                Cell::text(letters::how(reminder.method)),
                Cell::text(letters::state(reminder.status)),
                Cell::Text(became),
            ]);
        }
        Ok((found, page.next))
    })?;
    let columns = ["What", "To", "When", "How", "State", "Messages"];
    Ok(file(view, asking, "reminders", &columns, rows))
}

fn undelivered(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let zone = &asking.frame.place.organization.time_zone;
    let rows = all(|after: Option<MessageId>| {
        let page = messages::failed(view, after)?;
        let next = next(&page, |sent| sent.id);
        let found = page.rows.into_iter().map(|sent| {
            vec![
                Cell::Text(sent.subject.unwrap_or_default()),
                Cell::Text(sent.name.unwrap_or_default()),
                Cell::Text(sent.address.unwrap_or_default()),
                Cell::text(letters::how(sent.method)),
                Cell::Text(words::moment_there(
                    sent.ended_at.unwrap_or(sent.created_at),
                    zone,
                )),
                Cell::Text(sent.detail.unwrap_or_default()),
            ]
        });
        Ok((found.collect(), next))
    })?;
    let columns = ["What", "To", "Address", "How", "When", "Why"];
    Ok(file(view, asking, "not-delivered", &columns, rows))
}

pub(crate) fn orders(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let which = store::which(asking);
    let own = &asking.frame.place.organization;
    let rows = all(|after: Option<(Timestamp, OrderId)>| {
        let page = desk::orders(view, which, after)?;
        let named = store::order_rows(view, &asking.frame, &page.rows)?;
        let found = page.rows.iter().zip(named).map(|(line, row)| {
            vec![
                Cell::Text(row.what),
                Cell::Text(row.who),
                Cell::Day(Some(own.time_zone.date(line.created_at))),
                Cell::Text(row.state),
                Cell::Money(Money::new(line.total, own.currency)),
            ]
        });
        Ok((found.collect(), next(&page, |line| (line.updated_at, line.id))))
    })?;
    let columns = ["What", "Who", "Day", "State", "Total"];
    Ok(file(view, asking, "orders", &columns, rows))
}

pub(crate) fn chapters(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let lines = reports::chapters(view, None)?;
    let found: Vec<_> = lines
        .iter()
        .map(|line| {
            vec![
                Cell::Text(line.name.clone()),
                Cell::Count(line.members),
                Cell::Money(line.expected),
                Cell::Money(line.collected),
                Cell::Money(line.owed),
                Cell::Money(line.overdue),
                Cell::Text(line.expected.currency.to_string()),
            ]
        })
        .collect();
    let rows = whole(found);
    let columns = [
        "Chapter",
        "Members",
        "Expected",
        "Collected",
        "Owed",
        "Overdue",
        "Currency",
    ];
    Ok(file(view, asking, "chapters", &columns, rows))
}

pub(crate) fn activity(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let mut query = log::query(asking)?;
    let rows = all(|after: Option<ActivityId>| {
        query.before = after;
        let (lines, last) = log::rows(view, &asking.frame, &query)?;
        let found = lines.into_iter().map(|line| {
            vec![
                Cell::Text(line.at),
                Cell::Text(line.told),
                Cell::Text(line.request),
            ]
        });
        Ok((found.collect(), last))
    })?;
    let columns = ["When", "What", "Request"];
    Ok(file(view, asking, "activity", &columns, rows))
}
