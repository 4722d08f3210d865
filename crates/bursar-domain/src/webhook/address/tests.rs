use super::*;

fn allowing(blocks: &[&str]) -> Allowed {
    Allowed::new(
        blocks
            .iter()
            .map(|block| Allowed::parse_block(block).unwrap())
            .collect(),
    )
}

/// What a URL leads to: its literal address, or what a resolver returned.
fn judged(allowed: &Allowed, text: &str, resolved: &[&str]) -> Result<(), String> {
    let target = Target::parse(text)?;
    let addresses: Vec<IpAddr> = match target.literal() {
        Some(address) => vec![address],
        None => resolved.iter().map(|address| address.parse().unwrap()).collect(),
    };
    allowed
        .check(&target, &addresses)
        .map_err(|error| error.to_string())
}

/// Refused whatever their host resolves to.
const BY_FORM: &[&str] = &[
    "",
    "example.org/hook",
    "//example.org/hook",
    "ftp://example.org/hook",
    "file:///etc/passwd",
    "gopher://example.org:70/_",
    "data:text/plain,hi",
    "javascript:alert(1)",
    "unix:///var/run/docker.sock",
    "https:example.org",
    "https:/example.org",
    "https:///",
    "https://",
    "https://:443/",
    "https://example.org:0/",
    "https://example.org:65536/",
    "https://example.org:-1/",
    "https://user@example.org/",
    "https://user:password@example.org/",
    "https://:password@example.org/",
    "https://@example.org/",
    "https://:@example.org/",
    "https://example.org@169.254.169.254/",
    "https://example.org#@169.254.169.254/",
    "https://example.org/#fragment",
    "https://example.org\\@169.254.169.254/",
    "https:\\\\example.org/",
    " https://example.org/",
    "https://example.org/a b",
    "https://example.org/\r\nHost: other",
    "https://exam\tple.org/",
    "https://example.org/\u{a0}",
    "https://exa%00mple.org/",
    "https://exa%20mple.org/",
    "https://exa<mple.org/",
    "https://[::1/",
    "https://[fe80::1%25eth0]/",
    "https://256.256.256.256/",
    "https://1.2.3.4.5/",
    "https://0x100000000/",
    "https://xn--/",
];

/// Their host is an address, in some spelling, that is not public.
const BY_LITERAL: &[&str] = &[
    "https://127.0.0.1/",
    "https://127.1/",
    "https://127.0.1/",
    "https://2130706433/",
    "https://017700000001/",
    "https://0177.0.0.1/",
    "https://0x7f.0.0.1/",
    "https://0x7f000001/",
    "https://0X7F.1/",
    "https://127.0.0.1./",
    "https://%31%32%37.0.0.1/",
    "https://\u{ff11}\u{ff12}\u{ff17}.0.0.1/",
    "https://①②⑦.⓪.⓪.①/",
    "https://127\u{3002}0\u{3002}0\u{3002}1/",
    "https://0.0.0.0/",
    "https://0/",
    "https://10.0.0.1/",
    "https://100.64.0.1/",
    "https://169.254.169.254/latest/meta-data/",
    "https://2852039166/",
    "https://0xa9fea9fe/",
    "https://0251.0376.0251.0376/",
    "https://0xa9.0xfe.0xa9.0xfe/",
    "https://169.16689662/",
    "https://100.100.100.200/",
    "https://172.16.0.1/",
    "https://172.31.255.255/",
    "https://192.0.0.192/",
    "https://192.168.1.1/",
    "https://198.18.0.1/",
    "https://203.0.113.7/",
    "https://224.0.0.1/",
    "https://240.0.0.1/",
    "https://255.255.255.255/",
    "https://[::]/",
    "https://[::1]/",
    "https://[0:0:0:0:0:0:0:1]/",
    "https://[::127.0.0.1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:7f00:1]/",
    "https://[::ffff:8.8.8.8]/",
    "https://[::ffff:a9fe:a9fe]/",
    "https://[::ffff:0:169.254.169.254]/",
    "https://[64:ff9b::169.254.169.254]/",
    "https://[64:ff9b::8.8.8.8]/",
    "https://[64:ff9b:1::10.0.0.1]/",
    "https://[2002:7f00:1::]/",
    "https://[2002:a9fe:a9fe::1]/",
    "https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
    "https://[2606:4700::5efe:169.254.169.254]/",
    "https://[fd00:ec2::254]/",
    "https://[fe80::1]/",
    "https://[fec0::1]/",
    "https://[ff02::1]/",
    "https://[100::1]/",
    "https://[2001:db8::1]/",
    "https://[3fff::1]/",
    "https://[5f00::1]/",
    "https://[2001:2::1]/",
];

/// Names, and what a resolver may return for them.
const BY_NAME: &[(&str, &[&str])] = &[
    ("https://localhost/", &["127.0.0.1", "::1"]),
    ("https://LOCALHOST:8443/", &["127.0.0.1"]),
    ("https://localhost./", &["127.0.0.1"]),
    ("https://metadata.google.internal/", &["169.254.169.254"]),
    ("https://127.0.0.1.nip.io/", &["127.0.0.1"]),
    ("https://one-good-one-bad.example.org/", &["8.8.8.8", "10.0.0.1"]),
    ("https://bad-first.example.org/", &["::1", "2606:4700:4700::1111"]),
    ("https://mapped.example.org/", &["::ffff:169.254.169.254"]),
    ("https://nat64.example.org/", &["64:ff9b::a9fe:a9fe"]),
    ("https://rebinds.example.org/", &["192.168.0.1"]),
    ("https://nowhere.example.org/", &[]),
    ("http://example.org/", &["93.184.215.14"]),
    ("http://8.8.8.8/", &[]),
    ("HTTP://example.org/", &["2606:4700:4700::1111"]),
];

#[test]
fn hostile_urls_are_refused() {
    let none = Allowed::default();
    assert!(BY_FORM.len() + BY_LITERAL.len() + BY_NAME.len() > 100);
    for text in BY_FORM {
        let rule = judged(&none, text, &["93.184.215.14"]).expect_err(text);
        assert!(rule.starts_with("must "), "{text}: {rule}");
        // Even if the operator allows every address.
        assert_eq!(
            judged(&allowing(&["0.0.0.0/0", "::/0"]), text, &["93.184.215.14"]),
            Err(rule),
            "{text}"
        );
    }
    for text in BY_LITERAL {
        let rule = judged(&none, text, &[]).expect_err(text);
        assert!(rule.contains("not public"), "{text}: {rule}");
    }
    for (text, resolved) in BY_NAME {
        let rule = judged(&none, text, resolved).expect_err(text);
        assert!(rule.starts_with("must "), "{text}: {rule}");
    }
}

#[test]
fn urls_that_are_fine() {
    let none = Allowed::default();
    for (text, kept) in [
        ("https://example.org", "https://example.org/"),
        ("HTTPS://EXAMPLE.ORG/Hook", "https://example.org/Hook"),
        (
            "https://example.org:443/hook?a=b@c",
            "https://example.org/hook?a=b@c",
        ),
        ("https://example.org:8443/@user", "https://example.org:8443/@user"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://8.8.8.8/", "https://8.8.8.8/"),
        (
            "https://[2606:4700:4700::1111]/",
            "https://[2606:4700:4700::1111]/",
        ),
    ] {
        assert_eq!(
            judged(&none, text, &["93.184.215.14", "2606:4700:4700::1111"]),
            Ok(()),
            "{text}"
        );
        assert_eq!(Target::parse(text).unwrap().url(), kept);
    }
    let long = format!("https://example.org/{}", "a".repeat(URL_CHARS_MAX - 20));
    assert_eq!(judged(&none, &long, &["8.8.8.8"]), Ok(()));
    assert_eq!(
        judged(&none, &format!("{long}a"), &["8.8.8.8"]),
        Err("must have at most 2000 characters".into())
    );
}

#[test]
fn the_operator_allows_by_name_of_the_address() {
    let home = allowing(&["127.0.0.0/8", "10.1.2.3"]);
    for text in ["http://127.0.0.1:9000/", "https://127.1/", "http://10.1.2.3/"] {
        assert_eq!(judged(&home, text, &[]), Ok(()), "{text}");
    }
    assert_eq!(judged(&home, "http://localhost/", &["127.0.0.1"]), Ok(()));
    for (text, resolved) in [
        ("http://localhost/", &["127.0.0.1", "::1"][..]),
        ("http://10.1.2.4/", &[]),
        ("http://[::ffff:127.0.0.1]/", &[]),
        ("http://half.example.org/", &["127.0.0.1", "8.8.8.8"]),
    ] {
        assert!(judged(&home, text, resolved).is_err(), "{text}");
    }
    assert_eq!(
        judged(&home, "https://half.example.org/", &["127.0.0.1", "8.8.8.8"]),
        Ok(())
    );
    let mapped = allowing(&["::ffff:0:0/96"]);
    assert_eq!(judged(&mapped, "http://[::ffff:127.0.0.1]/", &[]), Ok(()));
    assert!(judged(&mapped, "http://127.0.0.1/", &[]).is_err());
}

#[test]
fn blocks() {
    assert_eq!(Allowed::parse_block("::1").unwrap().to_string(), "::1/128");
    for wrong in ["", "localhost", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/8,::1"] {
        let rule = Allowed::parse_block(wrong).unwrap_err();
        assert!(rule.starts_with("must be an address"), "{wrong}: {rule}");
    }
    let rule = Allowed::parse_block("10.0.0.1/8").unwrap_err();
    assert!(rule.ends_with("did you mean 10.0.0.0/8?"), "{rule}");
}

#[test]
fn refusals_name_the_way_out() {
    let none = Allowed::default();
    assert_eq!(
        judged(&none, "https://localhost/", &["127.0.0.1"]).unwrap_err(),
        "must lead to a public address; localhost is 127.0.0.1, which is not public (loopback). \
         The operator can allow it with --webhook-allow"
    );
    assert_eq!(
        judged(&none, "https://[::1]/", &[]).unwrap_err(),
        "must lead to a public address; ::1 is not public (loopback). The operator can allow it with --webhook-allow"
    );
    let many: Vec<IpAddr> = (0..=64).map(|i| IpAddr::from([8, 8, 8, i])).collect();
    let target = Target::parse("https://example.org").unwrap();
    assert_eq!(
        none.check(&target, &many),
        Err(Unsafe::TooMany("example.org".into()))
    );
    assert_eq!(none.check(&target, &many[1..]), Ok(()));
}
