use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// A server behind a relay that can stop relaying while it keeps its connections open, as a frozen host or a hung proxy
/// does.
#[derive(Debug)]
pub struct Relay {
    pub address: SocketAddr,
    /// How often it fell silent. A connection is relayed until the next time.
    silences: Arc<AtomicUsize>,
}

impl Relay {
    pub fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let silences = Arc::new(AtomicUsize::new(0));
        let all = Arc::clone(&silences);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect(server).unwrap());
                let born = all.load(Ordering::SeqCst);
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let all = Arc::clone(&all);
                    thread::spawn(move || pass_on(from, to, || all.load(Ordering::SeqCst) == born));
                }
            }
        });
        Self { address, silences }
    }

    /// Established connections get no answer any more; new ones work.
    pub fn fall_silent(&self) {
        self.silences.fetch_add(1, Ordering::SeqCst);
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, is_relayed: impl Fn() -> bool) {
    let mut bytes = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        while !is_relayed() {
            thread::sleep(Duration::from_secs(1));
        }
        if to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
