//! Deliveries over TLS: a certificate that no public authority has signed is refused before anything is sent.

use std::io::Read;
use std::net::TcpListener;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};

use super::*;

/// Signed by itself, for localhost and 127.0.0.1, for a hundred years. It protects nothing.
const CERTIFICATE: &[u8] = include_bytes!("self-signed.pem");

/// What was read of a connection.
type Heard = Result<Vec<u8>, String>;

/// Accepts connections with this certificate, and keeps what it reads of them, which is nothing if the client does not
/// trust it.
fn start() -> (u16, Arc<Mutex<Vec<Heard>>>) {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(CERTIFICATE).unwrap()],
            PrivateKeyDer::from_pem_slice(CERTIFICATE).unwrap(),
        );
    let config = Arc::new(config.unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let seen: Arc<Mutex<Vec<Heard>>> = Arc::default();
    let to = Arc::clone(&seen);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut read = [0; 1_024];
            let read = Stream::new(&mut connection, &mut stream)
                .read(&mut read)
                .map(|count| read[..count].to_vec());
            to.lock().unwrap().push(read.map_err(|error| error.to_string()));
        }
    });
    (port, seen)
}

#[test]
fn a_certificate_that_is_not_trusted_is_refused_and_told() {
    let test = bursar_app::testing::TestDb::sqlite();
    let office = Office::open(&test, NOW, &club(1));
    let (port, seen) = start();
    let id = endpoint(&office, &format!("https://127.0.0.1:{port}/hook"))
        .record
        .id;
    make_group(&office.app(), "One");
    office.worker().step().unwrap();
    let listed = deliveries(&office, id);
    assert_eq!(
        (listed.len(), listed[0].status, listed[0].outcome),
        (1, None, Outcome::Retried)
    );
    let error = listed[0].error.as_deref().unwrap();
    assert!(
        error.contains("certificate") && error.contains("UnknownIssuer"),
        "{error}"
    );
    // It is retried as any failure is, and the receiver has seen nothing of the event.
    assert_eq!(show(&office, id).failing_since, Some(office.now()));
    eventually("the connection ends", || seen.lock().unwrap().len() == 1);
    let read = seen.lock().unwrap()[0].clone();
    assert!(read.is_err(), "{read:?}");
}
