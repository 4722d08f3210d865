//! PostgreSQL's protocol on a blocking socket.
//!
//! Statements are put into a buffer, sent together, and answered in order. A sync marks the end of a flight: the server
//! sends what it has for all of them then, and after an error it skips the rest of the flight.

mod connect;
mod eras;
mod error;
mod inbox;
mod login;
mod stream;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::{BufMut, BytesMut};
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend::{self, BindError};

pub(super) use self::connect::Target;
pub(super) use self::eras::Eras;
pub(in super::super) use self::error::{Told, WireError};
use self::inbox::Inbox;
use self::stream::Stream;
use super::super::value::{PgRow, Value};

/// Copied rows are sent in pieces of this size.
const COPY_BYTES: usize = 64 << 10;
/// How often a connection that waits for a response looks whether its era has ended.
const LOOK_EVERY: Duration = Duration::from_millis(500);

pub(super) struct Wire {
    stream: Stream,
    out: BytesMut,
    inbox: Inbox,
    /// How many syncs were sent and not answered yet.
    unanswered: u32,
    /// Counts the flights that were sent, on all connections.
    flights: Arc<AtomicU64>,
    statements: u64,
    cells: Vec<Option<(usize, usize)>>,
    /// How long the server may take for one flight.
    patience: Option<Duration>,
    deadline: Option<Instant>,
    /// The server's process, as the login told it.
    process: Option<i32>,
    /// Whether sending or receiving failed, so that nobody knows what comes next.
    is_broken: bool,
    eras: Arc<Eras>,
    /// When it was made. Not known before the login is done.
    era: Option<u64>,
}

/// A prepared statement with the types of its parameters and columns, as the numbers in `pg_type`.
#[derive(Debug)]
pub(super) struct Statement {
    name: String,
    parameters: Vec<u32>,
    columns: Vec<u32>,
}

impl Statement {
    pub(super) fn parameters(&self) -> &[u32] {
        &self.parameters
    }

    /// Refuses any other number of values.
    pub(super) fn expect_values(&self, count: usize) -> Result<(), String> {
        match self.parameters.len() {
            parameters if parameters == count => Ok(()),
            parameters => Err(format!(
                "the statement has {parameters} parameters, got {count} values"
            )),
        }
    }
}

/// A part of the response to a statement.
pub(super) enum Event {
    Row(Range<usize>),
    /// The statement is done and changed this many rows.
    Complete(u64),
    Failed(Told),
    /// The flight is done.
    Ready,
}

impl Wire {
    fn new(stream: Stream, flights: Arc<AtomicU64>, eras: Arc<Eras>) -> Self {
        Wire {
            stream,
            out: BytesMut::with_capacity(4 << 10),
            inbox: Inbox::default(),
            unanswered: 0,
            flights,
            statements: 0,
            cells: Vec::new(),
            patience: None,
            deadline: None,
            process: None,
            is_broken: false,
            eras,
            era: None,
        }
    }

    /// The process that serves this session now. Takes a round trip.
    pub(super) fn serving(&mut self) -> Result<Option<i32>, WireError> {
        let rows = self.run("SELECT pg_backend_pid()")?;
        Ok(rows.first().and_then(|row| row.parse().ok()))
    }

    /// The process that the login told. A pooler tells one of its own.
    pub(super) fn process(&self) -> Option<i32> {
        self.process
    }

    pub(super) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// How long the server may stay silent, and how long it may take for a flight. `None` is no limit.
    pub(super) fn limit(&mut self, patience: Option<Duration>) -> Result<(), WireError> {
        self.patience = patience;
        let socket = self.stream.socket();
        socket.limit(patience)?;
        socket.limit_reads(patience.map(|most| most.min(LOOK_EVERY)))?;
        Ok(())
    }

    /// Whether another connection found that its server is gone, so that this one's probably is too. A connection
    /// without a limit is not given up.
    pub(super) fn is_outdated(&self) -> bool {
        self.patience.is_some() && self.era.is_some_and(|era| era != self.eras.now())
    }

    /// Whether the server closed an idle connection. Asks the system without waiting.
    pub(super) fn is_closed(&self) -> bool {
        self.unanswered == 0 && self.inbox.is_empty() && self.stream.socket().is_closed()
    }

    /// Takes a round trip.
    pub(super) fn prepare(&mut self, text: &str) -> Result<Statement, WireError> {
        self.settle()?;
        self.statements += 1;
        let name = format!("s{}", self.statements);
        frontend::parse(&name, text, [], &mut self.out)?;
        frontend::describe(b'S', &name, &mut self.out)?;
        self.sync();
        self.send()?;
        let mut statement = Statement {
            name,
            parameters: Vec::new(),
            columns: Vec::new(),
        };
        loop {
            let (tag, body) = self.receive()?;
            let body = self.inbox.bytes(&body);
            match tag {
                b't' => statement.parameters = inbox::parameter_types(body)?,
                b'T' => statement.columns = inbox::column_types(body)?,
                b'E' => {
                    let told = Told::read(body);
                    return Err(self.refused(told));
                }
                b'Z' => return Ok(statement),
                _ => {}
            }
        }
    }

    /// Puts a statement into the buffer. Without effect if a value does not fit its parameter. `encode` returns false
    /// for NULL.
    pub(super) fn bind<V>(
        &mut self,
        statement: &Statement,
        values: impl ExactSizeIterator<Item = V>,
        encode: impl Fn(&V, u32, &mut BytesMut) -> Result<bool, String>,
    ) -> Result<(), WireError> {
        statement.expect_values(values.len()).map_err(WireError::Value)?;
        let before = self.out.len();
        let bound = frontend::bind(
            "",
            &statement.name,
            [1],
            values.zip(&statement.parameters),
            |(value, kind), out| match encode(&value, *kind, out) {
                Ok(true) => Ok(IsNull::No),
                Ok(false) => Ok(IsNull::Yes),
                Err(error) => Err(error.into()),
            },
            [1],
            &mut self.out,
        );
        let bound = match bound {
            Ok(()) => frontend::execute("", 0, &mut self.out).map_err(WireError::from),
            Err(BindError::Conversion(error)) => Err(WireError::Value(error.to_string())),
            Err(BindError::Serialization(error)) => Err(error.into()),
        };
        if bound.is_err() {
            self.out.truncate(before);
        }
        bound
    }

    /// Ends a flight.
    pub(super) fn sync(&mut self) {
        frontend::sync(&mut self.out);
        self.unanswered += 1;
    }

    pub(super) fn send(&mut self) -> Result<(), WireError> {
        self.flights.fetch_add(1, Ordering::Relaxed);
        self.deadline = self.patience.map(|patience| Instant::now() + patience);
        let sent = self.stream.send(&self.out);
        self.out.clear();
        self.is_broken |= sent.is_err();
        sent.map_err(WireError::from)
    }

    /// How many bytes wait to be sent.
    pub(super) fn buffered(&self) -> usize {
        self.out.len()
    }

    /// Forgets what waits to be sent. There must be no sync in it.
    pub(super) fn discard(&mut self) {
        self.out.clear();
    }

    pub(super) fn event(&mut self) -> Result<Event, WireError> {
        loop {
            let (tag, body) = self.receive()?;
            match tag {
                b'D' => return Ok(Event::Row(body)),
                b'C' => return Ok(Event::Complete(inbox::rows_changed(self.inbox.bytes(&body)))),
                b'I' => return Ok(Event::Complete(0)),
                b'E' => return Ok(Event::Failed(Told::read(self.inbox.bytes(&body)))),
                b'Z' => return Ok(Event::Ready),
                _ => {}
            }
        }
    }

    /// Valid until the next event.
    pub(super) fn bytes(&self, body: &Range<usize>) -> &[u8] {
        self.inbox.bytes(body)
    }

    pub(super) fn row<'r>(
        &'r mut self,
        body: &Range<usize>,
        statement: &'r Statement,
    ) -> Result<PgRow<'r>, WireError> {
        row(self.inbox.bytes(body), &mut self.cells, statement)
    }

    /// A row that was kept.
    pub(super) fn row_in<'r>(
        &'r mut self,
        body: &'r [u8],
        statement: &'r Statement,
    ) -> Result<PgRow<'r>, WireError> {
        row(body, &mut self.cells, statement)
    }

    /// Reads what is left of the responses, and forgets it.
    pub(super) fn settle(&mut self) -> Result<(), WireError> {
        while self.unanswered > 0 {
            self.receive()?;
        }
        Ok(())
    }

    /// Runs statements without parameters. Returns the first column of every row.
    pub(super) fn run(&mut self, text: &str) -> Result<Vec<String>, WireError> {
        self.settle()?;
        self.query(text)?;
        let mut found = Vec::new();
        while self.unanswered > 0 {
            let (tag, body) = self.receive()?;
            let body = self.inbox.bytes(&body);
            match tag {
                b'D' => {
                    inbox::cells(body, &mut self.cells)?;
                    let first = self.cells.first().copied().flatten();
                    let text = first.map_or(&[][..], |(from, to)| &body[from..to]);
                    found.push(String::from_utf8_lossy(text).into_owned());
                }
                b'E' => {
                    let told = Told::read(body);
                    return Err(self.refused(told));
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// The error that the server reported is the one to tell, even if it ends the session.
    pub(super) fn refused(&mut self, told: Told) -> WireError {
        // If the connection is lost with it, it is marked as broken.
        let _ = self.settle();
        told.into()
    }

    /// Loads rows with a COPY statement of binary format.
    pub(super) fn copy<'v, R>(
        &mut self,
        text: &str,
        types: &[u32],
        rows: impl Iterator<Item = R>,
    ) -> Result<(), WireError>
    where
        R: Iterator<Item = Value<'v>>,
    {
        self.settle()?;
        self.query(text)?;
        loop {
            match self.receive()? {
                (b'G', _) => break,
                (b'E', body) => {
                    let told = Told::read(self.inbox.bytes(&body));
                    return Err(self.refused(told));
                }
                _ => {}
            }
        }
        let columns = u16::try_from(types.len()).unwrap_or(u16::MAX);
        let mut piece = BytesMut::from(&b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0"[..]);
        for row in rows {
            piece.put_u16(columns);
            for (value, kind) in row.zip(types) {
                if let Err(error) = value.encode_with_length(*kind, &mut piece) {
                    frontend::copy_fail(&error, &mut self.out)?;
                    self.send()?;
                    self.settle()?;
                    return Err(WireError::Value(error));
                }
            }
            if piece.len() >= COPY_BYTES {
                self.copy_piece(&piece)?;
                piece.clear();
            }
        }
        piece.put_i16(-1);
        self.copy_piece(&piece)?;
        frontend::copy_done(&mut self.out);
        self.send()?;
        while self.unanswered > 0 {
            if let (b'E', body) = self.receive()? {
                let told = Told::read(self.inbox.bytes(&body));
                return Err(self.refused(told));
            }
        }
        Ok(())
    }

    fn copy_piece(&mut self, piece: &BytesMut) -> Result<(), WireError> {
        frontend::CopyData::new(&piece[..])?.write(&mut self.out);
        self.send()
    }

    fn query(&mut self, text: &str) -> Result<(), WireError> {
        frontend::query(text, &mut self.out)?;
        self.unanswered += 1;
        self.send()
    }

    /// The next message: its kind and where its body is.
    fn receive(&mut self) -> Result<(u8, Range<usize>), WireError> {
        let received = self.wait();
        self.is_broken |= received.is_err();
        if let (Err(WireError::Silent), Some(era)) = (&received, self.era) {
            self.eras.end(era);
        }
        received
    }

    fn wait(&mut self) -> Result<(u8, Range<usize>), WireError> {
        loop {
            if let Some((tag, body)) = self.inbox.next()? {
                if tag == b'Z' {
                    self.unanswered = self.unanswered.saturating_sub(1);
                }
                return Ok((tag, body));
            }
            let is_over = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if is_over || self.is_outdated() {
                return Err(WireError::Silent);
            }
            match self.inbox.fill(&mut self.stream) {
                // One read waits for a part of the time only.
                Err(WireError::Silent) if self.deadline.is_some() => {}
                filled => filled?,
            }
        }
    }
}

fn row<'r>(
    body: &'r [u8],
    cells: &'r mut Vec<Option<(usize, usize)>>,
    statement: &'r Statement,
) -> Result<PgRow<'r>, WireError> {
    inbox::cells(body, cells)?;
    Ok(PgRow {
        body,
        cells,
        types: &statement.columns,
    })
}

impl Drop for Wire {
    fn drop(&mut self) {
        // The server notices a closed socket too; this keeps its log clean. A full socket is not waited for.
        self.out.clear();
        frontend::terminate(&mut self.out);
        self.stream.farewell(&self.out);
    }
}
