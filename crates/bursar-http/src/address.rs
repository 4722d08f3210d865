//! The client address of a request: the peer's, or the one that a trusted proxy reports.
//!
//! Owns the parsing of `X-Forwarded-For`. Anyone can send that header, so an entry is trusted only when the
//! hop that appended it is a proxy that the operator named.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use hyper::HeaderMap;
use ipnet::{IpNet, Ipv6Net};

/// Addresses and CIDR blocks of the proxies whose `X-Forwarded-For` is trusted. Empty by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedProxies {
    blocks: Vec<IpNet>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidProxy(String);

impl fmt::Display for InvalidProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidProxy {}

impl TrustedProxies {
    /// An item may itself be a comma-separated list, as in an environment variable.
    pub fn parse<I>(items: I) -> Result<Self, InvalidProxy>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let mut blocks = Vec::new();
        for item in items {
            for entry in item
                .as_ref()
                .split(',')
                .map(str::trim)
                .filter(|entry| !entry.is_empty())
            {
                blocks.push(block(entry)?);
            }
        }
        Ok(Self { blocks })
    }

    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.blocks.iter().any(|block| block.contains(&address))
    }
}

/// IPv4-mapped IPv6 becomes IPv4, because `to_canonical` does the same to a peer on a dual-stack socket.
fn block(text: &str) -> Result<IpNet, InvalidProxy> {
    let refuse = |why: String| InvalidProxy(format!("trusted proxy {text:?}: {why}"));
    let (address, prefix) = match text.split_once('/') {
        Some((address, prefix)) => (address, Some(prefix)),
        None => (text, None),
    };
    let Ok(address) = address.parse::<IpAddr>() else {
        return Err(refuse(
            "give an IP address or a block such as 10.0.0.0/8".to_owned(),
        ));
    };
    let block = match prefix {
        None => IpNet::from(address),
        Some(_) => text.parse().map_err(|_| {
            let width = IpNet::from(address).max_prefix_len();
            refuse(format!("the prefix must be a number from 0 to {width}"))
        })?,
    };
    let block = match (address.to_canonical(), block.prefix_len().checked_sub(96)) {
        (IpAddr::V4(v4), Some(prefix)) if address.is_ipv6() => {
            IpNet::new(IpAddr::V4(v4), prefix).unwrap_or(block)
        }
        _ => block,
    };
    let exact = block.trunc();
    match exact == block {
        true => Ok(block),
        false => Err(refuse(format!("it has bits after the prefix; write {exact}"))),
    }
}

/// The peer, unless it is a trusted proxy; then the right-most `X-Forwarded-For` entry that is not one.
///
/// Entries are read from the right, because each proxy appends the hop that it saw. Everything left of the first
/// untrusted entry was written by that client and proves nothing. An unreadable entry stops the search at the
/// proxy that appended it.
pub fn client_address(peer: IpAddr, headers: &HeaderMap, trusted: &TrustedProxies) -> IpAddr {
    let mut nearest = peer.to_canonical();
    if trusted.blocks.is_empty() || !trusted.contains(nearest) {
        return nearest;
    }
    for line in headers.get_all("x-forwarded-for").iter().rev() {
        for entry in line
            .as_bytes()
            .rsplit(|byte| *byte == b',')
            .map(<[u8]>::trim_ascii)
        {
            // Ignore empty list elements (RFC 9110, 5.6.1).
            if entry.is_empty() {
                continue;
            }
            let Some(address) = parse_entry(entry) else {
                return nearest;
            };
            nearest = address;
            if !trusted.contains(address) {
                return nearest;
            }
        }
    }
    nearest
}

/// Accepts `192.0.2.1`, `192.0.2.1:8080`, `2001:db8::1`, `[2001:db8::1]` and `[2001:db8::1]:8080`.
fn parse_entry(entry: &[u8]) -> Option<IpAddr> {
    let text = str::from_utf8(entry).ok()?;
    let address = if let Ok(address) = text.parse::<IpAddr>() {
        address
    } else if let Ok(with_port) = text.parse::<SocketAddr>() {
        with_port.ip()
    } else {
        let bare = text.strip_prefix('[')?.strip_suffix(']')?;
        IpAddr::V6(bare.parse().ok()?)
    };
    Some(address.to_canonical())
}

/// The address that rate limits count: IPv4 as is, IPv6 as its /64, because one subscriber usually holds all of it.
pub fn counted(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(v4) => IpAddr::V4(v4),
        IpAddr::V6(v6) => Ipv6Net::new_assert(v6, 64).network().into(),
    }
}
