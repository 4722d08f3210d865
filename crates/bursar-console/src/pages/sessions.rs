//! The browsers in which a person is signed in.

use askama::Template;
use bursar_domain::sign_in::{SecretHash, Session};
use bursar_domain::zone::Zone;

use crate::assets;
use crate::failure::Failure;
use crate::words::Moment;

struct Row {
    hash: String,
    agent: &'static str,
    is_this: bool,
    since: Moment,
    seen: Moment,
}

#[derive(Template)]
#[template(path = "sessions.html")]
struct Page<'a> {
    style: String,
    email: &'a str,
    rows: Vec<Row>,
    has_passkeys: bool,
    has_logins: bool,
}

pub(crate) fn show(
    email: &str,
    sessions: &[Session],
    this: &SecretHash,
    zone: &Zone,
    (has_passkeys, has_logins): (bool, bool),
) -> Result<String, Failure> {
    let row = |session: &Session| Row {
        hash: hex(&session.hash),
        agent: browser(&session.agent),
        is_this: session.hash == *this,
        since: Moment::there(session.started_at, zone),
        seen: Moment::there(session.seen_at, zone),
    };
    let page = Page {
        style: assets::style(),
        email,
        rows: sessions.iter().map(row).collect(),
        has_passkeys,
        has_logins,
    };
    Ok(page.render()?)
}

pub(crate) fn hex(hash: &SecretHash) -> String {
    bursar_domain::sign_in::secret(&hash.0)
}

/// What a browser calls itself, in words. All of them claim to be several others, so the order matters.
fn browser(agent: &str) -> &'static str {
    const NAMES: &[(&str, &str)] = &[
        ("Edg", "Edge"),
        ("OPR", "Opera"),
        ("Firefox", "Firefox"),
        ("Chrome", "Chrome"),
        ("Safari", "Safari"),
    ];
    let found = NAMES.iter().find(|(word, _)| agent.contains(word));
    found.map_or("A browser", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_have_names() {
        for (agent, expected) in [
            (
                "Mozilla/5.0 (X11) AppleWebKit/537.36 Chrome/120.0 Safari/537.36",
                "Chrome",
            ),
            (
                "Mozilla/5.0 AppleWebKit/537.36 Chrome/120.0 Safari/537.36 Edg/120.0",
                "Edge",
            ),
            (
                "Mozilla/5.0 (X11; rv:121.0) Gecko/20100101 Firefox/121.0",
                "Firefox",
            ),
            ("curl/8", "A browser"),
        ] {
            assert_eq!(browser(agent), expected, "{agent}");
        }
    }
}
