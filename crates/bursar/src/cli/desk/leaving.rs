//! What is told to an officer when members join within a period, or leave with something open.

use bursar_app::pro_rata::{self, Leaving};
use bursar_domain::ids::{GroupId, MemberId, OrganizationId};
use bursar_domain::payment::{Payment, PaymentStatus};

use super::super::door::Door;
use super::super::{Globals, Outcome, output};

/// What members who joined were charged.
pub(super) fn tell_charged(globals: &Globals, charges: &[Payment]) -> Outcome {
    if globals.json {
        return Ok(());
    }
    for payment in charges {
        output::say(&format!(
            "Charged {} {} for the months left: {} ({})",
            payment.amount, payment.amount.currency, payment.description, payment.id
        ));
    }
    Ok(())
}

/// What was adjusted, and what is still open, with the commands for it.
pub(super) fn tell(
    door: &Door<'_>,
    organization: OrganizationId,
    (member, group): (MemberId, Option<GroupId>),
    changed: &[Payment],
) -> Outcome {
    if door.globals.json {
        return Ok(());
    }
    for payment in changed {
        output::say(&match payment.status {
            PaymentStatus::Cancelled => format!("Cancelled {} ({})", payment.description, payment.id),
            _ => format!(
                "Reduced {} ({}) to {} {}",
                payment.description, payment.id, payment.amount, payment.amount.currency
            ),
        });
    }
    let open = door.view(organization, move |view| pro_rata::leaving(view, member, group))?;
    for Leaving { payment, amount } in &open {
        let owed = payment.amount.minor - payment.paid_to_date.minor;
        let owed = bursar_domain::money::Money::new(owed, payment.amount.currency);
        output::say(&format!(
            "Open: {owed} {} for {} ({})",
            owed.currency, payment.description, payment.id
        ));
        match amount {
            Some(fair) if fair.minor == 0 => {
                output::say(&format!("  not due yet: `bursar payment cancel {}`", payment.id));
            }
            Some(fair) => output::say(&format!(
                "  the months used are {fair} {}: `bursar payment adjust {} --amount {fair} --kind correction --reason left`",
                fair.currency, payment.id
            )),
            None => output::say(&format!(
                "  it stays owed, unless you cancel it: `bursar payment cancel {}`",
                payment.id
            )),
        }
    }
    Ok(())
}
