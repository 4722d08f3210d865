//! The lists to mirror: every `GET` of a page in `ROUTES`, but for events, which tell of the others.

use bursar_api::routes::{Operation, ROUTES, Route, Verb};
use bursar_domain::access::ScopeSet;
use bursar_domain::event::EventResource;
use bursar_domain::ids::OrganizationId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct List {
    /// `members`, `store-listings`, `chapter-org_…`.
    pub(crate) name: String,
    /// `/v1/store/listings`.
    pub(crate) path: String,
    pub(crate) scopes: ScopeSet,
    /// Whether it is a chapter's roster.
    pub(crate) is_chapter: bool,
    /// Its rows do not show when they changed, though the list is in that order.
    pub(crate) hides_updated_at: bool,
    /// The list of chapters. Only national organizations have it. Rows can leave it, so it is walked from its start
    /// every time.
    pub(crate) is_of_chapters: bool,
    /// What events call its rows. Chapters and their rosters have none.
    pub(crate) resource: Option<EventResource>,
}

impl List {
    pub(crate) fn file(&self) -> String {
        format!("{}.ndjson", self.name)
    }
}

/// In the order of the OpenAPI document.
pub(crate) fn all() -> Vec<List> {
    let is_list = |route: &&Route| {
        route.method == Verb::Get
            && route.name.starts_with("list")
            && !route.path.contains('{')
            && route.operation != Operation::ListEvents
    };
    let list = |route: &Route| List {
        name: route.path.trim_start_matches("/v1/").replace('/', "-"),
        path: route.path.to_owned(),
        scopes: route.scopes(),
        is_chapter: false,
        hides_updated_at: route.operation == Operation::ListStoreOrders,
        is_of_chapters: route.operation == Operation::ListChapters,
        resource: resource(route.operation),
    };
    ROUTES.iter().filter(is_list).map(list).collect()
}

fn resource(list: Operation) -> Option<EventResource> {
    match list {
        Operation::ListMembers => Some(EventResource::Member),
        Operation::ListGroups => Some(EventResource::Group),
        Operation::ListPayments => Some(EventResource::Payment),
        Operation::ListReimbursements => Some(EventResource::Reimbursement),
        Operation::ListReminders => Some(EventResource::Reminder),
        Operation::ListCards => Some(EventResource::Card),
        Operation::ListCampaigns => Some(EventResource::Campaign),
        Operation::ListStoreListings => Some(EventResource::Listing),
        Operation::ListStoreOrders => Some(EventResource::Order),
        _ => None,
    }
}

/// The user names the chapters whose rosters to mirror, because a chapter sees in its activity log who read its roster.
pub(crate) fn chapter(id: OrganizationId) -> Option<List> {
    let route = ROUTES
        .iter()
        .find(|route| route.operation == Operation::ListChapterMembers)?;
    Some(List {
        name: format!("chapter-{id}"),
        path: route.path.replace("{chapterId}", &id.to_string()),
        scopes: route.scopes(),
        is_chapter: true,
        hides_updated_at: false,
        is_of_chapters: false,
        resource: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_has_its_file() {
        let names: Vec<String> = all().into_iter().map(|list| list.file()).collect();
        assert_eq!(
            names,
            [
                "cards.ndjson",
                "reminders.ndjson",
                "members.ndjson",
                "groups.ndjson",
                "chapters.ndjson",
                "reimbursements.ndjson",
                "payments.ndjson",
                "campaigns.ndjson",
                "store-listings.ndjson",
                "store-orders.ndjson",
            ]
        );
        // Every resource with events has its list.
        for resource in EventResource::ALL {
            let lists = all();
            let of_resource = lists.iter().filter(|list| list.resource == Some(*resource));
            assert_eq!(of_resource.count(), 1, "{resource}");
        }
        let chapter = chapter(OrganizationId::from_bits(7)).unwrap();
        assert_eq!(
            chapter.path,
            "/v1/chapters/org_00000000000000000000000007/members"
        );
        assert!(chapter.is_chapter && chapter.scopes.has(bursar_domain::access::Scope::ChaptersRead));
    }
}
