//! Cards and applications for them.

use bursar_db::{applications, table};
use bursar_domain::card::{Card, NewCard};
use bursar_domain::ids::ApplicationId;
use bursar_domain::member::Member;
use bursar_domain::organization::CardIssuing;
use bursar_domain::{Refusal, Stamps};

use crate::act::Act;
use crate::error::AppError;

/// What came of asking for a card.
#[derive(Clone, Debug)]
pub enum Issued {
    /// A card.
    Card(Card),
    /// The organization is not approved for issuing yet: an application.
    Application(ApplicationId),
}

/// Issues a card, or files an application where the organization is not approved for issuing yet.
pub fn create(act: &mut Act<'_, '_>, issuing: CardIssuing, new: &NewCard) -> Result<Issued, AppError> {
    if let Some(id) = new.assigned_member_id {
        let missing = || Refusal::missing_reference("assignedMemberId", id);
        let member: Member = table::get(act.tx, act.organization, id)?.ok_or_else(missing)?;
        if !member.is_active {
            let message = format!(
                "assignedMemberId {id} is archived; restore the member or assign the card to another"
            );
            return Err(Refusal::conflict(message).into());
        }
    }
    match issuing {
        CardIssuing::Approved => {
            let id = act.new_id();
            let stamps = Stamps::at(act.tick());
            let card = new.clone().issue(id, stamps);
            act.insert(&card)?;
            act.log("card.create", Some(id.to_string()), None)?;
            Ok(Issued::Card(card))
        }
        CardIssuing::Pending => {
            let id: ApplicationId = act.new_id();
            applications::insert(act.tx, act.organization, id, new, act.now())?;
            act.log("card.apply", Some(id.to_string()), None)?;
            Ok(Issued::Application(id))
        }
    }
}
