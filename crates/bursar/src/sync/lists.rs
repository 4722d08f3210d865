//! The lists there are: every `GET` of a page in the one table of endpoints.

use bursar_api::routes::{Operation, ROUTES, Route, Verb};
use bursar_domain::access::ScopeSet;
use bursar_domain::ids::OrganizationId;

/// A list of the API and the name of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct List {
    /// `members`, `store-listings`, `chapter-org_…`.
    pub(crate) name: String,
    /// `/v1/store/listings`.
    pub(crate) path: String,
    /// What a token needs to read it.
    pub(crate) scopes: ScopeSet,
    /// Whether it is a chapter's roster.
    pub(crate) is_chapter: bool,
}

impl List {
    /// The file in the folder.
    pub(crate) fn file(&self) -> String {
        format!("{}.ndjson", self.name)
    }
}

/// Every list of an organization, in the order of the API's document.
pub(crate) fn all() -> Vec<List> {
    let is_list = |route: &&Route| {
        route.method == Verb::Get && route.name.starts_with("list") && !route.path.contains('{')
    };
    let list = |route: &Route| List {
        name: route.path.trim_start_matches("/v1/").replace('/', "-"),
        path: route.path.to_owned(),
        scopes: route.scopes(),
        is_chapter: false,
    };
    ROUTES.iter().filter(is_list).map(list).collect()
}

/// The roster of a chapter. There is no list of chapters, so whoever mirrors names them.
pub(crate) fn chapter(id: OrganizationId) -> Option<List> {
    let route = ROUTES
        .iter()
        .find(|route| route.operation == Operation::ListChapterMembers)?;
    Some(List {
        name: format!("chapter-{id}"),
        path: route.path.replace("{chapterId}", &id.to_string()),
        scopes: route.scopes(),
        is_chapter: true,
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
                "reimbursements.ndjson",
                "payments.ndjson",
                "store-listings.ndjson",
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
