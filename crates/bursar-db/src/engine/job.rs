//! A unit of work and the channel for its result.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tokio::sync::oneshot;

use super::fault::Fault;
use super::reply::Reply;
use super::tx::Tx;
use crate::error::DbError;

#[derive(Debug)]
pub(super) enum Outcome {
    /// Keep and commit it.
    Done,
    /// Undo it; the result is an error.
    Refused,
    /// A statement failed in a way that affects the transaction, whatever the job made of it.
    Failed(Fault),
}

pub(super) trait WriteJob: Send {
    fn is_abandoned(&self) -> bool;
    /// Runs the work and stores its result. May be called again if the transaction was undone.
    fn run(&mut self, tx: Tx<'_>) -> Outcome;
    fn answer(self: Box<Self>);
    fn fail(self: Box<Self>, error: DbError);
}

pub(super) trait ReadJob: Send {
    fn is_abandoned(&self) -> bool;
    /// Runs the work and sends the result. Returns false if it panicked, which leaves the connection in an unknown
    /// state.
    fn run(self: Box<Self>, tx: Tx<'_>) -> bool;
    fn fail(self: Box<Self>, error: DbError);
}

struct Work<T, E, W> {
    work: W,
    result: Option<Result<T, E>>,
    sender: oneshot::Sender<Result<T, E>>,
}

pub(super) fn write<T, E, W>(work: W) -> (Box<dyn WriteJob>, Reply<T, E>)
where
    T: Send + 'static,
    E: From<DbError> + Send + 'static,
    W: FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
{
    let (sender, receiver) = oneshot::channel();
    (
        Box::new(Work {
            work,
            result: None,
            sender,
        }),
        Reply::waiting(receiver),
    )
}

impl<T, E, W> WriteJob for Work<T, E, W>
where
    T: Send,
    E: From<DbError> + Send,
    W: FnMut(&mut Tx<'_>) -> Result<T, E> + Send,
{
    fn is_abandoned(&self) -> bool {
        self.sender.is_closed()
    }

    fn run(&mut self, mut tx: Tx<'_>) -> Outcome {
        let (result, _) = guarded(&mut self.work, &mut tx);
        let failure = tx.into_failure();
        // On PostgreSQL a failed statement breaks all that follow it. A failed statement fails the job on both engines,
        // so that no job succeeds on one and fails on the other.
        let result = match (&failure, result) {
            (Some(fault), Ok(_)) => Err(fault.error.clone().into()),
            (_, result) => result,
        };
        let done = result.is_ok();
        self.result = Some(result);
        match failure {
            Some(fault) => Outcome::Failed(fault),
            None if done => Outcome::Done,
            None => Outcome::Refused,
        }
    }

    fn answer(self: Box<Self>) {
        if let Some(result) = self.result {
            // If nobody listens any more, the work is done all the same.
            let _ = self.sender.send(result);
        }
    }

    fn fail(self: Box<Self>, error: DbError) {
        let _ = self.sender.send(Err(error.into()));
    }
}

struct Reading<T, E, W> {
    work: W,
    sender: oneshot::Sender<Result<T, E>>,
}

pub(super) fn read<T, E, W>(work: W) -> (Box<dyn ReadJob>, Reply<T, E>)
where
    T: Send + 'static,
    E: From<DbError> + Send + 'static,
    W: FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
{
    let (sender, receiver) = oneshot::channel();
    (Box::new(Reading { work, sender }), Reply::waiting(receiver))
}

impl<T, E, W> ReadJob for Reading<T, E, W>
where
    T: Send,
    E: From<DbError> + Send,
    W: FnOnce(&mut Tx<'_>) -> Result<T, E> + Send,
{
    fn is_abandoned(&self) -> bool {
        self.sender.is_closed()
    }

    fn run(self: Box<Self>, mut tx: Tx<'_>) -> bool {
        let (result, intact) = guarded(self.work, &mut tx);
        let _ = self.sender.send(result);
        intact
    }

    fn fail(self: Box<Self>, error: DbError) {
        let _ = self.sender.send(Err(error.into()));
    }
}

/// Turns a panic into an error. Returns false if the work panicked.
pub(super) fn guarded<T, E: From<DbError>>(
    work: impl FnOnce(&mut Tx<'_>) -> Result<T, E>,
    tx: &mut Tx<'_>,
) -> (Result<T, E>, bool) {
    match catch_unwind(AssertUnwindSafe(|| work(tx))) {
        Ok(result) => (result, true),
        Err(payload) => (Err(DbError::Panicked(panic_text(payload.as_ref())).into()), false),
    }
}

fn panic_text(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".to_owned())
}
