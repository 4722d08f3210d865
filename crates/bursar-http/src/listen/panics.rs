//! Panics that end one request and nothing else.

use std::any::Any;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;

/// A panic's message. The process's panic hook prints where it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panicked(String);

impl Panicked {
    fn new(payload: &(dyn Any + Send)) -> Self {
        let message = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned());
        Self(message.unwrap_or_else(|| "a panic without a message".to_owned()))
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Panicked {}

/// Turns a panic into an error. Takes the future pinned: a request's future has some kilobytes, and passing it by
/// value would copy them.
pub async fn catch_panic<F: Future>(mut future: Pin<&mut F>) -> Result<F::Output, Panicked> {
    poll_fn(|context| {
        // The future is never polled again after a panic, so its half-done state is never seen.
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(poll) => poll.map(Ok),
            Err(payload) => Poll::Ready(Err(Panicked::new(&*payload))),
        }
    })
    .await
}
