//! A connection with its prepared statements, and the responses that are on their way.

use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::super::ahead::Foreseen;
use super::super::dialect;
use super::super::fault::{Class, Fault};
use super::super::tx::Locking;
use super::super::value::{OwnedValue, Row, RowInner, Value};
use super::wire::{Event, Statement, Wire};
use crate::error::DbError;

pub(super) struct Link {
    wire: Wire,
    /// By the text's address and length, which are cheaper to compare than the text.
    statements: HashMap<Key, Arc<Statement>>,
    /// What was sent before anybody asked, in the order of the responses.
    ahead: VecDeque<Awaited>,
    /// The number of the job that runs.
    turn: u64,
}

type Key = (usize, usize, Locking);

struct Awaited {
    sql: &'static str,
    params: Vec<OwnedValue>,
    statement: Arc<Statement>,
    turn: u64,
}

fn key(sql: &'static str, locking: Locking) -> Key {
    (sql.as_ptr().addr(), sql.len(), locking)
}

impl Link {
    pub(super) fn new(wire: Wire) -> Self {
        Link {
            wire,
            statements: HashMap::new(),
            ahead: VecDeque::new(),
            turn: 0,
        }
    }

    /// For what is not a prepared statement. Forgets what was sent ahead.
    pub(super) fn wire(&mut self) -> &mut Wire {
        self.ahead.clear();
        &mut self.wire
    }

    /// Whatever failed, a connection that broke with it is lost.
    pub(super) fn judge(&self, mut fault: Fault) -> Fault {
        if self.wire.is_broken() && fault.class != Class::Caller {
            fault.class = Class::Lost;
        }
        fault
    }

    pub(super) fn run(&mut self, text: &str) -> Result<Vec<String>, Fault> {
        Ok(self.wire().run(text)?)
    }

    /// The first job's are for the turn that is next.
    pub(super) fn send_ahead<'f>(&mut self, jobs: impl Iterator<Item = &'f [Foreseen]>) -> Result<(), Fault> {
        self.forget()?;
        let mut awaited = VecDeque::new();
        for (turn, job) in (self.turn..).zip(jobs) {
            for foreseen in job {
                let statement = self.statement(foreseen.sql, Locking::Not)?;
                awaited.push_back(Awaited {
                    sql: foreseen.sql,
                    params: foreseen.params.clone(),
                    statement,
                    turn,
                });
            }
        }
        for awaited in &awaited {
            self.wire.bind(
                &awaited.statement,
                awaited.params.iter().map(OwnedValue::as_value),
            )?;
        }
        if awaited.is_empty() {
            return Ok(());
        }
        self.ahead = awaited;
        self.wire.sync();
        Ok(self.wire.send()?)
    }

    pub(super) fn end_turn(&mut self) -> Result<(), Fault> {
        let ended = self.turn;
        self.turn += 1;
        while self.ahead.front().is_some_and(|awaited| awaited.turn <= ended) {
            self.skip()?;
        }
        Ok(())
    }

    pub(super) fn execute(&mut self, sql: &'static str, params: &[Value<'_>]) -> Result<u64, Fault> {
        let statement = self.ask(sql, Locking::Not, params)?;
        let mut changed = 0;
        self.read(&statement, |event| {
            if let Told::Changed(rows) = event {
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
        let statement = match self.find_ahead(sql, locking, params)? {
            Some(statement) => statement,
            None => self.ask(sql, locking, params)?,
        };
        self.read(&statement, |event| match event {
            Told::Row(row) => f(row),
            Told::Changed(_) => Ok(ControlFlow::Continue(())),
        })
    }

    /// Sends one statement and ends the flight.
    fn ask(
        &mut self,
        sql: &'static str,
        locking: Locking,
        params: &[Value<'_>],
    ) -> Result<Arc<Statement>, Fault> {
        self.forget()?;
        let statement = self.statement(sql, locking)?;
        self.wire.bind(&statement, params.iter().copied())?;
        self.wire.sync();
        self.wire.send()?;
        Ok(statement)
    }

    /// If this very statement was sent ahead, its response is read next.
    fn find_ahead(
        &mut self,
        sql: &'static str,
        locking: Locking,
        params: &[Value<'_>],
    ) -> Result<Option<Arc<Statement>>, Fault> {
        let turn = self.turn;
        // The same text may be at two addresses.
        let is_it = |awaited: &Awaited| {
            awaited.turn == turn
                && locking == Locking::Not
                && awaited.sql == sql
                && awaited
                    .params
                    .iter()
                    .map(OwnedValue::as_value)
                    .eq(params.iter().copied())
        };
        let Some(place) = self.ahead.iter().position(is_it) else {
            return Ok(None);
        };
        for _ in 0..place {
            self.skip()?;
            if self.ahead.is_empty() {
                // It failed, and with it all that was sent behind it.
                return Ok(None);
            }
        }
        Ok(self.ahead.pop_front().map(|awaited| awaited.statement))
    }

    /// Reads the response to one statement. After the last of a flight the connection is ready for another.
    fn read(
        &mut self,
        statement: &Statement,
        mut f: impl FnMut(Told<'_>) -> Result<ControlFlow<()>, DbError>,
    ) -> Result<(), Fault> {
        let mut result = Ok(());
        let mut is_over = false;
        loop {
            match self.wire.event()? {
                Event::Row(body) if !is_over => {
                    let row = self.wire.row(&body, statement)?;
                    match f(Told::Row(&Row(RowInner::Postgres(row)))) {
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
                    if !is_over && let Err(error) = f(Told::Changed(rows)) {
                        result = Err(Fault::caller(error));
                    }
                    if self.ahead.is_empty() {
                        self.wire.settle()?;
                    }
                    return result;
                }
                Event::Failed(told) => {
                    self.ahead.clear();
                    return Err(self.wire.refused(told).into());
                }
                Event::Ready => {
                    return Err(Fault::lost("PostgreSQL ended a statement without a result"));
                }
            }
        }
    }

    /// Reads past the response to the first statement that was sent ahead.
    fn skip(&mut self) -> Result<(), Fault> {
        self.ahead.pop_front();
        loop {
            match self.wire.event()? {
                Event::Row(_) => {}
                Event::Complete(_) if self.ahead.is_empty() => return Ok(self.wire.settle()?),
                Event::Complete(_) => return Ok(()),
                Event::Failed(_) | Event::Ready => return self.forget(),
            }
        }
    }

    /// Reads past everything that was sent ahead.
    fn forget(&mut self) -> Result<(), Fault> {
        self.ahead.clear();
        Ok(self.wire.settle()?)
    }

    fn statement(&mut self, sql: &'static str, locking: Locking) -> Result<Arc<Statement>, Fault> {
        let key = key(sql, locking);
        if let Some(statement) = self.statements.get(&key) {
            return Ok(Arc::clone(statement));
        }
        let mut text = dialect::postgres_parameters(sql);
        text.push_str(match locking {
            Locking::Not => "",
            Locking::Lock => " FOR UPDATE",
            Locking::Claim => " FOR UPDATE SKIP LOCKED",
        });
        let statement = Arc::new(self.wire.prepare(&text)?);
        self.statements.insert(key, Arc::clone(&statement));
        Ok(statement)
    }
}

/// A part of a response.
enum Told<'r> {
    Row(&'r Row<'r>),
    Changed(u64),
}
