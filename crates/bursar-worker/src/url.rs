//! URLs of the servers that messages go to: `scheme://USER:PASSWORD@HOST:PORT/PATH?QUERY`.

use bursar_domain::text::percent_decoded;
use url::{ParseError, Url};

const NO_ADDRESS: &str = "must be an address such as scheme://host";

#[derive(Debug, PartialEq, Eq)]
pub(super) struct ServerUrl {
    pub(super) scheme: String,
    /// User and password, decoded.
    pub(super) credentials: Option<(String, String)>,
    pub(super) host: String,
    pub(super) port: Option<u16>,
    /// Without a trailing slash.
    pub(super) path: String,
    pub(super) query: String,
}

impl ServerUrl {
    /// Errors never contain the URL, which may hold a password.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        // These URLs have no fragment, and a password may contain `#`.
        let url = Url::parse(&text.replace('#', "%23")).map_err(|error| match error {
            ParseError::RelativeUrlWithoutBase => NO_ADDRESS,
            ParseError::InvalidPort => "must have a port from 1 to 65535",
            _ => "must name a host",
        })?;
        if url.cannot_be_a_base() {
            return Err(NO_ADDRESS.into());
        }
        let host = url.host_str().unwrap_or_default();
        if host.is_empty() {
            return Err("must name a host".into());
        }
        let decoded = |text| match percent_decoded(text) {
            Some(text) => Ok(text.into_owned()),
            None => Err("must have special characters of the password as %XX"),
        };
        let credentials = match (url.username(), url.password()) {
            ("", None) => None,
            (user, Some(password)) => Some((decoded(user)?, decoded(password)?)),
            (_, None) => return Err("must have both a user and a password before the @".into()),
        };
        Ok(Self {
            scheme: url.scheme().to_owned(),
            credentials,
            host: host.trim_start_matches('[').trim_end_matches(']').to_owned(),
            port: url.port(),
            path: url.path().trim_end_matches('/').to_owned(),
            query: url.query().unwrap_or_default().to_owned(),
        })
    }

    /// Whether the host is this machine, so that nothing crosses a network.
    pub(super) fn is_local(&self) -> bool {
        self.host == "localhost"
            || self
                .host
                .parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        let url = ServerUrl::parse("SMTP://me%40x:p%3Aw%2f@mail.example.org:2525/ehlo?tls=none").unwrap();
        assert_eq!(url.credentials, Some(("me@x".into(), "p:w/".into())));
        assert_eq!(
            (
                url.scheme.as_str(),
                url.host.as_str(),
                url.port,
                url.path.as_str(),
                url.query.as_str()
            ),
            ("smtp", "mail.example.org", Some(2525), "/ehlo", "tls=none")
        );
        let url = ServerUrl::parse("https://[::1]/").unwrap();
        assert_eq!(
            (url.host.as_str(), url.port, url.path.as_str()),
            ("::1", None, "")
        );
        assert!(url.is_local() && !ServerUrl::parse("https://10.0.0.1").unwrap().is_local());
        assert_eq!(ServerUrl::parse("https://[::1]:8443").unwrap().port, Some(8443));
        let url = ServerUrl::parse("smtps://me:a#b ä@[::1]:443").unwrap();
        assert_eq!(url.credentials, Some(("me".into(), "a#b ä".into())));
        assert_eq!((url.host.as_str(), url.port), ("::1", Some(443)));
        for (bad, way_out) in [
            ("mail.example.org", "scheme://host"),
            ("smtp:mail.example.org", "scheme://host"),
            ("smtp://", "host"),
            ("smtp://u:secret@", "host"),
            ("smtp://u@h", "both a user and a password"),
            ("smtp://h:99999", "port"),
            ("smtp://u:secret/@h", "port"),
            ("smtp://u:%zz@h", "%XX"),
            ("smtp://u:%4@h", "%XX"),
        ] {
            let message = ServerUrl::parse(bad).unwrap_err();
            assert!(
                message.contains(way_out) && !message.contains("secret"),
                "{bad}: {message}"
            );
        }
    }
}
