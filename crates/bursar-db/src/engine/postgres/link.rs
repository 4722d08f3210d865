//! A connection with its prepared statements, and the responses that are on their way.

use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::super::ahead::Foreseen;
use super::super::dialect;
use super::super::fault::{Class, Fault};
use super::super::migrate;
use super::super::tx::Locking;
use super::super::value::{OwnedValue, Row, RowInner, Value};
use super::wire::{Event, Statement, Wire};
use crate::error::DbError;

/// A buffer of statements that nobody waits for is sent when it is this long.
const BUFFER_MAX: usize = 64 << 10;

/// The turn of no job.
const NOBODY: u64 = 0;

pub(super) struct Link {
    wire: Wire,
    /// By the text's address and length, which are cheaper to compare than the text.
    statements: HashMap<Key, Arc<Statement>>,
    /// The statements whose responses were not read yet, in their order. All of them were sent, or none.
    queue: VecDeque<Awaited>,
    is_sent: bool,
    /// The number of the job that runs.
    turn: u64,
    /// Set while a response is read. Stays set if the reader panics.
    is_reading: bool,
    /// In a transaction a statement that failed undoes the others, so it must not be passed over.
    is_lane: bool,
}

type Key = (usize, usize, Locking);

struct Awaited {
    what: What,
    statement: Arc<Statement>,
}

enum What {
    /// For whoever asks exactly this in this turn.
    Foreseen {
        sql: &'static str,
        locking: Locking,
        params: Vec<OwnedValue>,
        turn: u64,
    },
    /// Nobody asks for its result. It changes this many rows, if that is known.
    Deferred(Option<u64>),
    /// The schema's version, which must be this program's.
    Version,
}

impl Link {
    pub(super) fn new(wire: Wire, is_lane: bool) -> Self {
        Link {
            wire,
            statements: HashMap::new(),
            queue: VecDeque::new(),
            is_sent: true,
            turn: NOBODY + 1,
            is_reading: false,
            is_lane,
        }
    }

    /// For what is not a prepared statement. Everything before it is done.
    pub(super) fn wire(&mut self) -> Result<&mut Wire, Fault> {
        self.catch_up()?;
        Ok(&mut self.wire)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.wire.is_closed()
    }

    pub(super) fn is_outdated(&self) -> bool {
        self.wire.is_outdated()
    }

    /// Refuses a response that a former primary may have given.
    pub(super) fn require_current(&self) -> Result<(), Fault> {
        match self.is_outdated() {
            true => Err(Fault::lost("the server was replaced while it was asked")),
            false => Ok(()),
        }
    }

    /// Whatever failed, a connection that broke with it is lost.
    pub(super) fn judge(&self, mut fault: Fault) -> Fault {
        if self.wire.is_broken() && fault.class != Class::Caller {
            fault.class = Class::Lost;
        }
        fault
    }

    pub(super) fn run(&mut self, text: &str) -> Result<Vec<String>, Fault> {
        Ok(self.wire()?.run(text)?)
    }

    /// Puts what a job will probably ask into the buffer. `after` counts the jobs that come before it.
    pub(super) fn foresee<'f>(
        &mut self,
        foreseen: impl Iterator<Item = &'f Foreseen>,
        after: u64,
    ) -> Result<(), Fault> {
        for Foreseen { sql, locking, params } in foreseen {
            let statement = self.statement(sql, *locking)?;
            self.put(&statement, params.iter().map(OwnedValue::as_value))?;
            self.queue.push_back(Awaited {
                what: What::Foreseen {
                    sql,
                    locking: *locking,
                    params: params.clone(),
                    turn: self.turn + after,
                },
                statement,
            });
        }
        Ok(())
    }

    /// Puts a statement into the buffer whose result nobody needs. If it fails, whoever waits next is told.
    pub(super) fn defer(
        &mut self,
        sql: &'static str,
        params: &[Value<'_>],
        rows: Option<u64>,
    ) -> Result<(), Fault> {
        self.outdate();
        let statement = self.statement(sql, Locking::Not)?;
        self.put(&statement, params.iter().copied())?;
        self.queue.push_back(Awaited {
            what: What::Deferred(rows),
            statement,
        });
        if self.wire.buffered() > BUFFER_MAX {
            self.catch_up()?;
        }
        Ok(())
    }

    /// Puts the question for the schema's version into the buffer.
    pub(super) fn defer_version(&mut self) -> Result<(), Fault> {
        let statement = self.statement(migrate::VERSION, Locking::Not)?;
        self.put(&statement, [].into_iter())?;
        self.queue.push_back(Awaited {
            what: What::Version,
            statement,
        });
        Ok(())
    }

    /// Prepares a statement if it is not yet.
    pub(super) fn prepare(&mut self, sql: &'static str) -> Result<(), Fault> {
        self.statement(sql, Locking::Not).map(drop)
    }

    /// Sends the buffer.
    pub(super) fn post(&mut self) -> Result<(), Fault> {
        if !self.is_sent {
            self.is_sent = true;
            self.wire.sync();
            self.wire.send()?;
        }
        Ok(())
    }

    /// Waits for all that was put into the buffer.
    pub(super) fn catch_up(&mut self) -> Result<(), Fault> {
        self.recover()?;
        self.post()?;
        while !self.queue.is_empty() {
            self.pass()?;
        }
        Ok(self.wire.settle()?)
    }

    /// Whether a result is on its way that may be another than it must be.
    pub(super) fn is_expecting(&self) -> bool {
        self.queue
            .iter()
            .any(|awaited| matches!(awaited.what, What::Deferred(Some(_)) | What::Version))
    }

    /// Forgets what is in the buffer and was not sent.
    pub(super) fn discard(&mut self) {
        if !self.is_sent {
            self.wire.discard();
            self.queue.clear();
            self.is_sent = true;
        }
    }

    /// The next job runs. What the last one foresaw and did not ask is nobody's.
    pub(super) fn next_turn(&mut self) {
        self.turn += 1;
    }

    /// The same, and reads what is nobody's.
    pub(super) fn end_turn(&mut self) -> Result<(), Fault> {
        self.recover()?;
        self.next_turn();
        let now = self.turn;
        let is_over = |awaited: &Awaited| matches!(awaited.what, What::Foreseen { turn, .. } if turn < now);
        while self.is_sent && self.queue.front().is_some_and(is_over) {
            self.pass()?;
        }
        self.rest()
    }

    pub(super) fn execute(&mut self, sql: &'static str, params: &[Value<'_>]) -> Result<u64, Fault> {
        self.outdate();
        let statement = self.ask(sql, Locking::Not, params)?;
        let mut changed = 0;
        self.read(&statement, |part| {
            if let Part::Changed(rows) = part {
                changed = rows;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(changed)
    }

    pub(super) fn visit(
        &mut self,
        sql: &'static str,
        locking: Locking,
        params: &[Value<'_>],
        mut f: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>, DbError>,
    ) -> Result<(), Fault> {
        self.recover()?;
        let statement = match self.find(sql, locking, params)? {
            Some(statement) => statement,
            None => self.ask(sql, locking, params)?,
        };
        self.read(&statement, |part| match part {
            Part::Row(row) => f(row),
            Part::Changed(_) => Ok(ControlFlow::Continue(())),
        })
    }

    /// Adds a statement to the buffer, sends it, and reads all responses before its own.
    fn ask(
        &mut self,
        sql: &'static str,
        locking: Locking,
        params: &[Value<'_>],
    ) -> Result<Arc<Statement>, Fault> {
        let statement = self.statement(sql, locking)?;
        self.put(&statement, params.iter().copied())?;
        self.post()?;
        while !self.queue.is_empty() {
            self.pass()?;
        }
        Ok(statement)
    }

    /// If this very statement was foreseen, its response is read next.
    fn find(
        &mut self,
        sql: &'static str,
        locking: Locking,
        params: &[Value<'_>],
    ) -> Result<Option<Arc<Statement>>, Fault> {
        let now = self.turn;
        // Not by its address: the same text may be at two.
        let is_it = |awaited: &Awaited| match &awaited.what {
            What::Foreseen {
                sql: its,
                locking: lock,
                params: values,
                turn,
            } => {
                *turn == now
                    && *lock == locking
                    && *its == sql
                    && values.iter().map(OwnedValue::as_value).eq(params.iter().copied())
            }
            What::Deferred(_) | What::Version => false,
        };
        let Some(place) = self.queue.iter().position(is_it) else {
            return Ok(None);
        };
        self.post()?;
        for _ in 0..place {
            self.pass()?;
            if self.queue.is_empty() {
                // It failed, and with it all that was sent behind it.
                return Ok(None);
            }
        }
        Ok(self.queue.pop_front().map(|awaited| awaited.statement))
    }

    /// Reads the response to one statement.
    fn read(
        &mut self,
        statement: &Statement,
        mut f: impl FnMut(Part<'_>) -> Result<ControlFlow<()>, DbError>,
    ) -> Result<(), Fault> {
        let mut result = Ok(());
        let mut is_over = false;
        self.is_reading = true;
        loop {
            match self.wire.event()? {
                Event::Row(body) if !is_over => {
                    let row = self.wire.row(&body, statement)?;
                    match f(Part::Row(&Row(RowInner::Postgres(row)))) {
                        Ok(ControlFlow::Continue(())) => {}
                        Ok(ControlFlow::Break(())) => is_over = true,
                        Err(error) => {
                            is_over = true;
                            result = Err(Fault::caller(error));
                        }
                    }
                }
                Event::Row(_) => {}
                Event::Complete(rows) => {
                    if !is_over && let Err(error) = f(Part::Changed(rows)) {
                        result = Err(Fault::caller(error));
                    }
                    self.is_reading = false;
                    self.rest()?;
                    return result;
                }
                Event::Failed(told) => {
                    self.is_reading = false;
                    self.queue.clear();
                    return Err(self.wire.refused(told).into());
                }
                Event::Ready => return Err(ended()),
            }
        }
    }

    /// Reads the response to the first statement of the queue, which nobody asks for.
    fn pass(&mut self) -> Result<(), Fault> {
        let Some(Awaited { what, statement }) = self.queue.pop_front() else {
            return Ok(());
        };
        let mut version = 0;
        loop {
            match self.wire.event()? {
                Event::Row(body) => {
                    if let What::Version = what {
                        let row = Row(RowInner::Postgres(self.wire.row(&body, &statement)?));
                        version = row.int(0).unwrap_or(0);
                    }
                }
                Event::Complete(changed) => {
                    let is_right = match what {
                        What::Deferred(Some(rows)) => changed == rows,
                        What::Deferred(None) | What::Foreseen { .. } => true,
                        What::Version => migrate::compare_version(version).is_ok(),
                    };
                    return match is_right {
                        true => Ok(()),
                        false => Err(Fault::late("a statement had another result than was expected")),
                    };
                }
                Event::Failed(told) => {
                    self.queue.clear();
                    let fault = Fault::from(self.wire.refused(told));
                    return match (self.is_lane, fault.class) {
                        // Another may be alone with what was foreseen.
                        (false, Class::Statement) => Ok(()),
                        (true, Class::Statement) => Err(Fault {
                            class: Class::Late,
                            ..fault
                        }),
                        _ => Err(fault),
                    };
                }
                Event::Ready => return Err(ended()),
            }
        }
    }

    /// After the last response of a flight the connection is ready for another.
    fn rest(&mut self) -> Result<(), Fault> {
        if self.is_sent && self.queue.is_empty() {
            self.wire.settle()?;
        }
        Ok(())
    }

    /// After a panic in the middle of a response: reads its rest.
    fn recover(&mut self) -> Result<(), Fault> {
        while self.is_reading {
            match self.wire.event()? {
                Event::Row(_) => {}
                Event::Complete(_) => {
                    self.is_reading = false;
                    self.rest()?;
                }
                Event::Failed(told) => {
                    self.is_reading = false;
                    self.queue.clear();
                    return Err(self.wire.refused(told).into());
                }
                Event::Ready => return Err(ended()),
            }
        }
        Ok(())
    }

    /// What was foreseen was asked before a change that comes now, and would not show it.
    fn outdate(&mut self) {
        for awaited in &mut self.queue {
            if let What::Foreseen { turn, .. } = &mut awaited.what {
                *turn = NOBODY;
            }
        }
    }

    /// Adds a statement to the buffer.
    fn put<'v>(
        &mut self,
        statement: &Statement,
        values: impl ExactSizeIterator<Item = Value<'v>>,
    ) -> Result<(), Fault> {
        if self.is_sent {
            // What was sent before is on its way already.
            self.catch_up()?;
        }
        self.wire.bind(statement, values)?;
        self.is_sent = false;
        Ok(())
    }

    fn statement(&mut self, sql: &'static str, locking: Locking) -> Result<Arc<Statement>, Fault> {
        let key = (sql.as_ptr().addr(), sql.len(), locking);
        if let Some(statement) = self.statements.get(&key) {
            return Ok(Arc::clone(statement));
        }
        let mut text = dialect::postgres_text(sql);
        text.push_str(match locking {
            Locking::Not => "",
            Locking::Lock => " FOR UPDATE",
            Locking::Claim => " FOR UPDATE SKIP LOCKED",
        });
        self.catch_up()?;
        let statement = Arc::new(self.wire.prepare(&text)?);
        self.statements.insert(key, Arc::clone(&statement));
        Ok(statement)
    }
}

fn ended() -> Fault {
    Fault::lost("PostgreSQL ended a statement without a result")
}

/// A part of a response.
enum Part<'r> {
    Row(&'r Row<'r>),
    Changed(u64),
}
