//! The cookies: of an officer's session, of a browser that waits for a code, asks for a passkey or is on its way to the
//! provider, of a member with a link or a session, and of the organization where a member's session was.

use bursar_domain::sign_in::SecretHash;
use hyper::header::{COOKIE, HeaderMap, HeaderValue};

/// Over https the browser holds a `__Host-` cookie to this host and path. On loopback cookies are shared by all ports, so
/// the name has the port.
#[derive(Clone, Debug)]
pub(crate) struct CookieName {
    name: String,
    is_secure: bool,
    seconds: u32,
}

const SESSION_SECONDS: u32 = 30 * 86_400;
/// A browser that somebody else uses later should not show the page for as long as the link works.
const MEMBER_LINK_SECONDS: u32 = 12 * 3_600;
const MEMBER_SESSION_SECONDS: u32 = 60 * 60;
const CODE_SECONDS: u32 = 10 * 60;
const CEREMONY_SECONDS: u32 = 5 * 60;
/// Away at the provider, then with a code on its way.
const LOGIN_SECONDS: u32 = 20 * 60;

impl CookieName {
    pub(crate) fn of_session(base_url: &url::Url) -> Self {
        Self::new(base_url, "bursar", SESSION_SECONDS)
    }

    pub(crate) fn of_code(base_url: &url::Url) -> Self {
        Self::new(base_url, "bursar-code", CODE_SECONDS)
    }

    pub(crate) fn of_ceremony(base_url: &url::Url) -> Self {
        Self::new(base_url, "bursar-passkey", CEREMONY_SECONDS)
    }

    pub(crate) fn of_login(base_url: &url::Url) -> Self {
        Self::new(base_url, "bursar-login", LOGIN_SECONDS)
    }

    pub(crate) fn of_member_link(base_url: &url::Url) -> Self {
        Self::new(base_url, "bursar-member-link", MEMBER_LINK_SECONDS)
    }

    pub(crate) fn of_member_session(base_url: &url::Url) -> Self {
        Self::new(base_url, "bursar-member", MEMBER_SESSION_SECONDS)
    }

    pub(crate) fn of_member_code(base_url: &url::Url) -> Self {
        Self::new(base_url, "bursar-member-code", CODE_SECONDS)
    }

    pub(crate) fn of_member_place(base_url: &url::Url) -> Self {
        Self::new(base_url, "bursar-member-place", MEMBER_LINK_SECONDS)
    }

    fn new(base_url: &url::Url, what: &str, seconds: u32) -> Self {
        let is_secure = base_url.scheme() == "https";
        let name = match is_secure {
            true => format!("__Host-{what}"),
            false => format!("{what}-{}", base_url.port_or_known_default().unwrap_or(80)),
        };
        Self {
            name,
            is_secure,
            seconds,
        }
    }

    pub(crate) fn read(&self, headers: &HeaderMap) -> Option<SecretHash> {
        self.secret(headers).map(SecretHash::of)
    }

    /// `None` also for a cookie that is given twice: which of them is ours cannot be known.
    pub(crate) fn secret<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let mut found = headers
            .get_all(COOKIE)
            .iter()
            .flat_map(|value| value.as_bytes().split(|byte| *byte == b';'))
            // Another cookie may have any bytes; ours is plain.
            .filter_map(|pair| std::str::from_utf8(pair).ok())
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(name, _)| *name == self.name)
            .map(|(_, value)| value);
        match (found.next(), found.next()) {
            (Some(secret), None) => Some(secret),
            _ => None,
        }
    }

    pub(crate) fn set(&self, secret: &str) -> Option<HeaderValue> {
        self.value(secret, self.seconds)
    }

    pub(crate) fn clear(&self) -> Option<HeaderValue> {
        self.value("", 0)
    }

    fn value(&self, secret: &str, seconds: u32) -> Option<HeaderValue> {
        let Self { name, is_secure, .. } = self;
        let secure = if *is_secure { "; Secure" } else { "" };
        let text = format!("{name}={secret}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}");
        HeaderValue::from_str(&text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(url: &str) -> CookieName {
        CookieName::of_session(&url.parse().unwrap())
    }

    fn headers(cookies: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for cookie in cookies {
            headers.append(COOKIE, cookie.parse().unwrap());
        }
        headers
    }

    #[test]
    fn a_cookie_belongs_to_its_host_or_port() {
        let secure = name("https://dues.example.org").set("x").unwrap();
        assert_eq!(
            secure,
            "__Host-bursar=x; Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000; Secure"
        );
        let local = name("http://127.0.0.1:8099").clear().unwrap();
        assert_eq!(local, "bursar-8099=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
    }

    #[test]
    fn one_cookie_is_read_and_two_are_none() {
        let name = name("http://localhost:80");
        let one = SecretHash::of("s");
        assert_eq!(name.read(&headers(&["a=b; bursar-80=s"])), Some(one));
        assert_eq!(name.read(&headers(&["a=b", "bursar-80=s"])), Some(one));
        let mut foreign = HeaderMap::new();
        let bytes = HeaderValue::from_bytes(b"x=\xe9\xff; bursar-80=s").unwrap();
        foreign.append(COOKIE, bytes);
        assert_eq!(name.read(&foreign), Some(one), "another cookie has any bytes");
        for none in [
            &["bursar-80=s; bursar-80=t"][..],
            &["bursar-81=s"],
            &["bursar-80"],
            &[],
        ] {
            assert_eq!(name.read(&headers(none)), None, "{none:?}");
        }
    }
}
