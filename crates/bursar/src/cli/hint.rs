//! Hints for mistyped ids: what kind of id was given, and which one may have been meant.

use bursar_app::{AppError, Opening, organizations};
use bursar_domain::ids::{Id, Kind, OrganizationId, PREFIXES};
use bursar_domain::organization::Organization;
use bursar_domain::token::TokenKind;

use super::Globals;
use super::door::Ref;

/// Organizations listed when one is not found.
const NAMED_MAX: usize = 5;

/// Whether the text was meant to be an id, or is a secret: no name looks like that.
pub(crate) fn is_like_an_id(text: &str) -> bool {
    let (prefix, suffix) = text.trim().split_once('_').unwrap_or_default();
    let is_id = (1..=4).contains(&prefix.len())
        && prefix.bytes().all(|byte| byte.is_ascii_alphabetic())
        && suffix.len() >= 20
        && suffix.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_id || is_secret(text)
}

fn is_secret(text: &str) -> bool {
    TokenKind::ALL.iter().any(|kind| text.starts_with(kind.prefix()))
}

/// The reason continues a sentence that starts with the flag's name.
pub(crate) fn not_an_id<K: Kind>(text: &str) -> String {
    if is_secret(text) {
        return "that is the secret of a token, not an id; `bursar token list` shows ids. Your shell may remember the \
                secret: revoke it with `bursar token revoke ID`"
            .to_owned();
    }
    let wanted = with_article(K::NOUN);
    let (prefix, suffix) = text.split_once('_').unwrap_or_default();
    if prefix != K::PREFIX
        && let Some((_, noun)) = PREFIXES.iter().find(|(other, _)| *other == prefix)
    {
        let given = with_article(noun);
        return format!(
            "that is the id of {given}; give the id of {wanted}, {}_…",
            K::PREFIX
        );
    }
    let rule = format!("must be the id of {wanted}: {}_ and 26 characters", K::PREFIX);
    let meant = format!("{}_{}", K::PREFIX, suffix.to_lowercase());
    if Id::<K>::parse(&meant).is_some() {
        return format!("{rule}; did you mean {meant}?");
    }
    match suffix.chars().count() {
        count if prefix == K::PREFIX && count != 26 => format!("{rule}, not {count}"),
        _ => rule,
    }
}

fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {noun}")
}

/// For an unknown organization, if that is what the message is about: the similar one, or those that exist.
pub(crate) fn organization(globals: &Globals, message: &str) -> Option<String> {
    let Some(Ref::Id(named)) = globals.organization else {
        return None;
    };
    if !message.starts_with(&format!("organization {named} does not exist")) {
        return None;
    }
    let app = globals.open(Opening::Require).ok()?;
    let all = app.look::<_, AppError>(globals.who(&app).ok()?, organizations::list);
    let all = all.wait().ok()?;
    among(named, &all)
}

fn among(named: OrganizationId, all: &[Organization]) -> Option<String> {
    if all.iter().any(|o| o.id == named) {
        return None;
    }
    let text = named.to_string();
    let near = all.iter().find(|o| differences(&o.id.to_string(), &text) <= 3);
    match near {
        Some(o) => Some(format!("did you mean {} ({})?", o.id, o.name)),
        None if all.is_empty() || all.len() > NAMED_MAX => None,
        None => {
            let names: Vec<String> = all.iter().map(|o| format!("{} ({})", o.id, o.name)).collect();
            Some(format!("there is {}", names.join(", ")))
        }
    }
}

/// For ids of one length.
fn differences(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).filter(|(a, b)| a != b).count()
}

#[cfg(test)]
mod tests {
    use bursar_domain::ids::kind;

    use super::*;

    #[test]
    fn a_mistyped_id_is_understood() {
        for (text, said) in [
            (
                "grp_01jbst1c00e008000000000000",
                "that is the id of a group; give the id of an organization, org_…",
            ),
            (
                "og_01jbst1c00e008000000000000",
                "must be the id of an organization: org_ and 26 characters; did you mean org_01jbst1c00e008000000000000?",
            ),
            (
                "ORG_01JBST1C00E008000000000000",
                "must be the id of an organization: org_ and 26 characters; did you mean org_01jbst1c00e008000000000000?",
            ),
            (
                "org_01jbst1c00e00800000000000",
                "must be the id of an organization: org_ and 26 characters, not 25",
            ),
            (
                "Rowers",
                "must be the id of an organization: org_ and 26 characters",
            ),
        ] {
            assert_eq!(not_an_id::<kind::Organization>(text), said, "{text}");
        }
    }
}
