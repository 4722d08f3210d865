//! The addresses of servers that messages go to: `scheme://USER:PASSWORD@HOST:PORT/PATH?QUERY`.

use bursar_domain::text::percent_decoded;

/// An address, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ServerUrl {
    pub(super) scheme: String,
    /// User and password, decoded.
    pub(super) credentials: Option<(String, String)>,
    pub(super) host: String,
    pub(super) port: Option<u16>,
    /// Without the slash that ends it.
    pub(super) path: String,
    pub(super) query: String,
}

impl ServerUrl {
    /// Takes an address apart. What is wrong is told without the address, which may carry a password.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (scheme, rest) = text
            .split_once("://")
            .ok_or("must be an address such as scheme://host")?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (credentials, place) = match authority.rsplit_once('@') {
            Some((credentials, place)) => (Some(credentials), place),
            None => (None, authority),
        };
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, Some(port)),
            _ => (place, None),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() || host.contains(char::is_whitespace) {
            return Err("must name a host".into());
        }
        let port = port
            .map(|port| port.parse().map_err(|_| "must have a port from 1 to 65535"))
            .transpose()?;
        let credentials = match credentials {
            None => None,
            Some(text) => {
                let (user, password) = text
                    .split_once(':')
                    .ok_or("must have both a user and a password before the @")?;
                let decoded =
                    |text| percent_decoded(text).ok_or("must have special characters of the password as %XX");
                Some((decoded(user)?.into_owned(), decoded(password)?.into_owned()))
            }
        };
        Ok(Self {
            scheme: scheme.to_ascii_lowercase(),
            credentials,
            host: host.to_owned(),
            port,
            path: path.trim_end_matches('/').to_owned(),
            query: query.to_owned(),
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
        for bad in [
            "mail.example.org",
            "smtp://",
            "smtp://u@h",
            "smtp://h:99999",
            "smtp://u:%zz@h",
            "smtp://u:%4@h",
        ] {
            assert!(ServerUrl::parse(bad).is_err(), "{bad}");
        }
    }
}
