//! An HTTP server that receives webhooks: it keeps connections and what it got, and answers as a test scripts it.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A request as the receiver got it.
#[derive(Clone, Debug)]
pub struct Got {
    pub path: String,
    /// Names in lower case.
    pub headers: HashMap<String, String>,
    pub body: String,
    /// What it was answered with; 0 for a connection that was dropped.
    pub status: u16,
}

impl Got {
    /// The event's id.
    pub fn id(&self) -> &str {
        &self.headers["webhook-id"]
    }
}

/// What a receiver does with its n-th request: a status with header lines, or 0 to drop the connection.
type Answer = dyn Fn(usize, &Got) -> (u16, String) + Send + Sync;

#[derive(Clone)]
pub struct Receiver {
    pub address: SocketAddr,
    seen: Arc<Seen>,
}

struct Seen {
    got: Mutex<Vec<Got>>,
    in_flight: AtomicUsize,
    in_flight_max: AtomicUsize,
    answer: Box<Answer>,
}

impl Receiver {
    pub fn start(answer: impl Fn(usize, &Got) -> (u16, String) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let receiver = Self {
            address: listener.local_addr().unwrap(),
            seen: Arc::new(Seen {
                got: Mutex::default(),
                in_flight: AtomicUsize::new(0),
                in_flight_max: AtomicUsize::new(0),
                answer: Box::new(answer),
            }),
        };
        let seen = Arc::clone(&receiver.seen);
        // The threads end with the test's process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&seen);
                thread::spawn(move || while seen.one(&stream).is_some() {});
            }
        });
        receiver
    }

    /// Accepts everything.
    pub fn kind() -> Self {
        Self::start(|_, _| (200, String::new()))
    }

    pub fn url(&self) -> String {
        format!("http://{}/hook?from=bursar", self.address)
    }

    pub fn got(&self) -> Vec<Got> {
        self.seen.got.lock().unwrap().clone()
    }

    /// Looks at what it got without a copy.
    pub fn look<T>(&self, look: impl FnOnce(&[Got]) -> T) -> T {
        look(&self.seen.got.lock().unwrap())
    }

    pub fn count(&self) -> usize {
        self.seen.got.lock().unwrap().len()
    }

    /// The most requests that were under way at once.
    pub fn in_flight_max(&self) -> usize {
        self.seen.in_flight_max.load(Ordering::SeqCst)
    }
}

impl Seen {
    /// Serves one request. `None` ends the connection; a client that was killed is no error.
    fn one(&self, stream: &TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let now = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        self.in_flight_max.fetch_max(now, Ordering::SeqCst);
        let response = self.take(&mut reader, &line);
        self.in_flight.fetch_sub(1, Ordering::SeqCst);
        (&*stream).write_all(response?.as_bytes()).ok()
    }

    /// The response, unless the connection is dropped.
    fn take(&self, reader: &mut BufReader<&TcpStream>, line: &str) -> Option<String> {
        let path = line.split(' ').nth(1)?.to_owned();
        let mut headers = HashMap::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            match line.trim_end().split_once(": ") {
                Some((name, value)) => headers.insert(name.to_lowercase(), value.to_owned()),
                None => break,
            };
        }
        let length = headers.get("content-length");
        let mut body = vec![0; length.and_then(|text| text.parse().ok()).unwrap_or(0)];
        reader.read_exact(&mut body).ok()?;
        let mut one = Got {
            path,
            headers,
            body: String::from_utf8(body).ok()?,
            status: 0,
        };
        let number = self.got.lock().unwrap().len();
        let (status, more) = (self.answer)(number, &one);
        one.status = status;
        self.got.lock().unwrap().push(one);
        (status != 0).then(|| format!("HTTP/1.1 {status} Any\r\ncontent-length: 2\r\n{more}\r\nok"))
    }
}
