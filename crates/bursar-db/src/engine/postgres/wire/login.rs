//! Starting a session and proving who we are.

use std::time::Instant;

use postgres::Config;
use postgres::config::ChannelBinding;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{self, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256};
use postgres_protocol::message::frontend;
use rustls::ClientConnection;
use sha2::{Digest, Sha256, Sha384, Sha512};
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::der::oid::db::rfc5912::{
    ECDSA_WITH_SHA_256, ECDSA_WITH_SHA_384, ECDSA_WITH_SHA_512, SHA_1_WITH_RSA_ENCRYPTION,
    SHA_256_WITH_RSA_ENCRYPTION, SHA_384_WITH_RSA_ENCRYPTION, SHA_512_WITH_RSA_ENCRYPTION,
};

use super::Wire;
use super::error::{Told, WireError};

const OK: u32 = 0;
const CLEARTEXT: u32 = 3;
const MD5: u32 = 5;
const SASL: u32 = 10;
const SASL_CONTINUE: u32 = 11;
const SASL_FINAL: u32 = 12;

/// Logs in and waits until the server is ready. `binding` names the certificate of an encrypted connection.
pub(super) fn log_in(wire: &mut Wire, config: &Config, binding: Option<Vec<u8>>) -> Result<(), WireError> {
    let user = match config.get_user() {
        Some(user) => user.to_owned(),
        None => whoami::username()
            .map_err(|error| WireError::Login(format!("the database URL names no user: {error}")))?,
    };
    let mut parameters = vec![("client_encoding", "UTF8"), ("user", user.as_str())];
    parameters.extend(config.get_dbname().map(|name| ("database", name)));
    parameters.extend(config.get_options().map(|options| ("options", options)));
    parameters.extend(
        config
            .get_application_name()
            .map(|name| ("application_name", name)),
    );
    frontend::startup_message(parameters, &mut wire.out)?;
    wire.unanswered = 1;
    post(wire)?;
    authenticate(wire, config, &user, binding)?;
    while wire.unanswered > 0 {
        let (tag, body) = wire.receive()?;
        let body = wire.inbox.bytes(&body);
        match tag {
            b'E' => return Err(Told::read(body).into()),
            b'K' => wire.process = body.first_chunk().copied().map(i32::from_be_bytes),
            _ => {}
        }
    }
    Ok(())
}

/// Sends without moving the deadline, which is that of the whole login.
fn post(wire: &mut Wire) -> Result<(), WireError> {
    let sent = wire.stream.send(&wire.out);
    wire.out.clear();
    sent?;
    match wire.deadline {
        Some(deadline) if Instant::now() >= deadline => Err(WireError::Silent),
        _ => Ok(()),
    }
}

fn authenticate(
    wire: &mut Wire,
    config: &Config,
    user: &str,
    binding: Option<Vec<u8>>,
) -> Result<(), WireError> {
    let password = || {
        config
            .get_password()
            .ok_or_else(|| WireError::Login("it wants a password, and the database URL has none".to_owned()))
    };
    let (kind, data) = request(wire)?;
    if kind != SASL && config.get_channel_binding() == ChannelBinding::Require {
        return Err(WireError::Login("it does not use channel binding".to_owned()));
    }
    match kind {
        OK => return Ok(()),
        CLEARTEXT => frontend::password_message(password()?, &mut wire.out)?,
        MD5 => {
            let salt = <[u8; 4]>::try_from(data.as_slice())
                .map_err(|_| WireError::protocol("a salt must have 4 bytes".to_owned()))?;
            let answer = md5_hash(user.as_bytes(), password()?, salt);
            frontend::password_message(answer.as_bytes(), &mut wire.out)?;
        }
        SASL => {
            scram(wire, config, password()?, &data, binding)?;
            return expect(wire, OK).map(drop);
        }
        other => {
            return Err(WireError::Login(format!(
                "it wants authentication of kind {other}; use a password, scram-sha-256 or trust"
            )));
        }
    }
    post(wire)?;
    expect(wire, OK).map(drop)
}

fn scram(
    wire: &mut Wire,
    config: &Config,
    password: &[u8],
    offered: &[u8],
    binding: Option<Vec<u8>>,
) -> Result<(), WireError> {
    let offers = |wanted: &str| {
        offered
            .split(|byte| *byte == 0)
            .any(|name| name == wanted.as_bytes())
    };
    let binding = binding.filter(|_| config.get_channel_binding() != ChannelBinding::Disable);
    let (binding, mechanism) = match binding {
        Some(data) if offers(SCRAM_SHA_256_PLUS) => (
            sasl::ChannelBinding::tls_server_end_point(data),
            SCRAM_SHA_256_PLUS,
        ),
        // Says that we could have: a server that could too then knows that somebody took its offer away.
        Some(_) => (sasl::ChannelBinding::unrequested(), SCRAM_SHA_256),
        None => (sasl::ChannelBinding::unsupported(), SCRAM_SHA_256),
    };
    if mechanism != SCRAM_SHA_256_PLUS && config.get_channel_binding() == ChannelBinding::Require {
        return Err(WireError::Login("it does not use channel binding".to_owned()));
    }
    if !offers(mechanism) {
        return Err(WireError::Login(
            "it offers no way to log in that is known".to_owned(),
        ));
    }
    let refused = |error: std::io::Error| WireError::Login(format!("it cannot prove itself: {error}"));
    let mut scram = ScramSha256::new(password, binding);
    frontend::sasl_initial_response(mechanism, scram.message(), &mut wire.out)?;
    post(wire)?;
    let data = expect(wire, SASL_CONTINUE)?;
    scram.update(&data).map_err(refused)?;
    frontend::sasl_response(scram.message(), &mut wire.out)?;
    post(wire)?;
    let data = expect(wire, SASL_FINAL)?;
    scram.finish(&data).map_err(refused)
}

fn expect(wire: &mut Wire, wanted: u32) -> Result<Vec<u8>, WireError> {
    match request(wire)? {
        (kind, data) if kind == wanted => Ok(data),
        (kind, _) => Err(WireError::protocol(format!(
            "expected step {wanted} of the login, got {kind}"
        ))),
    }
}

/// The next request of the server during the login.
fn request(wire: &mut Wire) -> Result<(u32, Vec<u8>), WireError> {
    loop {
        let (tag, body) = wire.receive()?;
        let body = wire.inbox.bytes(&body);
        match tag {
            b'R' => {
                let (kind, data) = body
                    .split_first_chunk()
                    .ok_or_else(|| WireError::protocol("a message was cut short".to_owned()))?;
                return Ok((u32::from_be_bytes(*kind), data.to_vec()));
            }
            b'E' => return Err(Told::read(body).into()),
            b'N' | b'v' => {}
            other => {
                return Err(WireError::protocol(format!(
                    "a message of kind {other} came before the login"
                )));
            }
        }
    }
}

/// RFC 5929: the hash of the server's certificate, made as its signature's.
pub(super) fn end_point(connection: &ClientConnection) -> Option<Vec<u8>> {
    let certificate = connection.peer_certificates()?.first()?;
    let kind = Certificate::from_der(certificate).ok()?.signature_algorithm.oid;
    match kind {
        SHA_1_WITH_RSA_ENCRYPTION | SHA_256_WITH_RSA_ENCRYPTION | ECDSA_WITH_SHA_256 => {
            Some(Sha256::digest(certificate).to_vec())
        }
        SHA_384_WITH_RSA_ENCRYPTION | ECDSA_WITH_SHA_384 => Some(Sha384::digest(certificate).to_vec()),
        SHA_512_WITH_RSA_ENCRYPTION | ECDSA_WITH_SHA_512 => Some(Sha512::digest(certificate).to_vec()),
        _ => None,
    }
}
