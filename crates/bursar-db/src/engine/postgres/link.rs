//! A connection with its prepared statements, and the responses that are on their way.

use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::BytesMut;

use super::super::ahead::{Change, Foreseen, may_change};
use super::super::dialect;
use super::super::fault::{Class, Fault};
use super::super::migrate;
use super::super::tx::Locking;
use super::super::value::{Row, RowInner, Value, oid};
use super::answers::{Answers, Rows};
use super::groups::{Array, Group, Groups};
use super::wire::{Event, Statement, Wire, WireError};
use crate::error::DbError;

/// A buffer of statements that nobody waits for is sent when it is this long.
const BUFFER_MAX: usize = 64 << 10;
/// Changes that are kept to be sent together are put into the buffer when they are this long.
const GROUPS_MAX: usize = 512 << 10;

pub(super) struct Link {
    wire: Wire,
    /// By the text's address and length, which are cheaper to compare than the text.
    statements: HashMap<Key, Arc<Statement>>,
    /// The statements whose responses were not read yet, in their order. All of them were sent, or none.
    queue: VecDeque<Awaited>,
    is_sent: bool,
    /// Changes that are not in the buffer yet. They come behind all that is.
    groups: Groups,
    answers: Answers,
    /// Set while a response is read. Stays set if the reader panics.
    is_reading: bool,
    /// In a transaction a statement that failed undoes the others, so it must not be passed over.
    is_lane: bool,
}

type Key = (usize, usize, Form);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Form {
    One(Locking),
    /// For many rows.
    Many,
}

struct Awaited {
    what: What,
    statement: Arc<Statement>,
}

enum What {
    /// It goes to this place of the answers. With several of them, a row says by its first column whose it is.
    Foreseen(Vec<usize>),
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
            groups: Groups::default(),
            answers: Answers::default(),
            is_reading: false,
            is_lane,
        }
    }

    /// For what is not a prepared statement. Everything before it is done, and what was foreseen is forgotten.
    pub(super) fn wire(&mut self) -> Result<&mut Wire, Fault> {
        self.put_groups()?;
        self.forget()?;
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

    /// Forgets what was foreseen for other jobs.
    pub(super) fn forget(&mut self) -> Result<(), Fault> {
        self.catch_up()?;
        self.answers.clear();
        Ok(())
    }

    /// Puts what the jobs will probably ask into the buffer. What several of them ask is asked once.
    pub(super) fn foresee<'f>(
        &mut self,
        jobs: impl Iterator<Item = &'f [Foreseen]>,
        is_known: impl Fn(&Foreseen) -> bool,
    ) -> Result<(), Fault> {
        let mut together = Groups::default();
        let mut places: Vec<Vec<usize>> = Vec::new();
        'jobs: for (job, foreseen) in jobs.enumerate() {
            for foreseen in foreseen {
                if is_known(foreseen) || self.answers.share(foreseen, job) {
                    continue;
                }
                // With more, each side could wait for the other to read. The jobs left out ask for themselves.
                if self.wire.buffered() + together.bytes() > BUFFER_MAX {
                    break 'jobs;
                }
                let statement = self.statement(foreseen.sql, foreseen.locking)?;
                let answer = self.answers.expect(foreseen, Arc::clone(&statement), job);
                if foreseen.locking != Locking::Not {
                    self.put(&statement, foreseen.values())?;
                    self.expect(What::Foreseen(vec![answer]), statement);
                    continue;
                }
                let group = together
                    .ask(foreseen.sql, foreseen.values(), &statement)
                    .map_err(WireError::Value)?;
                places.resize_with(places.len().max(group + 1), Vec::new);
                places[group].push(answer);
            }
        }
        for (group, places) in together.take().into_iter().zip(places) {
            self.put_group(&group, |which| match which {
                Which::All => What::Foreseen(places.clone()),
                Which::One(row) => What::Foreseen(places[row..=row].to_vec()),
            })?;
        }
        Ok(())
    }

    /// Keeps a change whose result nobody needs, to be sent with others. If it fails, whoever waits next is told.
    pub(super) fn defer(&mut self, change: &Change<'_>) -> Result<(), Fault> {
        self.answers.spoil(change);
        let statement = self.statement(change.sql, Locking::Not)?;
        self.groups.add(change, &statement).map_err(WireError::Value)?;
        match self.groups.bytes() > GROUPS_MAX {
            true => self.put_groups(),
            false => Ok(()),
        }
    }

    /// Puts a statement into the buffer that changes no row, such as the begin of a transaction.
    pub(super) fn command(&mut self, sql: &'static str) -> Result<(), Fault> {
        self.put_groups()?;
        let statement = self.statement(sql, Locking::Not)?;
        self.put(&statement, [].into_iter())?;
        self.expect_soon(What::Deferred(None), statement)
    }

    /// Puts the changes that were kept into the buffer.
    pub(super) fn put_groups(&mut self) -> Result<(), Fault> {
        for group in self.groups.take() {
            self.put_group(&group, |which| {
                What::Deferred(group.each.map(|each| match which {
                    Which::All => each * group.rows,
                    Which::One(_) => each,
                }))
            })?;
        }
        Ok(())
    }

    /// Puts a group into the buffer, as one statement if it can be. `what` tells what its rows are for.
    fn put_group(&mut self, group: &Group, what: impl Fn(Which) -> What) -> Result<(), Fault> {
        let many = match group.rows {
            1 => None,
            _ => self.statement_of_many(group)?,
        };
        if let Some(many) = many {
            self.turn()?;
            self.wire
                .bind(&many, group.arrays(), |array, _, out| array.encode(out))?;
            return self.expect_soon(what(Which::All), many);
        }
        for (number, row) in group.each_row().enumerate() {
            self.turn()?;
            self.wire
                .bind(&group.statement, row.into_iter(), |value, _, out| {
                    out.extend_from_slice(value.unwrap_or_default());
                    Ok(value.is_some())
                })?;
            self.expect_soon(what(Which::One(number)), Arc::clone(&group.statement))?;
        }
        Ok(())
    }

    /// A statement was put into the buffer.
    fn expect(&mut self, what: What, statement: Arc<Statement>) {
        self.queue.push_back(Awaited { what, statement });
    }

    /// The same, and sends a long buffer.
    fn expect_soon(&mut self, what: What, statement: Arc<Statement>) -> Result<(), Fault> {
        self.expect(what, statement);
        match self.wire.buffered() > BUFFER_MAX {
            true => self.catch_up(),
            false => Ok(()),
        }
    }

    /// Puts the question for the schema's version into the buffer.
    pub(super) fn defer_version(&mut self) -> Result<(), Fault> {
        let statement = self.statement(migrate::VERSION, Locking::Not)?;
        self.put(&statement, [].into_iter())?;
        self.expect(What::Version, statement);
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
        self.pass_all()?;
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
        self.groups.take();
        if !self.is_sent {
            self.wire.discard();
            self.queue.clear();
            self.answers.clear();
            self.is_sent = true;
        }
    }

    /// This job runs next.
    pub(super) fn turn_to(&mut self, job: usize) {
        self.answers.turn_to(job);
    }

    /// The next job runs. If nothing was foreseen for it and those behind it, reads what is nobody's.
    pub(super) fn end_turn(&mut self) -> Result<(), Fault> {
        self.recover()?;
        if self.answers.next_turn() {
            self.forget()?;
        }
        Ok(())
    }

    pub(super) fn execute(&mut self, sql: &'static str, params: &[Value<'_>]) -> Result<u64, Fault> {
        self.answers.spoil(&Change::any(sql, params));
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
        f: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>, DbError>,
    ) -> Result<(), Fault> {
        self.recover()?;
        if may_change(sql) {
            self.answers.spoil(&Change::any(sql, params));
        }
        if let Some(place) = self.answers.find(sql, locking, params) {
            self.arrive(place)?;
            if let Some((statement, rows)) = self.answers.take(place) {
                let visited = self.visit_rows(&statement, &rows, f);
                self.answers.put(place, rows);
                return visited;
            }
        }
        let statement = self.ask(sql, locking, params)?;
        self.read_rows(&statement, f)
    }

    /// Asks for the rows with these keys, by a text for PostgreSQL whose only parameter is their array.
    pub(super) fn claim(
        &mut self,
        sql: &'static str,
        keys: &[[u8; 16]],
        f: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>, DbError>,
    ) -> Result<(), Fault> {
        let statement = self.statement(sql, Locking::Not)?;
        let mut values = BytesMut::new();
        for key in keys {
            let encoded = Value::Bytes(key).encode_with_length(oid::BYTEA, &mut values);
            encoded.map_err(WireError::Value)?;
        }
        self.turn()?;
        let array = Array {
            kind: oid::BYTEA,
            count: keys.len() as u64,
            values: &values,
        };
        self.wire
            .bind(&statement, [array].into_iter(), |array, _, out| array.encode(out))?;
        self.post()?;
        self.pass_all()?;
        self.read_rows(&statement, f)
    }

    /// Adds a statement to the buffer, sends it, and reads all responses before its own.
    fn ask(
        &mut self,
        sql: &'static str,
        locking: Locking,
        params: &[Value<'_>],
    ) -> Result<Arc<Statement>, Fault> {
        self.put_groups()?;
        let statement = self.statement(sql, locking)?;
        self.put(&statement, params.iter().copied())?;
        self.post()?;
        self.pass_all()?;
        Ok(statement)
    }

    /// Reads responses until this one was read, or until one failed and with it all that was sent behind it.
    fn arrive(&mut self, place: usize) -> Result<(), Fault> {
        while !self.answers.is_there(place) && !self.queue.is_empty() {
            self.post()?;
            self.pass()?;
        }
        self.rest()
    }

    fn visit_rows(
        &mut self,
        statement: &Statement,
        rows: &[Box<[u8]>],
        mut f: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>, DbError>,
    ) -> Result<(), Fault> {
        for row in rows {
            let row = Row(RowInner::Postgres(self.wire.row_in(row, statement)?));
            match f(&row) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => break,
                Err(error) => return Err(Fault::caller(error)),
            }
        }
        Ok(())
    }

    fn read_rows(
        &mut self,
        statement: &Statement,
        mut f: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>, DbError>,
    ) -> Result<(), Fault> {
        self.read(statement, |part| match part {
            Part::Row(row) => f(row),
            Part::Changed(_) => Ok(ControlFlow::Continue(())),
        })
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

    fn pass_all(&mut self) -> Result<(), Fault> {
        while !self.queue.is_empty() {
            self.pass()?;
        }
        Ok(())
    }

    /// Reads the response to the first statement of the queue. What was foreseen is kept for whoever asks.
    fn pass(&mut self) -> Result<(), Fault> {
        let Some(Awaited { what, statement }) = self.queue.pop_front() else {
            return Ok(());
        };
        let mut version = 0;
        let mut found: Vec<Rows> = match &what {
            What::Foreseen(places) => vec![Vec::new(); places.len()],
            What::Deferred(_) | What::Version => Vec::new(),
        };
        loop {
            match self.wire.event()? {
                Event::Row(body) => match &what {
                    What::Version => {
                        let row = Row(RowInner::Postgres(self.wire.row(&body, &statement)?));
                        version = row.int(0).unwrap_or(0);
                    }
                    What::Foreseen(places) => {
                        let body = self.wire.bytes(&body);
                        let row = match places.len() {
                            1 => Some((0, body.into())),
                            _ => row_of(body),
                        };
                        let (number, row) = row.ok_or_else(ended)?;
                        if places
                            .get(number)
                            .is_some_and(|place| self.answers.is_wanted(*place))
                        {
                            found[number].push(row);
                        }
                    }
                    What::Deferred(_) => {}
                },
                Event::Complete(changed) => {
                    let is_right = match what {
                        What::Deferred(Some(rows)) => changed == rows,
                        What::Deferred(None) => true,
                        What::Foreseen(places) => {
                            for (place, rows) in places.into_iter().zip(found) {
                                self.answers.put(place, rows);
                            }
                            true
                        }
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
                    return match fault.class {
                        // Another may be alone with what was foreseen.
                        Class::Statement if !self.is_lane => Ok(()),
                        _ => Err(fault.unawaited()),
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

    /// Adds a statement to the buffer.
    fn put<'v>(
        &mut self,
        statement: &Statement,
        values: impl ExactSizeIterator<Item = Value<'v>>,
    ) -> Result<(), Fault> {
        self.turn()?;
        self.wire.bind(statement, values, Value::encode)?;
        Ok(())
    }

    /// Begins a new buffer if the last one was sent.
    fn turn(&mut self) -> Result<(), Fault> {
        if self.is_sent {
            // What was sent before is on its way already.
            self.catch_up()?;
            self.is_sent = false;
        }
        Ok(())
    }

    /// `None` if its text is for one row alone.
    fn statement_of_many(&mut self, group: &Group) -> Result<Option<Arc<Statement>>, Fault> {
        let key = (group.sql.as_ptr().addr(), group.sql.len(), Form::Many);
        if let Some(statement) = self.statements.get(&key) {
            return Ok(Some(Arc::clone(statement)));
        }
        let one = dialect::postgres_text(group.sql);
        match dialect::postgres_many(&one, group.statement.parameters()) {
            // Whoever takes one row after the other needs none.
            Some(text) => self.prepare_text(key, &text).map(Some).map_err(Fault::unawaited),
            None => Ok(None),
        }
    }

    fn statement(&mut self, sql: &'static str, locking: Locking) -> Result<Arc<Statement>, Fault> {
        let key = (sql.as_ptr().addr(), sql.len(), Form::One(locking));
        if let Some(statement) = self.statements.get(&key) {
            return Ok(Arc::clone(statement));
        }
        let mut text = dialect::postgres_text(sql);
        text.push_str(match locking {
            Locking::Not => "",
            Locking::Lock => " FOR UPDATE",
            Locking::Claim => " FOR UPDATE SKIP LOCKED",
        });
        self.prepare_text(key, &text)
    }

    fn prepare_text(&mut self, key: Key, text: &str) -> Result<Arc<Statement>, Fault> {
        self.catch_up()?;
        let statement = Arc::new(self.wire.prepare(text)?);
        self.statements.insert(key, Arc::clone(&statement));
        Ok(statement)
    }
}

fn ended() -> Fault {
    Fault::lost("PostgreSQL ended a statement without a result")
}

/// A row of a statement for many without its first column, which is the number of the one that it is for.
fn row_of(body: &[u8]) -> Option<(usize, Box<[u8]>)> {
    // How many columns, the length of the first, and the first.
    let (columns, rest) = body.split_first_chunk::<2>()?;
    let (_, rest) = rest.split_first_chunk::<4>()?;
    let (number, rest) = rest.split_first_chunk::<8>()?;
    let columns = u16::from_be_bytes(*columns).checked_sub(1)?;
    let number = usize::try_from(i64::from_be_bytes(*number))
        .ok()?
        .checked_sub(1)?;
    Some((number, [&columns.to_be_bytes(), rest].concat().into()))
}

/// Which rows of a group.
#[derive(Clone, Copy)]
enum Which {
    All,
    One(usize),
}

/// A part of a response.
enum Part<'r> {
    Row(&'r Row<'r>),
    Changed(u64),
}
