//! Which addresses are globally reachable unicast, by IANA's registries of special-purpose addresses.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 ranges that are not globally reachable, or not unicast, and what they are. Anycast addresses of the local network's
/// own services (192.0.0.9 and .10) are in one of them.
const V4: &[(Ipv4Addr, u32, &str)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8, "this network"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "private"),
    (
        Ipv4Addr::new(100, 64, 0, 0),
        10,
        "shared by a provider's customers",
    ),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "loopback"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "link-local"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "private"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "for protocols"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "for documentation"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "a 6to4 relay"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "private"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "for benchmarks"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "for documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "for documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "reserved"),
];

/// IANA gives out global unicast addresses from here alone.
const V6_UNICAST: (u16, u32) = (0x2000, 3);

/// Ranges within it that are not globally reachable, and some outside of it that deserve a word of their own.
const V6: &[(Ipv6Addr, u32, &str)] = &[
    (Ipv6Addr::UNSPECIFIED, 128, "unspecified"),
    (Ipv6Addr::LOCALHOST, 128, "loopback"),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96, "IPv4 within IPv6"),
    (Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0), 96, "IPv4 within IPv6"),
    (Ipv6Addr::UNSPECIFIED, 96, "IPv4 within IPv6"),
    (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96, "NAT64"),
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48, "NAT64"),
    (Ipv6Addr::new(0x100, 0, 0, 0, 0, 0, 0, 0), 64, "discard-only"),
    (Ipv6Addr::new(0x100, 0, 0, 1, 0, 0, 0, 0), 64, "a dummy prefix"),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 32, "Teredo"),
    (
        Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0),
        32,
        "for documentation",
    ),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, "6to4"),
    (
        Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0),
        20,
        "for documentation",
    ),
    (
        Ipv6Addr::new(0x5f00, 0, 0, 0, 0, 0, 0, 0),
        16,
        "for segment routing",
    ),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, "unique local"),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, "link-local"),
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10, "site-local"),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, "multicast"),
];

/// For protocols. Excepted is what the registry calls globally reachable, without anycast addresses and without prefixes of
/// identifiers that are no addresses of hosts (ORCHIDv2, drone remote ids).
const V6_PROTOCOLS: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23);
const V6_PROTOCOLS_REACHABLE: &[(Ipv6Addr, u32)] = &[
    // Automatic multicast tunnelling.
    (Ipv6Addr::new(0x2001, 3, 0, 0, 0, 0, 0, 0), 32),
    // AS112.
    (Ipv6Addr::new(0x2001, 4, 0x112, 0, 0, 0, 0, 0), 48),
];

/// What stands against an address: what it is for instead of being globally reachable unicast.
pub fn obstacle(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => {
            let found = V4
                .iter()
                .find(|(net, length, _)| is_in_v4(address, *net, *length));
            found.map(|(_, _, what)| *what)
        }
        IpAddr::V6(address) => obstacle_v6(address),
    }
}

fn obstacle_v6(address: Ipv6Addr) -> Option<&'static str> {
    if let Some((_, _, what)) = V6
        .iter()
        .find(|(net, length, _)| is_in_v6(address, *net, *length))
    {
        return Some(what);
    }
    let (first, length) = V6_UNICAST;
    if !is_in_v6(address, Ipv6Addr::new(first, 0, 0, 0, 0, 0, 0, 0), length) {
        return Some("reserved");
    }
    let (net, length) = V6_PROTOCOLS;
    let is_reachable = || {
        let mut reachable = V6_PROTOCOLS_REACHABLE.iter();
        reachable.any(|(net, length)| is_in_v6(address, *net, *length))
    };
    if is_in_v6(address, net, length) && !is_reachable() {
        return Some("for protocols");
    }
    // ISATAP: an interface id that carries an IPv4 address.
    let [.., a, b, _, _] = address.segments();
    (matches!(a, 0 | 0x200) && b == 0x5efe).then_some("IPv4 within IPv6")
}

fn is_in_v4(address: Ipv4Addr, net: Ipv4Addr, length: u32) -> bool {
    let shift = 32 - length;
    u64::from(address.to_bits()) >> shift == u64::from(net.to_bits()) >> shift
}

fn is_in_v6(address: Ipv6Addr, net: Ipv6Addr, length: u32) -> bool {
    let shift = 128 - length;
    address.to_bits() >> shift == net.to_bits() >> shift
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<&'static str> {
        obstacle(text.parse().unwrap())
    }

    #[test]
    fn the_first_and_the_last_address_of_each_range() {
        for (net, length, what) in V4 {
            let last = Ipv4Addr::from_bits(net.to_bits() | (u32::MAX >> length));
            for address in [*net, last] {
                assert_eq!(obstacle(IpAddr::V4(address)), Some(*what), "{address}");
            }
        }
        for (net, length, what) in V6 {
            let last = Ipv6Addr::from_bits(net.to_bits() | u128::MAX.checked_shr(*length).unwrap_or(0));
            assert_eq!(obstacle(IpAddr::V6(last)), Some(*what), "{last}");
        }
    }

    #[test]
    fn neighbours_of_special_ranges_are_reachable() {
        for address in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "191.255.255.255",
            "192.0.1.0",
            "192.0.3.0",
            "192.31.196.1",
            "192.52.193.1",
            "192.88.98.255",
            "192.88.100.0",
            "192.167.255.255",
            "192.169.0.0",
            "192.175.48.1",
            "198.17.255.255",
            "198.20.0.0",
            "198.51.99.255",
            "198.51.101.0",
            "203.0.112.255",
            "203.0.114.0",
            "223.255.255.255",
            "8.8.8.8",
            "2000::1",
            "2001:3::1",
            "2001:4:112::1",
            "2001:200::1",
            "2001:db7:ffff::1",
            "2001:db9::1",
            "2003::1",
            "2606:4700:4700::1111",
            "2620:4f:8000::1",
            "3ffe::1",
            "3fff:1000::1",
        ] {
            assert_eq!(of(address), None, "{address}");
        }
    }

    #[test]
    fn addresses_that_are_not_global_unicast() {
        for (address, what) in [
            ("192.0.0.9", "for protocols"),
            ("255.255.255.255", "reserved"),
            ("239.255.255.250", "multicast"),
            ("::", "unspecified"),
            ("::1", "loopback"),
            ("::7f00:1", "IPv4 within IPv6"),
            ("::ffff:8.8.8.8", "IPv4 within IPv6"),
            ("::ffff:0:8.8.8.8", "IPv4 within IPv6"),
            ("64:ff9b::8.8.8.8", "NAT64"),
            ("64:ff9b:1::1", "NAT64"),
            ("100::1", "discard-only"),
            ("2001::1", "Teredo"),
            ("2001:1::1", "for protocols"),
            ("2001:2::1", "for protocols"),
            ("2001:10::1", "for protocols"),
            ("2001:1ff:ffff::1", "for protocols"),
            ("2001:db8::1", "for documentation"),
            ("2002:7f00:1::1", "6to4"),
            ("3fff:fff::1", "for documentation"),
            ("2606:4700::5efe:10.0.0.1", "IPv4 within IPv6"),
            ("2606:4700::200:5efe:10.0.0.1", "IPv4 within IPv6"),
            ("4000::1", "reserved"),
            ("5f00::1", "for segment routing"),
            ("fc00::1", "unique local"),
            ("fdff::1", "unique local"),
            ("fe80::1", "link-local"),
            ("febf::1", "link-local"),
            ("fec0::1", "site-local"),
            ("ff02::1", "multicast"),
        ] {
            assert_eq!(of(address), Some(what), "{address}");
        }
    }
}
