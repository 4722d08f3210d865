//! What an import does with a row of each kind besides writing it.

use bursar_db::{Stored, Tx, memberships};
use bursar_domain::Refusal;
use bursar_domain::campaign::{Campaign, CampaignStatus};
use bursar_domain::card::{Card, CardStatus};
use bursar_domain::catch_up;
use bursar_domain::event::Evented;
use bursar_domain::group::Group;
use bursar_domain::ids::OrganizationId;
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::order::Order;
use bursar_domain::payment::{Payment, PaymentStatus};
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::reminder::{Reminder, ReminderStatus};

use super::load::{Load, PendingGroup, put};
use super::record::Header;
use crate::books::charges;
use crate::error::AppError;

pub(super) trait Settle: Stored + Evented {
    fn settle(
        load: &mut Load<'_>,
        tx: &mut Tx<'_>,
        header: Header<Self>,
        before: Option<Self>,
        after: Self,
    ) -> Result<(), AppError> {
        put(load, tx, &header, before.as_ref(), after).map(drop)
    }
}

impl Settle for Reimbursement {
    fn settle(
        load: &mut Load<'_>,
        tx: &mut Tx<'_>,
        header: Header<Self>,
        before: Option<Self>,
        after: Self,
    ) -> Result<(), AppError> {
        let organization = header.organization;
        let Some(after) = put(load, tx, &header, before.as_ref(), after)? else {
            return Ok(());
        };
        let (zone, today) = load.day(organization);
        if load.is_posted(after.id) {
            return Ok(());
        }
        let expense = || load.category(tx, organization, after.category.as_deref());
        let missing = catch_up::of_reimbursement(before.as_ref(), &after, (&zone, today), expense)?;
        let is_new = (before.is_none(), after.stamps.updated_at);
        load.catch_up(tx, (organization, after.id), is_new, missing)
    }
}

impl Settle for Card {
    fn settle(
        load: &mut Load<'_>,
        tx: &mut Tx<'_>,
        header: Header<Self>,
        before: Option<Self>,
        after: Self,
    ) -> Result<(), AppError> {
        let organization = header.organization;
        if let Some(card) = put(load, tx, &header, before.as_ref(), after)?
            && let (Some(CardStatus::Active), Some(member)) = (card.status, card.assigned_member_id)
        {
            load.hold(organization, member, "assignedMemberId");
        }
        Ok(())
    }
}

impl Settle for Listing {}

impl Settle for Order {
    fn settle(
        load: &mut Load<'_>,
        tx: &mut Tx<'_>,
        mut header: Header<Self>,
        before: Option<Self>,
        after: Self,
    ) -> Result<(), AppError> {
        // The API does not show an order's `updatedAt`, so a bundle made from API responses has none.
        header.updated_at = header.updated_at.or(header.created_at);
        let organization = header.organization;
        let Some(after) = put(load, tx, &header, before.as_ref(), after)? else {
            return Ok(());
        };
        let (zone, today) = load.day(organization);
        let missing = catch_up::of_order(before.as_ref(), &after, &zone, today);
        let is_new = (before.is_none(), after.stamps.updated_at);
        load.catch_up(tx, (organization, after.id), is_new, missing)
    }
}

impl Settle for Group {
    fn settle(
        load: &mut Load<'_>,
        _: &mut Tx<'_>,
        header: Header<Self>,
        before: Option<Self>,
        mut after: Self,
    ) -> Result<(), AppError> {
        // Dues from before the import are not raised.
        if before.as_ref().and_then(|group| group.due_date) != after.due_date {
            after.skip_dues_before(load.day(header.organization).1);
        }
        let today = load.day(header.organization).1;
        after.follow_late_rule(before.as_ref(), load.now, today);
        load.groups.insert(
            header.id,
            PendingGroup {
                header,
                before,
                after,
            },
        );
        Ok(())
    }
}

impl Settle for Member {
    fn settle(
        load: &mut Load<'_>,
        tx: &mut Tx<'_>,
        header: Header<Self>,
        before: Option<Self>,
        mut after: Self,
    ) -> Result<(), AppError> {
        let organization = header.organization;
        let known = before.as_ref().and_then(|member| member.reference.as_deref());
        after.reference = load.reference::<Self>(
            tx,
            organization,
            after.id.to_bytes(),
            (known, after.reference.take()),
        )?;
        let Some(after) = put(load, tx, &header, before.as_ref(), after)? else {
            return Ok(());
        };
        let groups_before = before.as_ref().map_or(&[][..], |member| &member.groups);
        let was_active = before.as_ref().is_some_and(|member| member.is_active);
        if was_active && !after.is_active {
            load.hold(organization, after.id, "isActive");
        }
        for group in groups_before {
            if was_active {
                load.counts.entry(*group).or_insert((organization, 0)).1 -= 1;
            }
            if !after.groups.contains(group) {
                memberships::remove(tx, organization, *group, after.id)?;
            }
        }
        for group in &after.groups {
            if after.is_active {
                load.counts.entry(*group).or_insert((organization, 0)).1 += 1;
            }
            if !groups_before.contains(group) {
                let row = memberships::row_values(organization, *group, after.id, load.now);
                load.add(tx, &memberships::MEMBERSHIPS, row)?;
            }
        }
        Ok(())
    }
}

impl Settle for Payment {
    fn settle(
        load: &mut Load<'_>,
        tx: &mut Tx<'_>,
        header: Header<Self>,
        before: Option<Self>,
        mut after: Self,
    ) -> Result<(), AppError> {
        let organization = header.organization;
        let mut disputed = 0;
        if let Some(before) = &before
            && !load.is_posted(after.id)
        {
            disputed = ended_dispute(tx, organization, before, &after)?;
        }
        let known = before.as_ref().and_then(|payment| payment.reference.as_deref());
        after.reference = load.reference::<Self>(
            tx,
            organization,
            after.id.to_bytes(),
            (known, after.reference.take()),
        )?;
        let Some(after) = put(load, tx, &header, before.as_ref(), after)? else {
            return Ok(());
        };
        let (zone, today) = load.day(organization);
        let missing = catch_up::of_payment((before.as_ref(), disputed), &after, &zone, today);
        if before.as_ref().map(|payment| payment.due_date) != Some(after.due_date) {
            load.charged.insert(organization);
        }
        let is_new = (before.is_none(), after.stamps.updated_at);
        load.catch_up(tx, (organization, after.id), is_new, missing)
    }
}

/// What is in dispute of a payment whose dispute ends with this import.
fn ended_dispute(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    before: &Payment,
    after: &Payment,
) -> Result<i64, AppError> {
    if before.status != PaymentStatus::Disputed || after.status == PaymentStatus::Disputed {
        return Ok(0);
    }
    let disputed = charges::disputed(tx, organization, after.id)?;
    match disputed.by_provider {
        0 => Ok(disputed.by_hand),
        _ => {
            let rule = format!(
                "cannot change from disputed to {}: the dispute of {} is at the payment provider, and its outcome is booked \
                 automatically; leave the field out",
                after.status, after.id
            );
            Err(Refusal::invalid("status", rule).into())
        }
    }
}

impl Settle for Reminder {
    fn settle(
        load: &mut Load<'_>,
        tx: &mut Tx<'_>,
        header: Header<Self>,
        before: Option<Self>,
        mut after: Self,
    ) -> Result<(), AppError> {
        let unchanged = before
            .as_ref()
            .is_some_and(|b| b.scheduled_at == after.scheduled_at && b.status == after.status);
        if !unchanged {
            let is_past = after.scheduled_at.is_none_or(|at| at <= load.now);
            after.is_held = after.status == ReminderStatus::Scheduled && is_past;
        }
        put(load, tx, &header, before.as_ref(), after).map(drop)
    }
}

impl Settle for Campaign {
    fn settle(
        load: &mut Load<'_>,
        tx: &mut Tx<'_>,
        header: Header<Self>,
        before: Option<Self>,
        mut after: Self,
    ) -> Result<(), AppError> {
        let unchanged = before
            .as_ref()
            .is_some_and(|b| b.end_date == after.end_date && b.status == after.status);
        if !unchanged {
            let is_over = after
                .end_date
                .is_some_and(|end| end < load.day(header.organization).1);
            after.is_held = after.status == CampaignStatus::Active && is_over;
        }
        put(load, tx, &header, before.as_ref(), after).map(drop)
    }
}
