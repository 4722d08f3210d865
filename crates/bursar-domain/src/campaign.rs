//! Campaigns: raising funds for something, by a day.

use crate::fields::Fields;
use crate::ids::{CampaignId, Id, kind};
use crate::money::{Currency, Money};
use crate::refusal::Refusal;
use crate::resource::{Reference, Resource, Stamps, Surroundings, Writer};
use crate::states::{Machine, Verb};
use crate::text::{NAME, NOTE};
use crate::time::Date;
use crate::words;

words! {
    /// Where a campaign stands.
    CampaignStatus {
        /// Being prepared.
        Draft "draft",
        /// Running.
        Active "active",
        /// Over.
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

/// A campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Campaign {
    /// Names it.
    pub id: CampaignId,
    /// What people call it.
    pub name: String,
    /// What it is for.
    pub note: Option<String>,
    /// How much is hoped for.
    pub goal_amount: Option<Money>,
    /// The organization's currency.
    pub currency: Currency,
    /// Its first day.
    pub start_date: Option<Date>,
    /// Its last day.
    pub end_date: Option<Date>,
    /// Where it stands.
    pub status: CampaignStatus,
    /// Its last day was already over when it was imported: it does not end by itself. Not part of any
    /// representation.
    pub is_held: bool,
    /// When it was made and changed.
    pub stamps: Stamps,
}

impl Resource for Campaign {
    type Kind = kind::Campaign;
    const TYPE: &'static str = "campaign";

    fn blank(id: Id<Self::Kind>, currency: Currency, stamps: Stamps) -> Self {
        Self {
            id,
            name: String::new(),
            note: None,
            goal_amount: None,
            currency,
            start_date: None,
            end_date: None,
            status: CampaignStatus::Draft,
            is_held: false,
            stamps,
        }
    }

    fn id(&self) -> CampaignId {
        self.id
    }

    fn stamps(&self) -> Stamps {
        self.stamps
    }

    fn stamps_mut(&mut self) -> &mut Stamps {
        &mut self.stamps
    }

    fn write(&self, out: &mut Writer<'_>) {
        out.field("name", &self.name);
        out.field("note", &self.note);
        out.field("goalAmount", &self.goal_amount);
        out.field("currency", &self.currency);
        out.field("startDate", &self.start_date);
        out.field("endDate", &self.end_date);
        out.field("status", &self.status);
        out.stamps(self.stamps);
    }

    fn apply(&mut self, fields: &mut Fields<'_>) -> Result<(), Refusal> {
        fields.own_currency("currency", self.currency)?;
        fields.text("name", NAME)?.fill(&mut self.name)?;
        fields.text("note", NOTE)?.set_or_null(&mut self.note);
        fields
            .money("goalAmount", self.currency)?
            .set_or_null(&mut self.goal_amount);
        fields.date("startDate")?.set_or_null(&mut self.start_date);
        fields.date("endDate")?.set_or_null(&mut self.end_date);
        fields
            .word("status", CampaignStatus::parse, CampaignStatus::WORDS)?
            .set(&mut self.status)?;
        Ok(())
    }

    fn check(&self, _: &Surroundings) -> Result<(), Refusal> {
        match (self.start_date, self.end_date) {
            (Some(start), Some(end)) if end < start => Err(Refusal::invalid(
                "endDate",
                format!("must not be before startDate, {start}, got {end}"),
            )),
            _ => Ok(()),
        }
    }

    fn references(&self, _: &mut dyn FnMut(Reference)) {}
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
