//! The result of work given to the database.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::sync::oneshot;

use crate::error::DbError;

/// Await it, or [`wait`](Reply::wait) for it on a thread of your own.
///
/// Dropping it tells the database that nobody listens: a job that has not started does not run.
#[must_use = "a job whose reply is dropped may not run"]
pub struct Reply<T, E>(Inner<T, E>);

enum Inner<T, E> {
    Ready(Option<Result<T, E>>),
    Waiting(oneshot::Receiver<Result<T, E>>),
}

// Nothing in it is pinned: the receiver is `Unpin`, and the result is only moved out.
impl<T, E> Unpin for Reply<T, E> {}

impl<T, E: From<DbError>> Reply<T, E> {
    pub(super) fn ready(result: Result<T, E>) -> Self {
        Reply(Inner::Ready(Some(result)))
    }

    pub(super) fn waiting(receiver: oneshot::Receiver<Result<T, E>>) -> Self {
        Reply(Inner::Waiting(receiver))
    }

    /// Blocks until the result is there. For commands and tests; it panics on an async thread.
    pub fn wait(self) -> Result<T, E> {
        match self.0 {
            Inner::Ready(result) => result.unwrap_or_else(|| Err(gone())),
            Inner::Waiting(receiver) => receiver.blocking_recv().unwrap_or_else(|_| Err(gone())),
        }
    }
}

impl<T, E: From<DbError>> Future for Reply<T, E> {
    type Output = Result<T, E>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Inner::Ready(result) => Poll::Ready(result.take().unwrap_or_else(|| Err(gone()))),
            Inner::Waiting(receiver) => Pin::new(receiver)
                .poll(context)
                .map(|received| received.unwrap_or_else(|_| Err(gone()))),
        }
    }
}

fn gone<E: From<DbError>>() -> E {
    DbError::Unavailable("it shut down before it could respond".to_owned()).into()
}
