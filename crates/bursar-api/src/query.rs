//! Strict parsing of the query: a misspelled filter must never return unfiltered data.

use std::borrow::Cow;

use bursar_domain::Timestamp;
use bursar_domain::cursor::{BadCursor, Filters};
use bursar_domain::event::Subject;
use bursar_domain::ids::{ListingId, MemberId};
use bursar_domain::page::PageLimit;
use bursar_domain::text::percent_decoded;

use super::error::Error;

/// Parts between `&`, including empty ones.
const PARTS_MAX: usize = 64;
/// Bytes of a parameter's name that are compared.
const NAME_BYTES_MAX: usize = 512;
/// Bytes of a value before decoding. The longest value, a cursor, takes about a hundred.
const VALUE_BYTES_MAX: usize = 2048;

/// The filters of a list beside `limit`, `cursor` and `updatedSince`, which is `createdSince` for events.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListRules {
    /// The allowed values of `status`, which is `type` for events.
    pub status: &'static [&'static str],
    pub is_active: bool,
    pub member_id: bool,
    pub listing_id: bool,
    /// They have `resourceId` too.
    pub is_of_events: bool,
}

impl ListRules {
    const fn since(&self) -> &'static str {
        match self.is_of_events {
            true => "createdSince",
            false => "updatedSince",
        }
    }

    const fn word(&self) -> &'static str {
        match self.is_of_events {
            true => "type",
            false => "status",
        }
    }
}

#[derive(Debug)]
pub struct ListQuery {
    pub limit: PageLimit,
    pub cursor: Option<String>,
    pub filters: Filters,
}

pub fn none(raw: Option<&str>) -> Result<(), Error> {
    read(raw, &[]).map(drop)
}

pub fn list(raw: Option<&str>, rules: &ListRules) -> Result<ListQuery, Error> {
    let mut names = vec!["limit", "cursor", rules.since()];
    names.extend((!rules.status.is_empty()).then_some(rules.word()));
    names.extend(rules.is_active.then_some("isActive"));
    names.extend(rules.member_id.then_some("memberId"));
    names.extend(rules.listing_id.then_some("listingId"));
    names.extend(rules.is_of_events.then_some("resourceId"));
    let pairs = read(raw, &names)?;
    let get = |name: &str| {
        pairs
            .iter()
            .find(|(other, _)| *other == name)
            .map(|(_, value)| &**value)
    };
    let filters = Filters {
        updated_since: get(rules.since())
            .map(|value| since(rules.since(), value))
            .transpose()?,
        is_active: get("isActive").map(boolean).transpose()?,
        status: get(rules.word())
            .map(|value| word(rules.word(), value, rules.status))
            .transpose()?,
        member_id: get("memberId").map(member).transpose()?,
        listing_id: get("listingId").map(listing).transpose()?,
        subject: get("resourceId").map(subject).transpose()?,
    };
    let limit = get("limit")
        .map(PageLimit::parse)
        .transpose()
        .map_err(|rule| Error::invalid("limit", rule))?;
    Ok(ListQuery {
        limit: limit.unwrap_or(PageLimit::DEFAULT),
        cursor: get("cursor").map(str::to_owned),
        filters,
    })
}

fn unknown(name: &str, names: &[&str]) -> Error {
    let way_out = if names.is_empty() {
        "this endpoint takes none".to_owned()
    } else {
        format!("it takes {}", names.join(", "))
    };
    let shown = shorten(name);
    Error::InvalidRequest {
        message: format!("{shown} is not a query parameter of this endpoint; {way_out}"),
        param: Some(shown),
    }
}

fn since(name: &'static str, value: &str) -> Result<Timestamp, Error> {
    // An unencoded plus sign arrives as a space, and a date-time has only one place for it.
    let corrected = value.replace(' ', "+");
    Timestamp::parse_since(&corrected).ok_or_else(|| {
        Error::invalid(
            name,
            "must be an RFC 3339 date-time with an offset, such as 2026-11-15T01:39:08Z",
        )
    })
}

fn boolean(value: &str) -> Result<bool, Error> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Error::invalid("isActive", "must be true or false")),
    }
}

fn word(name: &'static str, value: &str, words: &[&'static str]) -> Result<&'static str, Error> {
    let found = words.iter().copied().find(|word| *word == value);
    found.ok_or_else(|| Error::invalid(name, format!("must be one of {}", words.join(", "))))
}

fn member(value: &str) -> Result<MemberId, Error> {
    MemberId::parse(value)
        .ok_or_else(|| Error::invalid("memberId", "must be the id of a member, mem_ and 26 characters"))
}

fn listing(value: &str) -> Result<ListingId, Error> {
    ListingId::parse(value).ok_or_else(|| {
        Error::invalid(
            "listingId",
            "must be the id of a store listing, lst_ and 26 characters",
        )
    })
}

fn subject(value: &str) -> Result<Subject, Error> {
    Subject::parse(value).ok_or_else(|| {
        let rule = format!(
            "must be the id of a resource, one of {} and 26 characters",
            Subject::prefixes()
        );
        Error::invalid("resourceId", rule)
    })
}

type Pair<'q> = (&'q str, Cow<'q, str>);

/// The parameters in order. Each must be one of `names` and appear once.
///
/// The cost of a request can depend on its query, so this runs before the charge, for any client. The work is
/// bounded: it stops at the first unknown name, and at most `names.len()` names are known.
fn read<'q>(raw: Option<&'q str>, names: &[&'q str]) -> Result<Vec<Pair<'q>>, Error> {
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    for (place, part) in raw.unwrap_or("").split('&').enumerate() {
        if place == PARTS_MAX {
            return Err(Error::InvalidRequest {
                param: None,
                message: format!("the query has more than {PARTS_MAX} parts; send fewer parameters"),
            });
        }
        if part.is_empty() {
            continue;
        }
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let name = decode(cut(name)).ok_or_else(unreadable)?;
        let Some(name) = names.iter().copied().find(|known| *known == name) else {
            return Err(unknown(&name, names));
        };
        if pairs.iter().any(|(earlier, _)| *earlier == name) {
            return Err(Error::invalid(name, "is given twice; give it once"));
        }
        if value.len() > VALUE_BYTES_MAX {
            return Err(match name {
                "cursor" => BadCursor::Foreign.into(),
                _ => Error::invalid(name, format_args!("is longer than {VALUE_BYTES_MAX} bytes")),
            });
        }
        let value = decode(value).ok_or_else(|| Error::invalid(name, "is not UTF-8 in percent-encoding"))?;
        pairs.push((name, value));
    }
    Ok(pairs)
}

/// Cuts a name to [`NAME_BYTES_MAX`], without leaving half an escape at its end.
fn cut(name: &str) -> &str {
    let mut end = name.len().min(NAME_BYTES_MAX);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    let shown = &name[..end];
    match shown.rfind('%') {
        Some(at) if end < name.len() && at + 3 > end => &shown[..at],
        _ => shown,
    }
}

/// No `param`, because the name cannot be read.
fn unreadable() -> Error {
    Error::InvalidRequest {
        param: None,
        message: "the query is not UTF-8 in percent-encoding".into(),
    }
}

/// For messages.
fn shorten(name: &str) -> String {
    name.chars().take(60).collect()
}

/// Undoes percent-encoding and `+` for space; `None` for a broken escape or invalid UTF-8.
fn decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains(['%', '+']) {
        return Some(Cow::Borrowed(text));
    }
    percent_decoded(&text.replace('+', " ")).map(|text| Cow::Owned(text.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: ListRules = ListRules {
        status: &["pending", "paid"],
        is_active: true,
        member_id: true,
        listing_id: true,
        is_of_events: false,
    };
    const EVENTS: ListRules = ListRules {
        status: &["member.created", "payment.paid"],
        is_active: false,
        member_id: false,
        listing_id: false,
        is_of_events: true,
    };

    fn param(raw: &str) -> String {
        match list(Some(raw), &RULES) {
            Err(Error::InvalidRequest { param, .. }) => param.unwrap_or_default(),
            other => panic!("{raw}: {other:?}"),
        }
    }

    #[test]
    fn what_is_refused() {
        for (raw, name) in [
            ("limit=0", "limit"),
            ("limit=", "limit"),
            ("limit", "limit"),
            ("limit=5&limit=5", "limit"),
            ("Limit=5", "Limit"),
            ("status=PAID", "status"),
            ("isActive=1", "isActive"),
            ("memberId=grp_01h455vb4pex5vsknk084sn02q", "memberId"),
            ("listingId=mem_01h455vb4pex5vsknk084sn02q", "listingId"),
            ("updatedSince=2026-11-15T01:39:08", "updatedSince"),
            ("updatedSince=yesterday", "updatedSince"),
            ("lim%69t=5&limit=5", "limit"),
            ("limit=%zz", "limit"),
            ("limit=%ff", "limit"),
            ("page=2", "page"),
        ] {
            assert_eq!(param(raw), name, "{raw}");
        }
    }

    #[test]
    fn what_is_refused_of_events() {
        for (raw, name) in [
            ("updatedSince=2026-11-15T01:39:08Z", "updatedSince"),
            ("createdSince=yesterday", "createdSince"),
            ("status=paid", "status"),
            ("type=payment", "type"),
            ("type=payment.gone", "type"),
            ("resourceId=org_01h455vb4pex5vsknk084sn02q", "resourceId"),
            ("resourceId=pay_1", "resourceId"),
        ] {
            match list(Some(raw), &EVENTS) {
                Err(Error::InvalidRequest { param, .. }) => assert_eq!(param.as_deref(), Some(name), "{raw}"),
                other => panic!("{raw}: {other:?}"),
            }
        }
        let raw =
            "createdSince=2026-11-15T01:00:00Z&type=payment.paid&resourceId=pay_01h455vb4pex5vsknk084sn02q";
        let filters = list(Some(raw), &EVENTS).unwrap().filters;
        assert_eq!(filters.updated_since, Timestamp::parse("2026-11-15T01:00:00Z"));
        assert_eq!(filters.status, Some("payment.paid"));
        assert_eq!(filters.subject, Subject::parse("pay_01h455vb4pex5vsknk084sn02q"));
    }

    #[test]
    fn reading_ends_at_the_first_name_that_is_not_known() {
        // The rest is not even decoded.
        assert_eq!(param("page=2&limit=%zz&limit=5&limit=5"), "page");
        let many: String = (0..8_000).map(|n| format!("a{n}&")).collect();
        assert_eq!(param(&many), "a0");
        assert_eq!(param(&"x".repeat(30_000)), "x".repeat(60));
        assert_eq!(param(&"%41".repeat(10_000)), "A".repeat(60));
        assert_eq!(param(&format!("{}é", "x".repeat(511))), "x".repeat(60));
    }

    #[test]
    fn a_query_is_bounded() {
        for raw in [
            "&".repeat(20_000),
            format!("limit=5&{}isActive=true", "&".repeat(100)),
        ] {
            assert_eq!(param(&raw), "", "{}", &raw[..20]);
        }
        assert_eq!(param(&format!("limit={}5", "0".repeat(9_000))), "limit");
        let long = |length| list(Some(&format!("limit=5&cursor={}", "x".repeat(length))), &RULES);
        assert!(matches!(long(2_049), Err(Error::InvalidCursor(_))));
        assert_eq!(long(2_048).unwrap().cursor.map(|text| text.len()), Some(2_048));
    }

    #[test]
    fn what_is_understood() {
        let query = list(
            Some("limit=7&&status=paid&isActive=false&updatedSince=2026-11-15T03:00:00+02:00&"),
            &RULES,
        )
        .unwrap();
        assert_eq!(
            (query.limit.rows(), query.filters.status, query.filters.is_active),
            (7, Some("paid"), Some(false))
        );
        let at = Timestamp::parse("2026-11-15T01:00:00Z");
        assert_eq!(query.filters.updated_since, at);
        for raw in [
            "updatedSince=2026-11-15T03:00:00%2B02:00",
            "updatedSince=2026-11-15T01:00:00Z",
        ] {
            assert_eq!(list(Some(raw), &RULES).unwrap().filters.updated_since, at);
        }
        assert_eq!(list(None, &RULES).unwrap().limit, PageLimit::DEFAULT);
    }
}
