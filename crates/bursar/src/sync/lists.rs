//! The lists to mirror: every `GET` of a page in `ROUTES`.

use bursar_api::routes::{Operation, ROUTES, Route, Verb};
use bursar_domain::access::ScopeSet;
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
}

impl List {
    pub(crate) fn file(&self) -> String {
        format!("{}.ndjson", self.name)
    }
}

/// In the order of the OpenAPI document.
pub(crate) fn all() -> Vec<List> {
    let is_list = |route: &&Route| {
        route.method == Verb::Get && route.name.starts_with("list") && !route.path.contains('{')
    };
    let list = |route: &Route| List {
        name: route.path.trim_start_matches("/v1/").replace('/', "-"),
        path: route.path.to_owned(),
        scopes: route.scopes(),
        is_chapter: false,
        hides_updated_at: route.operation == Operation::ListStoreOrders,
        is_of_chapters: route.operation == Operation::ListChapters,
    };
    ROUTES.iter().filter(is_list).map(list).collect()
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
        let chapter = chapter(OrganizationId::from_bits(7)).unwrap();
        assert_eq!(
            chapter.path,
            "/v1/chapters/org_00000000000000000000000007/members"
        );
        assert!(chapter.is_chapter && chapter.scopes.has(bursar_domain::access::Scope::ChaptersRead));
    }
}
