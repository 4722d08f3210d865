//! What a page is asked: the parts of its address, and who asks.

use bursar_app::desk::{ChargeLine, ChargePlace, MemberLine, MemberPlace};
use bursar_domain::ids::{Id, Kind};
use bursar_domain::{Date, Refusal, Timestamp};
use serde_json::json;
use url::form_urlencoded;

use crate::failure::Failure;
use crate::frame::Frame;

/// The key of the form that led here.
pub(crate) const DONE: &str = "done";
/// Whether that form was sent before.
pub(crate) const AGAIN: &str = "again";

/// What the console itself adds to addresses, for one page.
fn is_own(name: &str) -> bool {
    matches!(name, DONE | AGAIN | "after")
}

/// A request for a page of an organization.
#[derive(Clone, Debug)]
pub(crate) struct Asking {
    pub(crate) frame: Frame,
    /// The parts of the path where the route has a place.
    pub(crate) params: Vec<String>,
    /// Whether only the part that changes is wanted.
    pub(crate) is_part: bool,
    query: Vec<(String, String)>,
}

impl Asking {
    pub(crate) fn new(frame: Frame, params: Vec<String>, query: &str) -> Self {
        Self {
            frame,
            params,
            is_part: false,
            query: form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
        }
    }

    /// The id at this place of the path.
    pub(crate) fn id<K: Kind>(&self, place: usize) -> Result<Id<K>, Failure> {
        let text = self.params.get(place).map_or("", String::as_str);
        let missing = || Refusal::missing(format!("there is no such {}", K::NOUN));
        Ok(Id::parse(text).ok_or_else(missing)?)
    }

    pub(crate) fn query(&self, name: &str) -> &str {
        let found = self.query.iter().find(|(field, _)| field == name);
        found.map_or("", |(_, value)| value.trim())
    }

    /// Where the page begins: after the row that had this time and id when the page before was made. The row itself may
    /// have moved since.
    pub(crate) fn place<K: Kind>(&self) -> Option<(Timestamp, Id<K>)> {
        let (at, id) = self.query("after").split_once('.')?;
        Some((Timestamp::from_micros(at.parse().ok()?), Id::parse(id)?))
    }

    /// The address of the page after this row.
    pub(crate) fn after<K: Kind>(&self, end: &str, at: Timestamp, id: Id<K>) -> String {
        self.with(end, &[("after", &format!("{}.{id}", at.micros()))])
    }

    /// Where the page before this one of charges ended.
    pub(crate) fn charge_place(&self) -> Option<ChargePlace> {
        let mut parts = self.query("after").split('.');
        let at = parts.next()?.parse().ok()?;
        let due = match parts.next()? {
            "" => None,
            day => Some(Date::parse(day)?),
        };
        Some(ChargePlace {
            due,
            updated_at: Timestamp::from_micros(at),
            id: Id::parse(parts.next()?)?,
        })
    }

    /// The address of the page after this charge.
    pub(crate) fn after_charge(&self, end: &str, last: &ChargeLine) -> String {
        let due = last.due.map(|due| due.to_string()).unwrap_or_default();
        let place = format!("{}.{due}.{}", last.updated_at.micros(), last.id);
        self.with(end, &[("after", &place)])
    }

    /// Where the page before this one of members ended.
    pub(crate) fn member_place(&self) -> Option<MemberPlace> {
        let (last_name, first_name, id): (_, _, String) = serde_json::from_str(self.query("after")).ok()?;
        Some(MemberPlace {
            last_name,
            first_name,
            id: Id::parse(&id)?,
        })
    }

    /// The address of the page after this member.
    pub(crate) fn after_member(&self, end: &str, last: &MemberLine) -> String {
        let place = json!([last.last_name, last.first_name, last.id.to_string()]);
        self.with(end, &[("after", &place.to_string())])
    }

    /// Everything behind the question mark, except what the console adds itself.
    pub(crate) fn said(&self) -> Vec<(String, String)> {
        self.query
            .iter()
            .filter(|(name, _)| !is_own(name))
            .cloned()
            .collect()
    }

    /// The address of the same list with one filter changed, from its first page.
    pub(crate) fn with(&self, end: &str, changed: &[(&str, &str)]) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in &self.query {
            let is_changed = changed.iter().any(|(other, _)| other == name);
            if !is_changed && !value.is_empty() && !is_own(name) {
                query.append_pair(name, value);
            }
        }
        for (name, value) in changed.iter().filter(|(_, value)| !value.is_empty()) {
            query.append_pair(name, value);
        }
        let query = query.finish();
        let path = self.frame.at(end);
        match query.as_str() {
            "" => path,
            query => format!("{path}?{query}"),
        }
    }
}
