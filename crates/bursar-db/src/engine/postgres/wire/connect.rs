//! Finding a server that answers: hosts in their order, each with a limit for all of its steps.

use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use postgres::Config;
use postgres::config::{Host, LoadBalanceHosts, SslNegotiation, TargetSessionAttrs};
use postgres_protocol::message::frontend;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use rustls_pki_types::ServerName;
use socket2::{SockRef, TcpKeepalive};

use super::error::WireError;
use super::stream::{Socket, Stream};
use super::{Eras, Wire, login};

/// Where to connect, and how.
pub(in super::super) struct Target {
    pub(in super::super) config: Config,
    pub(in super::super) tls: Option<Arc<ClientConfig>>,
    /// Whether a server without TLS may be used.
    pub(in super::super) tls_is_optional: bool,
    pub(in super::super) flights: Arc<AtomicU64>,
    pub(in super::super) eras: Arc<Eras>,
}

impl Target {
    pub(in super::super) fn hosts(&self) -> usize {
        self.config
            .get_hosts()
            .len()
            .max(self.config.get_hostaddrs().len())
            .max(1)
    }

    /// Tries the hosts one after the other. `each_max` is for one address with all it takes to log in there and to run
    /// `settings`.
    pub(in super::super) fn connect(&self, each_max: Duration, settings: &str) -> Result<Wire, WireError> {
        let mut places: Vec<usize> = (0..self.hosts()).collect();
        if self.config.get_load_balance_hosts() == LoadBalanceHosts::Random {
            // Replicas start at different hosts. One process stays with its own.
            let turn = usize::try_from(std::process::id()).unwrap_or(0) % places.len();
            places.rotate_left(turn);
        }
        let mut failed = None;
        for place in places {
            match self.connect_host(place, each_max, settings) {
                Ok(mut wire) => {
                    wire.era = Some(self.eras.arrive(place));
                    return Ok(wire);
                }
                Err(error) => failed = Some(error),
            }
        }
        Err(failed.unwrap_or(WireError::Closed))
    }

    fn connect_host(&self, place: usize, each_max: Duration, settings: &str) -> Result<Wire, WireError> {
        let host = self.config.get_hosts().get(place);
        let address = self.config.get_hostaddrs().get(place);
        let ports = self.config.get_ports();
        let port = ports.get(place).or(ports.first()).copied().unwrap_or(5432);
        let (name, addresses) = match (host, address) {
            (Some(Host::Unix(folder)), None) => return self.connect_unix(folder, port, each_max, settings),
            (Some(Host::Tcp(name)), Some(ip)) => (name.clone(), vec![SocketAddr::new(*ip, port)]),
            (_, Some(ip)) => (ip.to_string(), vec![SocketAddr::new(*ip, port)]),
            (Some(Host::Tcp(name)), None) => {
                let found = (name.as_str(), port).to_socket_addrs()?;
                (name.clone(), found.collect())
            }
            (None, None) => (
                "localhost".to_owned(),
                ("localhost", port).to_socket_addrs()?.collect(),
            ),
        };
        let mut failed = None;
        for address in addresses {
            match self.connect_tcp(address, &name, each_max, settings) {
                Ok(wire) => return Ok(wire),
                Err(error) => failed = Some(error),
            }
        }
        let nowhere = || WireError::Io(io::Error::other(format!("{name} has no address")));
        Err(failed.unwrap_or_else(nowhere))
    }

    fn connect_unix(
        &self,
        folder: &Path,
        port: u16,
        max: Duration,
        settings: &str,
    ) -> Result<Wire, WireError> {
        let deadline = Instant::now() + max;
        let stream = UnixStream::connect(folder.join(format!(".s.PGSQL.{port}")))?;
        let socket = Socket::Unix(stream);
        socket.limit(Some(max))?;
        self.log_in(Stream::Plain(socket), None, deadline, settings)
    }

    fn connect_tcp(
        &self,
        address: SocketAddr,
        name: &str,
        max: Duration,
        settings: &str,
    ) -> Result<Wire, WireError> {
        let deadline = Instant::now() + max;
        let stream = TcpStream::connect_timeout(&address, max)?;
        stream.set_nodelay(true)?;
        let system = SockRef::from(&stream);
        #[cfg(target_os = "linux")]
        system.set_tcp_user_timeout(self.config.get_tcp_user_timeout().copied())?;
        if self.config.get_keepalives() {
            let mut keepalive = TcpKeepalive::new().with_time(self.config.get_keepalives_idle());
            if let Some(interval) = self.config.get_keepalives_interval() {
                keepalive = keepalive.with_interval(interval);
            }
            if let Some(retries) = self.config.get_keepalives_retries() {
                keepalive = keepalive.with_retries(retries);
            }
            system.set_tcp_keepalive(&keepalive)?;
        }
        let mut socket = Socket::Tcp(stream);
        // A read waits no longer than this; the deadline is looked at between reads.
        socket.limit(Some(max))?;
        let Some(tls) = &self.tls else {
            return self.log_in(Stream::Plain(socket), None, deadline, settings);
        };
        let is_direct = self.config.get_ssl_negotiation() == SslNegotiation::Direct;
        if !is_direct && !offers_tls(&mut socket)? {
            return if self.tls_is_optional {
                self.log_in(Stream::Plain(socket), None, deadline, settings)
            } else {
                Err(WireError::Tls("the server does not support TLS".to_owned()))
            };
        }
        let mut tls = ClientConfig::clone(tls);
        if is_direct {
            tls.alpn_protocols = vec![b"postgresql".to_vec()];
        }
        let stream = encrypt(tls, name, socket, deadline)?;
        let binding = login::end_point(&stream.conn);
        self.log_in(Stream::Encrypted(Box::new(stream)), binding, deadline, settings)
    }

    fn log_in(
        &self,
        stream: Stream,
        binding: Option<Vec<u8>>,
        deadline: Instant,
        settings: &str,
    ) -> Result<Wire, WireError> {
        let mut wire = Wire::new(stream, Arc::clone(&self.flights), Arc::clone(&self.eras));
        wire.deadline = Some(deadline);
        login::log_in(&mut wire, &self.config, binding)?;
        wire.patience = Some(deadline.saturating_duration_since(Instant::now()));
        // Whether it takes writes is asked before the settings, which may forbid them.
        let text = format!("SHOW transaction_read_only; {settings}");
        let is_read_only = wire.run(&text)?.first().is_some_and(|answer| answer == "on");
        // One of several hosts may be a standby. It has yesterday's permissions and takes no writes.
        let must_write =
            self.hosts() > 1 || self.config.get_target_session_attrs() == TargetSessionAttrs::ReadWrite;
        match must_write && is_read_only {
            true => Err(WireError::ReadOnly),
            false => Ok(wire),
        }
    }
}

fn offers_tls(socket: &mut Socket) -> Result<bool, WireError> {
    let mut asked = BytesMut::new();
    frontend::ssl_request(&mut asked);
    io::Write::write_all(socket, &asked)?;
    // Not one byte more: what comes before the handshake could be anybody's.
    let mut answer = [0];
    socket.read_exact(&mut answer)?;
    Ok(answer == [b'S'])
}

fn encrypt(
    tls: ClientConfig,
    name: &str,
    mut socket: Socket,
    deadline: Instant,
) -> Result<StreamOwned<ClientConnection, Socket>, WireError> {
    let refused = |error: &dyn std::fmt::Display| WireError::Tls(error.to_string());
    let name = ServerName::try_from(name.to_owned()).map_err(|error| refused(&error))?;
    let mut connection = ClientConnection::new(Arc::new(tls), name).map_err(|error| refused(&error))?;
    while connection.is_handshaking() {
        if Instant::now() >= deadline {
            return Err(WireError::Silent);
        }
        if connection.wants_write() {
            connection.write_tls(&mut socket)?;
        } else if connection.read_tls(&mut socket)? == 0 {
            return Err(WireError::Tls("the server ended the handshake".to_owned()));
        } else {
            connection
                .process_new_packets()
                .map_err(|error| refused(&error))?;
        }
    }
    Ok(StreamOwned::new(connection, socket))
}
