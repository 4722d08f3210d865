//! What the forms of a line's page do.

use bursar_app::View;
use bursar_app::statements::{self, Booking, Part, PartOf, Target};
use bursar_domain::ids::{AccountId, CampaignId, EntryId, Id, MemberId, PaymentId, StatementLineId, kind};
use bursar_domain::money::Money;

use super::super::lines::settled_by;
use super::super::rows;
use super::PARTS;
use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::{Done, Form, Sent};
use crate::pages::who;
use crate::words;

pub(crate) fn send(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let id: StatementLineId = asking.id::<kind::StatementLine>(0)?;
    let shown = statements::line(view, id)?;
    let amount = words::money_in(Money::new(shown.line.amount, shown.currency));
    let to = asking.frame.at(&format!("bank/{}", shown.line.statement));
    let undo = format!("lines/{}", form.get("key"));
    let lines = vec![id];
    let done = move |said: String| settled_by(&to, said, &undo, &lines);
    Ok(Sent::Do(match form.get("do") {
        "confirm" => {
            let form = form.clone();
            Box::new(move |act| {
                let settled = statements::confirm(act, &[id])?;
                rows::check_plans(&form, &settled)?;
                Ok(done(format!("Confirmed {amount}.")))
            })
        }
        "member" => {
            let targets = of_member(form)?;
            Box::new(move |act| {
                statements::choose(act, id, &targets)?;
                statements::confirm(act, &[id])?;
                Ok(done(format!("Booked {amount}.")))
            })
        }
        "entry" => {
            let rule = "Choose the entry that the line is.";
            let entry: EntryId = Id::parse(form.get("entry")).ok_or_else(|| Problem::of("entry", rule))?;
            Box::new(move |act| {
                statements::choose(act, id, &[Target::Entry(entry)])?;
                statements::confirm(act, &[id])?;
                Ok(done(format!("Matched {amount} with the books.")))
            })
        }
        "book" => {
            let booking = booking(form)?;
            Box::new(move |act| {
                statements::book(act, id, &booking)?;
                Ok(done(format!("Booked {amount}.")))
            })
        }
        "split" => {
            let parts = parts(view, asking, form)?;
            Box::new(move |act| {
                statements::split(act, id, &parts)?;
                let many = words::count(parts.len(), "part", "parts");
                Ok(done(format!("Booked {amount} in {many}.")))
            })
        }
        "ignore" => Box::new(move |act| {
            statements::ignore(act, &[id])?;
            Ok(done(format!("Excluded {amount} from the books.")))
        }),
        "undo" => {
            let to = asking.frame.at(&format!("bank/lines/{id}"));
            Box::new(move |act| {
                statements::undo(act, &[id])?;
                Ok(Done::new(to.clone(), "Undone. The line is to match again."))
            })
        }
        _ => return Err(Problem::of("do", "Choose what to do with the line.").into()),
    }))
}

fn of_member(form: &Form) -> Result<Vec<Target>, Problem> {
    let member: Option<MemberId> = Id::parse(form.get("payer"));
    let member = member.ok_or_else(|| Problem::of("member", "Choose whose money it is."))?;
    let payments = form.all("payment").filter_map(Id::parse);
    let mut targets: Vec<Target> = payments.map(|id: PaymentId| Target::Payment(id)).collect();
    targets.push(Target::Member(member));
    Ok(targets)
}

fn booking(form: &Form) -> Result<Booking, Problem> {
    let (account, campaign): (Option<AccountId>, Option<CampaignId>) =
        (Id::parse(form.get("target")), Id::parse(form.get("target")));
    if account.is_none() && campaign.is_none() {
        return Err(Problem::of("target", "Choose what it is."));
    }
    Ok(Booking {
        account: account.map(|id| id.to_string()),
        campaign,
        memo: form.some("memo"),
    })
}

fn parts(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Vec<Part>, Failure> {
    let currency = asking.frame.place.organization.currency;
    let mut parts = Vec::new();
    for number in PARTS {
        let amount = form.amount(&format!("amount-{number}"), currency);
        let amount =
            amount.map_err(|problem| Problem::of("parts", format!("Part {number}: {}", problem.message)))?;
        let amount = amount.unwrap_or_default();
        let (account, member) = (
            form.get(&format!("account-{number}")),
            form.get(&format!("member-{number}")),
        );
        let of = match (Id::<kind::Account>::parse(account), member) {
            (None, "") if amount.is_empty() => continue,
            (Some(account), "") => PartOf::Account(account.to_string()),
            (None, "") => {
                let rule = format!("Part {number}: enter a member's name, or choose an account.");
                return Err(Problem::of("parts", rule).into());
            }
            (Some(_), _) => {
                let rule = format!("Part {number}: enter a member or an account, not both.");
                return Err(Problem::of("parts", rule).into());
            }
            (None, text) => PartOf::Member(who::named(view, form, &format!("member-{number}"), text)?),
        };
        parts.push(Part { amount, of });
    }
    Ok(parts)
}
