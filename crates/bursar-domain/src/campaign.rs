//! Campaigns: raising funds for a purpose by a date.

use crate::money::{Currency, Money};
use crate::refusal::Refusal;
use crate::resource::{Invariants, Surroundings, resource};
use crate::states::{Machine, Verb};
use crate::text::{NAME, NOTE};
use crate::time::Date;
use crate::words;

words! {
    /// Where a campaign stands.
    CampaignStatus {
        /// It is being prepared.
        Draft "draft",
        /// It is running.
        Active "active",
        /// It is over.
        Ended "ended",
    }
}

impl Machine for CampaignStatus {
    const NOUN: &'static str = "campaign";

    fn moves(self) -> &'static [Self] {
        match self {
            Self::Draft => &[Self::Active],
            Self::Active => &[Self::Ended],
            Self::Ended => &[],
        }
    }
}

words! {
    /// What an officer does to a campaign; the worker ends one that is over.
    CampaignVerb {
        /// Starts it.
        Start "started",
        /// Ends it.
        End "ended",
    }
}

impl Verb for CampaignVerb {
    type State = CampaignStatus;

    fn starts_from(self) -> &'static [CampaignStatus] {
        match self {
            Self::Start => &[CampaignStatus::Draft],
            Self::End => &[CampaignStatus::Active],
        }
    }

    fn leads_to(self) -> CampaignStatus {
        match self {
            Self::Start => CampaignStatus::Active,
            Self::End => CampaignStatus::Ended,
        }
    }
}

resource! {
    /// A fundraising campaign with a goal and a last day.
    Campaign = "campaign" {
        /// Name of the campaign.
        name: String => shown("name").text(NAME).required(),
        /// Purpose of the campaign.
        note: Option<String> => shown("note").text(NOTE),
        /// Amount that the campaign wants to raise.
        goal_amount: Option<Money> => shown("goalAmount"),
        /// The organization's currency, as an ISO 4217 code.
        currency: Currency => shown("currency"),
        /// First day of the campaign.
        start_date: Option<Date> => shown("startDate"),
        /// Last day of the campaign.
        end_date: Option<Date> => shown("endDate"),
        /// Status of the campaign.
        status: CampaignStatus => shown("status"),
        /// Its last day was already over when it was imported: it does not end by itself.
        is_held: bool => internal(),
    }
}

impl Invariants for Campaign {
    fn check(&self, _: &Surroundings) -> Result<(), Refusal> {
        match (self.start_date, self.end_date) {
            (Some(start), Some(end)) if end < start => Err(Refusal::invalid(
                "endDate",
                format!("must not be before startDate, {start}, got {end}"),
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::states::testing::{assert_table, assert_verbs};

    #[test]
    fn transitions() {
        assert_table(
            CampaignStatus::ALL,
            &["draft → active", "active → ended", "ended → "],
        );
        assert_verbs(
            CampaignVerb::ALL,
            CampaignStatus::ALL,
            &["started: draft → active", "ended: active → ended"],
        );
    }
}
