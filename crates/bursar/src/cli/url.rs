//! URLs that an operator gives.

use url::{Host, Position, Url};

pub(crate) fn parse_base_url(text: &str) -> Result<String, String> {
    // The `url` crate accepts what other programs do not, such as a third slash.
    let rest = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    let is_strict = rest.is_some_and(|rest| !rest.starts_with('/') && !rest.contains([' ', '?', '#']));
    match Url::parse(text) {
        Ok(_) if is_strict => Ok(text.to_owned()),
        _ => Err("must be an address such as https://dues.example.org".to_owned()),
    }
}

/// Normalizes an origin as browsers do: lower case, no trailing slash, no default port. Browsers compare it
/// byte by byte, so any other form would never match.
pub(crate) fn parse_origin(text: &str) -> Result<String, String> {
    if !text.is_ascii() {
        return Err(
            "must have its host in the form that browsers send, such as https://xn--bcher-kva.example"
                .to_owned(),
        );
    }
    let is_origin = |url: &Url| {
        matches!(url.scheme(), "https" | "http")
            && url[Position::BeforeUsername..Position::BeforeHost].is_empty()
            && &url[Position::AfterPort..] == "/"
            && !text.trim_end_matches('/').ends_with(':')
    };
    match Url::parse(text) {
        Ok(url) if is_origin(&url) => Ok(url.origin().ascii_serialization()),
        _ => Err("must be an origin such as https://app.example.org: a scheme, a host and a port if it is not the usual one".to_owned()),
    }
}

/// Whether the connection to this URL is unencrypted and leaves this machine.
pub(crate) fn is_in_the_clear(url: &str) -> bool {
    let is_here = |host: Host<&str>| match host {
        Host::Domain(name) => name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    };
    Url::parse(url).is_ok_and(|url| url.scheme() == "http" && !url.host().is_some_and(is_here))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_is_an_address_and_no_more() {
        for given in [
            "https://dues.example.org",
            "http://[::1]:8080/",
            "https://example.org/dues",
        ] {
            assert_eq!(parse_base_url(given).as_deref(), Ok(given));
        }
        for given in [
            "dues.example.org",
            "ftp://dues.example.org",
            "https:dues.example.org",
            "https://",
            "https:///dues.example.org",
            "https://dues.example.org?x",
            "https://dues.example.org#x",
            "https://dues.example.org/my dues",
            "https://dues.example.org:99999",
        ] {
            assert!(parse_base_url(given).is_err(), "{given}");
        }
    }

    #[test]
    fn an_origin_is_written_as_browsers_do() {
        for (given, origin) in [
            ("https://app.example.org", "https://app.example.org"),
            ("https://app.example.org/", "https://app.example.org"),
            ("https://App.Example.ORG", "https://app.example.org"),
            ("HTTPS://app.example.org:443/", "https://app.example.org"),
            ("http://localhost:80", "http://localhost"),
            ("http://localhost:443", "http://localhost:443"),
            ("https://app.example.org:8443", "https://app.example.org:8443"),
            ("http://[::1]:3000", "http://[::1]:3000"),
        ] {
            assert_eq!(parse_origin(given).as_deref(), Ok(origin), "{given}");
        }
        for given in [
            "*",
            "null",
            "app.example.org",
            "ftp://app.example.org",
            "https://",
            "https:///",
            "https://app.example.org/app",
            "https://app.example.org//",
            "https://app.example.org?x",
            "https://me@app.example.org",
            "https://app.example.org:",
            "https://app.example.org:99999",
            "https://a.example,https://b.example",
            "https://a.example https://b.example",
            "https://b\u{fc}cher.example",
        ] {
            assert!(parse_origin(given).is_err(), "{given}");
        }
    }

    #[test]
    fn what_stays_on_this_machine_needs_no_tls() {
        for (url, is_clear) in [
            ("https://example.org", false),
            ("http://example.org/dues", true),
            ("http://localhost:8080", false),
            ("http://127.0.0.1:8080/x", false),
            ("http://[::1]:8080", false),
            ("http://[2001:db8::1]:8080", true),
            ("http://127.0.0.1.example.org", true),
        ] {
            assert_eq!(is_in_the_clear(url), is_clear, "{url}");
        }
    }
}
