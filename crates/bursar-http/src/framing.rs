//! Refuses requests whose target or length is ambiguous.
//!
//! A proxy may read such a request differently, so guessing would let a client smuggle one
//! request inside another (RFC 9112, 3.2, 6.1 and 11.2).

use hyper::Version;
use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue, TE, TRANSFER_ENCODING};
use hyper::http::request::Parts;

/// A header's name, and a rule that continues the sentence after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadHeader(pub &'static str, pub &'static str);

pub fn check(parts: &Parts) -> Result<(), BadHeader> {
    let headers = &parts.headers;
    let mut hosts = headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) if parts.version == Version::HTTP_11 => {
            return Err(BadHeader("Host", "is missing; HTTP/1.1 requires it"));
        }
        (Some(_), Some(_)) => return Err(BadHeader("Host", "is given twice; give it once")),
        (Some(host), None) if !is_host(host) => {
            return Err(BadHeader("Host", "must be a host name and may have a port"));
        }
        _ => {}
    }
    let mut encodings = words(headers, &TRANSFER_ENCODING);
    match (encodings.next(), encodings.next()) {
        (None, _) => {}
        (Some(one), None) if one.eq_ignore_ascii_case(b"chunked") => {}
        _ => {
            return Err(BadHeader(
                "Transfer-Encoding",
                "must be chunked alone; no other coding is understood",
            ));
        }
    }
    // `TE` lists what the response may use. Chunked is always allowed, and naming it is forbidden (RFC 9110, 10.1.4).
    let names_chunked = |word: &[u8]| {
        word.split(|byte| *byte == b';')
            .next()
            .is_some_and(|name| name.trim_ascii().eq_ignore_ascii_case(b"chunked"))
    };
    if words(headers, &TE).any(names_chunked) {
        return Err(BadHeader("TE", "must not name chunked; leave it out"));
    }
    Ok(())
}

/// Entries of a comma-separated header, without empty ones.
fn words<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h [u8]> {
    headers
        .get_all(name)
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii)
        .filter(|word| !word.is_empty())
}

/// Checks the characters only: every request pays for this, so it is not a full parser. An empty host is for
/// requests whose target has no authority.
fn is_host(value: &HeaderValue) -> bool {
    let is_of_host = |byte: &u8| byte.is_ascii_alphanumeric() || b".-_:[]%~".contains(byte);
    value.as_bytes().iter().all(is_of_host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    fn refused(version: Version, headers: &[(&str, &str)]) -> Option<&'static str> {
        let mut request = Request::builder().version(version).uri("/v1/members");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        check(&parts).err().map(|BadHeader(name, _)| name)
    }

    #[test]
    fn hosts() {
        for host in ["dues.example.org", "127.0.0.1:8080", "[::1]:8080", "x", "", "a_b"] {
            assert_eq!(refused(Version::HTTP_11, &[("host", host)]), None, "{host}");
        }
        for headers in [
            &[][..],
            &[("host", "a"), ("host", "a")],
            &[("host", "a b")],
            &[("host", "a, b")],
            &[("host", "me@a")],
            &[("host", "a/b")],
        ] {
            assert_eq!(refused(Version::HTTP_11, headers), Some("Host"), "{headers:?}");
        }
        // A load balancer's health check may use HTTP/1.0, and HTTP/2 has `:authority` instead.
        assert_eq!(refused(Version::HTTP_10, &[]), None);
        assert_eq!(refused(Version::HTTP_2, &[]), None);
    }

    #[test]
    fn encodings() {
        let with = |name, value| refused(Version::HTTP_11, &[("host", "x"), (name, value)]);
        assert_eq!(with("transfer-encoding", "Chunked"), None);
        for value in [
            "gzip, chunked",
            "chunked, chunked",
            "identity",
            "chunked;a=b",
            "xchunked",
        ] {
            assert_eq!(
                with("transfer-encoding", value),
                Some("Transfer-Encoding"),
                "{value}"
            );
        }
        assert_eq!(with("te", "trailers"), None);
        assert_eq!(with("te", "gzip;q=0.5"), None);
        assert_eq!(with("te", "gzip, chunked"), Some("TE"));
        assert_eq!(with("te", "Chunked;q=1"), Some("TE"));
    }
}
