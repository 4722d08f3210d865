//! Which address a request counts for.

use std::net::IpAddr;

use bursar_http::address::{TrustedProxies, client_address, counted};
use hyper::HeaderMap;
use hyper::header::HeaderValue;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// The client address with proxies 10.0.0.0/8, 192.0.2.7 and 2001:db8:1::/48, as text.
fn seen(peer: &str, forwarded: &[&str]) -> String {
    let trusted = TrustedProxies::parse(["10.0.0.0/8, 192.0.2.7", "2001:db8:1::/48"]).unwrap();
    let mut headers = HeaderMap::new();
    for line in forwarded {
        headers.append(
            "x-forwarded-for",
            HeaderValue::from_bytes(line.as_bytes()).unwrap(),
        );
    }
    client_address(ip(peer), &headers, &trusted).to_string()
}

/// Peer, `X-Forwarded-For` lines, the client's address, and why.
#[rustfmt::skip]
const SEEN: &[(&str, &[&str], &str, &str)] = &[
    ("203.0.113.5", &["198.51.100.1"], "203.0.113.5", "an untrusted peer is the client, whatever it says"),
    ("10.1.2.3", &[], "10.1.2.3", "a proxy that forwards nothing speaks for itself"),
    ("10.1.2.3", &["198.51.100.1"], "198.51.100.1", "one hop"),
    ("192.0.2.7", &["198.51.100.1"], "198.51.100.1", "a single trusted address"),
    ("192.0.2.8", &["198.51.100.1"], "192.0.2.8", "its neighbour is not trusted"),
    ("10.1.2.3", &["6.6.6.6, 198.51.100.1"], "198.51.100.1", "what the client put in front is ignored"),
    ("10.1.2.3", &["6.6.6.6, 198.51.100.1, 10.9.9.9"], "198.51.100.1", "two hops"),
    ("10.1.2.3", &["6.6.6.6", "198.51.100.1", "10.9.9.9"], "198.51.100.1", "lines count as one list"),
    ("10.1.2.3", &["198.51.100.1, 10.9.9.9", "10.8.8.8"], "198.51.100.1", "lines and entries mixed"),
    ("10.1.2.3", &["10.7.7.7, 10.9.9.9"], "10.7.7.7", "all trusted: the left-most"),
    ("10.1.2.3", &["198.51.100.1, rubbish"], "10.1.2.3", "rubbish from the peer: the peer itself"),
    ("10.1.2.3", &["198.51.100.1, rubbish, 10.9.9.9"], "10.9.9.9", "rubbish ends the walk at its sender"),
    ("10.1.2.3", &["unknown"], "10.1.2.3", "an entry without an address"),
    ("10.1.2.3", &["198.51.100.1,,  ,"], "198.51.100.1", "empty elements carry nothing"),
    ("10.1.2.3", &[" 198.51.100.1:4711 "], "198.51.100.1", "a port"),
    ("10.1.2.3", &["198.51.100.1:"], "10.1.2.3", "half a port is rubbish"),
    ("10.1.2.3", &["198.51.100.1:99999"], "10.1.2.3", "so is an impossible one"),
    ("10.1.2.3", &["2001:db8::9"], "2001:db8::9", "IPv6"),
    ("10.1.2.3", &["[2001:db8::9]"], "2001:db8::9", "IPv6 in brackets"),
    ("10.1.2.3", &["[2001:db8::9]:443"], "2001:db8::9", "IPv6 with a port"),
    ("10.1.2.3", &["[198.51.100.1]"], "10.1.2.3", "brackets are for IPv6"),
    ("10.1.2.3", &["fe80::1%eth0"], "10.1.2.3", "a zone means nothing to us"),
    ("10.1.2.3", &["::ffff:198.51.100.1"], "198.51.100.1", "IPv4-mapped is IPv4"),
    ("10.1.2.3", &["198.51.100.1, ::ffff:10.2.2.2"], "198.51.100.1", "and trusted as IPv4"),
    ("::ffff:10.1.2.3", &["198.51.100.1"], "198.51.100.1", "a dual-stack socket's peer"),
    ("2001:db8:1:2::3", &["2001:db8:2::1"], "2001:db8:2::1", "an IPv6 proxy"),
    ("2001:db8:2::3", &["2001:db8:9::1"], "2001:db8:2::3", "outside the block"),
    ("10.1.2.3", &["198.51.100.\u{e9}"], "10.1.2.3", "bytes that are not ASCII"),
];

#[test]
fn the_right_most_untrusted_entry_counts() {
    for (peer, forwarded, want, why) in SEEN {
        assert_eq!(seen(peer, forwarded), *want, "{why}: {forwarded:?}");
    }
}

#[test]
fn without_trusted_proxies_the_header_is_never_read() {
    let mut headers = HeaderMap::new();
    headers.insert("x-forwarded-for", HeaderValue::from_static("198.51.100.1"));
    let none = TrustedProxies::default();
    assert_eq!(client_address(ip("127.0.0.1"), &headers, &none), ip("127.0.0.1"));
    assert_eq!(TrustedProxies::parse(["", " , "]).unwrap(), none);
}

#[test]
fn everything_may_be_trusted() {
    let all = TrustedProxies::parse(["0.0.0.0/0", "::/0"]).unwrap();
    assert!(all.contains(ip("8.8.8.8")) && all.contains(ip("::1")) && all.contains(ip("::ffff:8.8.8.8")));
    let mapped = TrustedProxies::parse(["::ffff:10.0.0.0/104"]).unwrap();
    assert!(mapped.contains(ip("10.200.0.1")) && !mapped.contains(ip("11.0.0.1")));
}

#[rustfmt::skip]
const REFUSED: &[(&str, &str)] = &[
    ("proxy.example", "trusted proxy \"proxy.example\": give an IP address or a block such as 10.0.0.0/8"),
    ("10.0.0.1:80", "trusted proxy \"10.0.0.1:80\": give an IP address or a block such as 10.0.0.0/8"),
    ("10.0.0.0/33", "trusted proxy \"10.0.0.0/33\": the prefix must be a number from 0 to 32"),
    ("10.0.0.0/+8", "trusted proxy \"10.0.0.0/+8\": the prefix must be a number from 0 to 32"),
    ("10.0.0.0/", "trusted proxy \"10.0.0.0/\": the prefix must be a number from 0 to 32"),
    ("10.0.0.0/8/8", "trusted proxy \"10.0.0.0/8/8\": the prefix must be a number from 0 to 32"),
    ("::1/129", "trusted proxy \"::1/129\": the prefix must be a number from 0 to 128"),
    ("10.1.0.0/8", "trusted proxy \"10.1.0.0/8\": it has bits after the prefix; write 10.0.0.0/8"),
];

#[test]
fn a_bad_proxy_is_named_with_the_way_out() {
    for (text, want) in REFUSED {
        let refused = TrustedProxies::parse(["127.0.0.1", text]).unwrap_err();
        assert_eq!(refused.to_string(), *want);
    }
}

#[test]
fn ipv6_counts_per_64() {
    for (address, want) in [
        ("198.51.100.1", "198.51.100.1"),
        ("::ffff:198.51.100.1", "198.51.100.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2::", "2001:db8:1:2::"),
        ("::1", "::"),
    ] {
        assert_eq!(counted(ip(address)), ip(want), "{address}");
    }
}
