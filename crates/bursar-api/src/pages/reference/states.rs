//! The statuses of a resource and their moves: a drawing, and a table that says the same.

use std::fmt::Write as _;

use bursar_domain::campaign::CampaignStatus;
use bursar_domain::card::CardStatus;
use bursar_domain::event::EventResource;
use bursar_domain::order::OrderStatus;
use bursar_domain::payment::PaymentStatus;
use bursar_domain::reimbursement::ReimbursementStatus;
use bursar_domain::reminder::ReminderStatus;
use bursar_domain::states::{Machine, Word};

use super::drawing::{Drawing, State};
use crate::pages::html::{heading, inline, row};

/// For the schema of a resource with statuses.
pub(super) fn of(schema: &str) -> Option<String> {
    Some(match schema {
        "Payment" => section(
            PaymentStatus::ALL,
            EventResource::Payment,
            &[PaymentStatus::Pending],
        ),
        "Reimbursement" => section(
            ReimbursementStatus::ALL,
            EventResource::Reimbursement,
            &[ReimbursementStatus::Draft],
        ),
        "Reminder" => section(
            ReminderStatus::ALL,
            EventResource::Reminder,
            &[ReminderStatus::Scheduled],
        ),
        "Card" => section(
            CardStatus::ALL,
            EventResource::Card,
            &[CardStatus::Invited, CardStatus::Active],
        ),
        "Campaign" => section(
            CampaignStatus::ALL,
            EventResource::Campaign,
            &[CampaignStatus::Draft],
        ),
        "StoreOrder" => section(OrderStatus::ALL, EventResource::Order, &[OrderStatus::Pending]),
        _ => return None,
    })
}

fn section<S: Machine + Word>(all: &[S], resource: EventResource, first: &[S]) -> String {
    let states: Vec<State> = all
        .iter()
        .map(|state| State {
            name: Word::as_str(*state),
            is_first: first.contains(state),
            next: state
                .moves()
                .iter()
                .filter_map(|next| all.iter().position(|other| other == next))
                .collect(),
        })
        .collect();
    let id = "statuses";
    let noun = S::NOUN;
    let mut body = heading(
        2,
        id,
        &format!("Statuses of a {noun}").replace("a order", "an order"),
    );
    let _ = write!(
        body,
        "<p>A status changes along the arrows. One change can take several arrows at once; only the last status is stored, \
         and <code>{resource}.STATUS</code> is the type of its event. A new {noun} \
         starts in a status marked <span class=\"start\">start</span>. A dashed border marks a final status.</p>\n\
         <table class=\"states\">\n<thead><tr><th scope=\"col\">Status</th><th scope=\"col\">Meaning</th>\
         <th scope=\"col\">Can become</th></tr></thead>\n<tbody>\n",
        resource = resource.as_str(),
    );
    for state in all {
        let next: Vec<String> = state
            .moves()
            .iter()
            .map(|next| format!("<code>{}</code>", Word::as_str(*next)))
            .collect();
        let next = if next.is_empty() {
            "nothing".to_owned()
        } else {
            next.join(" ")
        };
        let start = if first.contains(state) {
            " <span class=\"start\">start</span>"
        } else {
            ""
        };
        let _ = writeln!(
            body,
            "<tr><th scope=\"row\"><code>{}</code>{start}</th><td>{}</td><td>{next}</td></tr>",
            Word::as_str(*state),
            inline(state.about()),
        );
    }
    body.push_str("</tbody>\n</table>\n");
    let side = format!(
        "<figure class=\"drawing\">{}<figcaption>Moves between the statuses, as in the table.</figcaption></figure>\n",
        Drawing::new(&states).svg(noun)
    );
    row(id, &body, &side)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_move_is_in_the_table_and_drawn() {
        for (schema, all, moves) in [
            ("Payment", PaymentStatus::ALL.len(), arrows(PaymentStatus::ALL)),
            (
                "Reimbursement",
                ReimbursementStatus::ALL.len(),
                arrows(ReimbursementStatus::ALL),
            ),
            ("Reminder", ReminderStatus::ALL.len(), arrows(ReminderStatus::ALL)),
            ("Card", CardStatus::ALL.len(), arrows(CardStatus::ALL)),
            ("Campaign", CampaignStatus::ALL.len(), arrows(CampaignStatus::ALL)),
            ("StoreOrder", OrderStatus::ALL.len(), arrows(OrderStatus::ALL)),
        ] {
            let page = of(schema).unwrap();
            assert_eq!(page.matches("<rect").count(), all, "{schema}");
            assert_eq!(page.matches("class=\"arrow\"").count(), moves, "{schema}");
            assert_eq!(page.matches("class=\"head\"").count(), moves, "{schema}");
            assert!(
                !page.contains("<td></td>"),
                "{schema}: a status without a meaning"
            );
        }
    }

    fn arrows<S: Machine>(all: &[S]) -> usize {
        all.iter().map(|state| state.moves().len()).sum()
    }
}
