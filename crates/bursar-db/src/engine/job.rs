//! A unit of work and the one who waits for its answer.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tokio::sync::oneshot;

use super::fault::Fault;
use super::reply::Reply;
use super::tx::Tx;
use crate::error::DbError;

/// How a run of a job ended.
#[derive(Debug)]
pub(super) enum Outcome {
    /// To be kept and committed.
    Done,
    /// To be undone; the answer is an error.
    Refused,
    /// A statement failed in a way that concerns the transaction, whatever the job made of it.
    Failed(Fault),
}

/// A write, whatever its answer's type.
pub(super) trait WriteJob: Send {
    /// Whether nobody waits for the answer any more.
    fn is_abandoned(&self) -> bool;
    /// Runs the work and keeps its answer. May be called again when the transaction was undone.
    fn run(&mut self, tx: Tx<'_>) -> Outcome;
    /// Gives the answer that is kept.
    fn answer(self: Box<Self>);
    /// Gives an error instead.
    fn fail(self: Box<Self>, error: DbError);
}

/// A read, whatever its answer's type.
pub(super) trait ReadJob: Send {
    /// Whether nobody waits for the answer any more.
    fn is_abandoned(&self) -> bool;
    /// Runs the work and answers. False if it panicked, so that the connection's state is unknown.
    fn run(self: Box<Self>, tx: Tx<'_>) -> bool;
    /// Gives an error instead.
    fn fail(self: Box<Self>, error: DbError);
}

struct Work<T, E, W> {
    work: W,
    result: Option<Result<T, E>>,
    sender: oneshot::Sender<Result<T, E>>,
}

/// Boxes a write and hands out the reply it will answer to.
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
        // On PostgreSQL a failed statement spoils all that follows it. So that a job cannot succeed on one engine
        // and fail on the other, a failed statement fails the job on both.
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
            // Nobody listens any more: the work is done all the same.
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

/// Boxes a read and hands out the reply it will answer to.
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

/// Runs work and turns a panic into an error. False if it panicked.
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
