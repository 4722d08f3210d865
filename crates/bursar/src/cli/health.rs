//! `bursar health`: asks a running server whether it is ready, for containers and monitors without an HTTP client.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use super::exit::Exit;
use super::{Failure, Globals, Outcome, output};

/// For each step of the conversation.
const PATIENCE: Duration = Duration::from_secs(5);
/// A response is one line; anything longer is not from bursar.
const ANSWER_MAX: u64 = 16 * 1024;

#[derive(Debug, Args)]
pub(crate) struct HealthArgs {
    /// Address of the server
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS")]
    listen: SocketAddr,
}

pub(crate) fn run(globals: &Globals, args: &HealthArgs) -> Outcome {
    let address = reachable(args.listen);
    let answer = ask(address)
        .map_err(|error| not_ready(format!("no server responds at http://{address}: {error}")))?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    if !head.starts_with("HTTP/1.1 200 ") {
        return Err(not_ready(format!(
            "the server at http://{address} is not ready: {body}"
        )));
    }
    let told: Value = serde_json::from_str(body)
        .map_err(|_| Failure::new(format!("the server at http://{address} is not bursar")))?;
    if globals.json {
        return output::json(&told);
    }
    output::say(&format!("the server at http://{address} is ready"));
    Ok(())
}

/// A server that listens on all addresses is asked on loopback.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

fn ask(address: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.take(ANSWER_MAX).read_to_string(&mut answer)?;
    Ok(answer)
}

fn not_ready(message: String) -> Failure {
    Failure {
        message,
        exit: Exit::Later,
    }
}
