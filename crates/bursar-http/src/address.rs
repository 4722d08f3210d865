//! The address a request counts for: the peer's, or the one a trusted proxy vouches for.
//!
//! Owns the reading of `X-Forwarded-For`. Anyone can send that header, so an entry is believed only when the
//! hop that appended it is a proxy the operator named.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use hyper::HeaderMap;

/// The proxies whose `X-Forwarded-For` is believed: single addresses and CIDR blocks. Empty by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedProxies {
    blocks: Vec<Block>,
}

/// Why an entry of the list of trusted proxies was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidProxy(String);

impl fmt::Display for InvalidProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidProxy {}

impl TrustedProxies {
    /// Reads the operator's list. An item may itself be a comma-separated list, as in an environment variable.
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
                blocks.push(entry.parse()?);
            }
        }
        Ok(Self { blocks })
    }

    /// Whether this address is one of the proxies.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.blocks.iter().any(|block| block.contains(address))
    }
}

/// A CIDR block; a single address is a block with the longest prefix. IPv4-mapped IPv6 is kept as IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    base: IpAddr,
    prefix: u8,
}

impl Block {
    fn contains(self, address: IpAddr) -> bool {
        match (self.base, address) {
            (IpAddr::V4(_), IpAddr::V4(_)) | (IpAddr::V6(_), IpAddr::V6(_)) => {
                mask(address, self.prefix) == self.base
            }
            _ => false,
        }
    }
}

impl FromStr for Block {
    type Err = InvalidProxy;

    fn from_str(text: &str) -> Result<Self, InvalidProxy> {
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
        let width: u8 = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            None => width,
            // `parse` alone would take "+8".
            Some(digits) => Some(digits)
                .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
                .and_then(|digits| digits.parse().ok())
                .filter(|prefix| *prefix <= width)
                .ok_or_else(|| refuse(format!("the prefix must be a number from 0 to {width}")))?,
        };
        // A peer on a dual-stack socket is seen as IPv4 after `to_canonical`, so its block must be IPv4 too.
        let (address, prefix) = match address.to_canonical() {
            IpAddr::V4(v4) if address.is_ipv6() && prefix >= 96 => (IpAddr::V4(v4), prefix - 96),
            _ => (address, prefix),
        };
        let base = mask(address, prefix);
        if base != address {
            return Err(refuse(format!(
                "it has bits after the prefix; write {base}/{prefix}"
            )));
        }
        Ok(Self { base, prefix })
    }
}

/// The address with all bits after the prefix cleared.
fn mask(address: IpAddr, prefix: u8) -> IpAddr {
    let prefix = u32::from(prefix);
    match address {
        IpAddr::V4(v4) => {
            let mask = u32::MAX.checked_shl(32 - prefix).unwrap_or(0);
            IpAddr::V4(Ipv4Addr::from_bits(v4.to_bits() & mask))
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX.checked_shl(128 - prefix).unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & mask))
        }
    }
}

/// The client's address: the peer, unless the peer is a trusted proxy; then the right-most `X-Forwarded-For`
/// entry that is not one.
///
/// Entries are read from the right, because each proxy appends the hop it saw: what stands left of the first
/// untrusted entry was written by that client and proves nothing. An unreadable entry ends the walk at the
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
            // Empty list elements carry nothing (RFC 9110, 5.6.1).
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

/// One entry: `192.0.2.1`, `192.0.2.1:8080`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:8080`.
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

/// The address that rate limits count: IPv4 as it is, IPv6 as its /64, since one subscriber holds all of it.
pub fn counted(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(v4) => IpAddr::V4(v4),
        v6 @ IpAddr::V6(_) => mask(v6, 64),
    }
}
