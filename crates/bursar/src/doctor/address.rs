//! Where the server listens, its base URL, and the proxies it trusts.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::time::Duration;

use bursar_http::address::TrustedProxies;
use url::Url;

use super::{Finding, Setup};
use crate::cli::url::is_in_the_clear;

/// For a server that may already be running.
const TIMEOUT: Duration = Duration::from_secs(3);

pub(super) fn check(setup: &Setup<'_>) -> Vec<Finding> {
    let serve = setup.serve;
    let mut findings = vec![
        listen("listen", "--listen", serve.listen),
        base_url(serve.base_url.as_deref(), serve.listen),
    ];
    if let Some(address) = serve.metrics_listen {
        findings.push(match listen("metrics", "--metrics-listen", address) {
            Finding { advice: None, .. } if !address.ip().is_loopback() => Finding::warning(
                "metrics",
                format!("{address} is open to the network"),
                "listen on an address that only your Prometheus reaches",
            ),
            finding => finding,
        });
    }
    findings.push(proxies(&serve.trusted_proxy, serve.base_url.as_deref()));
    findings
}

fn listen(check: &'static str, flag: &str, address: SocketAddr) -> Finding {
    let Err(error) = TcpListener::bind(address) else {
        return Finding::ok(check, format!("{address} is free"));
    };
    let found = format!("{address}: {error}");
    match error.kind() {
        ErrorKind::AddrInUse => match answers(address) {
            true => Finding::ok(check, format!("a bursar runs on {address}")),
            false => Finding::problem(
                check,
                format!("{address} is taken by another program"),
                format!("end it, or give {flag} another port"),
            ),
        },
        ErrorKind::PermissionDenied => Finding::problem(
            check,
            found,
            format!("give {flag} a port of 1024 or more, behind a proxy"),
        ),
        _ => Finding::problem(check, found, format!("give {flag} an address of this machine")),
    }
}

/// Whether a bursar is running there.
fn answers(address: SocketAddr) -> bool {
    let mut address = address;
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    let agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_global(Some(TIMEOUT))
        .proxy(None)
        .build()
        .new_agent();
    let ask = |path: &str| agent.get(format!("http://{address}{path}")).call().ok();
    // Without a token the API names its realm; metrics, on a port of their own, carry the name.
    let is_api = ask("/v1/token").is_some_and(|response| {
        let realm = response.headers().get("www-authenticate");
        realm.is_some_and(|realm| realm.as_bytes() == b"Bearer realm=\"bursar\"")
    });
    is_api
        || ask("/metrics").is_some_and(|mut response| {
            let body = response.body_mut().with_config().limit(1 << 20).read_to_string();
            body.is_ok_and(|body| body.contains("bursar_"))
        })
}

fn base_url(given: Option<&str>, listen: SocketAddr) -> Finding {
    const CHECK: &str = "base URL";
    let Some(url) = given else {
        let found = format!("http://{listen}, from --listen");
        return match listen.ip().is_loopback() {
            true => Finding::ok(CHECK, found),
            false => Finding::warning(
                CHECK,
                found,
                "give --base-url the address that others know, such as https://dues.example.org",
            ),
        };
    };
    let url = url.trim_end_matches('/');
    let Ok(parts) = Url::parse(url) else {
        return Finding::problem(
            CHECK,
            url,
            "give --base-url an address such as https://dues.example.org",
        );
    };
    if is_in_the_clear(url) {
        return Finding::warning(
            CHECK,
            format!("{url}: tokens cross the network in the clear"),
            "put a proxy with TLS before it, and give --base-url its https:// address",
        );
    }
    let is_other_port = parts.port_or_known_default() != Some(listen.port());
    if parts.scheme() == "http" && listen.port() != 0 && is_other_port {
        return Finding::warning(
            CHECK,
            format!("{url}, and the server listens on {listen}"),
            "leave --base-url out, or give it the port of --listen",
        );
    }
    match parts.path() {
        "/" => Finding::ok(CHECK, url),
        path => Finding::ok(CHECK, format!("{url}; the proxy has to take {path} off")),
    }
}

fn proxies(given: &[String], base_url: Option<&str>) -> Finding {
    const CHECK: &str = "trusted proxies";
    if let Err(error) = TrustedProxies::parse(given) {
        return Finding::problem(
            CHECK,
            error.to_string(),
            "give --trusted-proxy addresses or CIDR blocks",
        );
    }
    let is_behind_one = base_url.is_some_and(|url| url.starts_with("https://"));
    if given.iter().any(|block| block.trim().ends_with("/0")) {
        return Finding::warning(
            CHECK,
            "every address is trusted, so any client can fake its address",
            "name the proxy's own address",
        );
    }
    match (given.is_empty(), is_behind_one) {
        (false, _) => Finding::ok(CHECK, given.join(", ")),
        (true, true) => Finding::warning(
            CHECK,
            "none, although --base-url is https: all clients without a token share one rate limit",
            "give --trusted-proxy the proxy's address",
        ),
        (true, false) => Finding::not_configured(CHECK, "callers are counted by their own address"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::*;

    #[test]
    fn base_urls_are_judged() {
        let here: SocketAddr = "127.0.0.1:8080".parse().unwrap();
        let everywhere: SocketAddr = "0.0.0.0:8080".parse().unwrap();
        for (given, listen, status, says) in [
            (None, here, Status::Ok, "from --listen"),
            (None, everywhere, Status::Warning, "http://0.0.0.0:8080"),
            (
                Some("https://dues.example.org/"),
                here,
                Status::Ok,
                "https://dues.example.org",
            ),
            (
                Some("https://example.org/dues"),
                here,
                Status::Ok,
                "take /dues off",
            ),
            (
                Some("http://dues.example.org"),
                here,
                Status::Warning,
                "in the clear",
            ),
            (Some("http://localhost:8080"), here, Status::Ok, "localhost"),
            (
                Some("http://localhost:9090"),
                here,
                Status::Warning,
                "listens on 127.0.0.1:8080",
            ),
            (Some("http://[::1]:8080"), everywhere, Status::Ok, "::1"),
        ] {
            let finding = base_url(given, listen);
            assert_eq!(finding.status, status, "{given:?} {finding:?}");
            assert!(finding.found.contains(says), "{given:?} {finding:?}");
        }
    }

    #[test]
    fn proxies_are_judged() {
        let judge = |given: &[&str], url| {
            let given: Vec<String> = given.iter().map(|&block| block.to_owned()).collect();
            proxies(&given, url).status
        };
        let tls = Some("https://dues.example.org");
        assert_eq!(judge(&[], None), Status::NotConfigured);
        assert_eq!(judge(&[], tls), Status::Warning);
        assert_eq!(judge(&["10.0.0.1", "fd00::/8"], tls), Status::Ok);
        assert_eq!(judge(&["0.0.0.0/0"], tls), Status::Warning);
        assert_eq!(judge(&["proxy"], tls), Status::Problem);
    }
}
