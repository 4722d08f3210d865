//! The load generator: one thread, plain HTTP/1.1 over kept connections, one request at a time on each.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::LocalSet;

use crate::Outcome;

/// Writes the request with this number, on this connection.
pub(crate) type Requests = Box<dyn Fn(usize, u64, &mut Vec<u8>)>;

/// How a server is loaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) connections: usize,
    pub(crate) time: Duration,
    /// Requests a second, spread evenly; as many as the server answers when there is none.
    pub(crate) rate: Option<f64>,
}

/// What came back.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) requests: u64,
    pub(crate) seconds: f64,
    pub(crate) statuses: BTreeMap<u16, u64>,
    times: Histogram,
}

impl Tally {
    pub(crate) fn per_second(&self) -> f64 {
        as_f64(self.requests) / self.seconds.max(1e-9)
    }

    /// The time below which this many thousandths of the requests were answered, in microseconds.
    pub(crate) fn micros_at(&self, thousandths: u64) -> f64 {
        self.times.at(thousandths)
    }

    /// Fails when a status other than the expected one came back. A limit's window rolls over once a minute, and the
    /// request that opens the next one is let in.
    pub(crate) fn expect(&self, status: u16) -> Outcome {
        let is_let_in = |found: u16, count: u64| status == 429 && found == 200 && count == 1;
        let others = self
            .statuses
            .iter()
            .filter(|(found, count)| !is_let_in(**found, **count));
        match others.into_iter().find(|(found, _)| **found != status) {
            Some((found, count)) => Err(format!(
                "{count} answers of {} have status {found} instead of {status}",
                self.requests
            )),
            None if self.requests == 0 => Err("no answer came".to_owned()),
            None => Ok(()),
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of a benchmark are far below 2^52"
)]
pub(crate) fn as_f64(number: u64) -> f64 {
    number as f64
}

/// Loads a server, or several with their share of the connections each, for the given time.
pub(crate) fn drive(servers: &[SocketAddr], load: Load, requests: Requests) -> Outcome<Tally> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let tally = Rc::new(RefCell::new(Tally::default()));
    let requests = Rc::new(requests);
    let local = LocalSet::new();
    local.block_on(&runtime, async {
        let mut streams = Vec::new();
        for server in servers.iter().cycle().take(load.connections) {
            streams.push(connect(*server).await?);
        }
        let start = Instant::now();
        let mut callers = Vec::new();
        for (index, stream) in streams.into_iter().enumerate() {
            let caller = Caller {
                stream,
                index,
                load,
                start,
                buffer: Vec::with_capacity(64 << 10),
            };
            callers.push(tokio::task::spawn_local(
                caller.run(Rc::clone(&requests), Rc::clone(&tally)),
            ));
        }
        for caller in callers {
            caller.await.map_err(|error| error.to_string())??;
        }
        tally.borrow_mut().seconds = start.elapsed().as_secs_f64();
        Ok::<_, String>(())
    })?;
    drop(local);
    let tally = Rc::try_unwrap(tally).map_err(|_| "a caller is still running")?;
    Ok(tally.into_inner())
}

async fn connect(server: SocketAddr) -> Outcome<TcpStream> {
    let stream = TcpStream::connect(server)
        .await
        .map_err(|error| format!("{server}: {error}"))?;
    stream.set_nodelay(true).map_err(|error| error.to_string())?;
    Ok(stream)
}

/// One connection.
struct Caller {
    stream: TcpStream,
    index: usize,
    load: Load,
    start: Instant,
    buffer: Vec<u8>,
}

impl Caller {
    async fn run(mut self, requests: Rc<Requests>, tally: Rc<RefCell<Tally>>) -> Outcome {
        let mut request = Vec::new();
        let mut n: u64 = 0;
        while self.start.elapsed() < self.load.time {
            // With a rate, the time counts from when the request should have gone out: a server that stalls
            // does not get fewer requests for it.
            let since = match self.load.rate {
                None => Instant::now(),
                Some(rate) => {
                    let place = as_f64(n * self.load.connections as u64 + self.index as u64);
                    let due = self.start + Duration::from_secs_f64(place / rate);
                    if due.duration_since(self.start) >= self.load.time {
                        return Ok(());
                    }
                    tokio::time::sleep_until(due.into()).await;
                    due
                }
            };
            request.clear();
            requests(self.index, n, &mut request);
            let answer = self.call(&request).await?;
            let mut tally = tally.borrow_mut();
            tally.requests += 1;
            *tally.statuses.entry(answer).or_default() += 1;
            tally.times.add(since.elapsed());
            n += 1;
        }
        Ok(())
    }

    /// Sends a request and reads its whole answer; the status.
    async fn call(&mut self, request: &[u8]) -> Outcome<u16> {
        let failed = |error: std::io::Error| format!("the connection broke: {error}");
        self.stream.write_all(request).await.map_err(failed)?;
        self.buffer.clear();
        loop {
            if let Some((status, whole)) = head(&self.buffer)?
                && self.buffer.len() >= whole
            {
                return Ok(status);
            }
            if self.stream.read_buf(&mut self.buffer).await.map_err(failed)? == 0 {
                return Err("the server closed the connection".to_owned());
            }
        }
    }
}

/// The status, and the length of the whole answer, once the head is there.
pub(crate) fn head(bytes: &[u8]) -> Outcome<Option<(u16, usize)>> {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Ok(None);
    };
    let text = std::str::from_utf8(&bytes[..end]).map_err(|_| "a head is not text")?;
    let status = text.get(9..12).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| format!("not an answer: {text}"))?;
    let length = text.lines().skip(1).find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().ok())?
    });
    let length = length.ok_or_else(|| format!("an answer without a length: {text}"))?;
    Ok(Some((status, end + 4 + length)))
}

/// Times in buckets a 32nd apart.
struct Histogram(Vec<u64>);

impl Default for Histogram {
    fn default() -> Self {
        Self(vec![0; 64 * 32])
    }
}

impl Histogram {
    fn add(&mut self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).max(32);
        let exponent = nanos.ilog2();
        let place = usize::try_from(u64::from(exponent) * 32 + ((nanos >> (exponent - 5)) & 31)).unwrap_or(0);
        self.0[place] += 1;
    }

    fn at(&self, thousandths: u64) -> f64 {
        let total: u64 = self.0.iter().sum();
        let wanted = (total * thousandths).div_ceil(1_000).max(1);
        let mut seen = 0;
        for (place, count) in (0_u64..).zip(&self.0) {
            seen += count;
            if seen >= wanted {
                let (exponent, part) = (place / 32, place % 32);
                return as_f64((32 + part) << exponent >> 5) / 1_000.0;
            }
        }
        0.0
    }
}
