//! The body of an HTTP/2 response, tracked while it is sent: how much the connection holds, and when the client last
//! received some.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use hyper::body::{Body, Bytes, Frame, SizeHint};

use super::pulse::Pulse;

/// The largest frame that every client accepts.
const PART_BYTES_MAX: usize = 16 * 1024;

/// A body that reports its progress to the connection's pulse. HTTP/1 does not need it: its socket sees every byte.
pub(super) struct Watched<B> {
    body: B,
    /// Data that was not handed to the protocol yet.
    rest: Bytes,
    response: Option<Arc<Response>>,
}

/// Ends when its body and all of its parts are dropped.
struct Response {
    pulse: Arc<Pulse>,
    number: u64,
    held_bytes: AtomicUsize,
}

impl Drop for Response {
    fn drop(&mut self) {
        self.pulse.response_left(self.number, *self.held_bytes.get_mut());
    }
}

/// A part of a response; the protocol drops it once the socket has accepted it.
struct Part {
    bytes: Bytes,
    response: Arc<Response>,
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let bytes = self.bytes.len();
        self.response.held_bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.response.pulse.part_left(self.response.number, bytes);
    }
}

impl<B: Body<Data = Bytes>> Watched<B> {
    /// Not tracked.
    pub(super) fn not(body: B) -> Self {
        Self {
            body,
            rest: Bytes::new(),
            response: None,
        }
    }

    /// Tracked if its length is known.
    pub(super) fn by(pulse: &Arc<Pulse>, body: B) -> Self {
        let bytes = body
            .size_hint()
            .exact()
            .and_then(|bytes| usize::try_from(bytes).ok());
        let response = bytes.filter(|bytes| *bytes > 0).map(|bytes| {
            Arc::new(Response {
                pulse: Arc::clone(pulse),
                number: pulse.response_came(bytes),
                held_bytes: AtomicUsize::new(bytes),
            })
        });
        Self {
            response,
            ..Self::not(body)
        }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Watched<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        if this.rest.is_empty() {
            let frame = ready!(Pin::new(&mut this.body).poll_frame(context));
            match (frame, &this.response) {
                (Some(Ok(frame)), Some(_)) => match frame.into_data() {
                    Ok(data) => this.rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                (frame, _) => return Poll::Ready(frame),
            }
        }
        let bytes = this.rest.split_to(this.rest.len().min(PART_BYTES_MAX));
        let part = match &this.response {
            Some(response) => Bytes::from_owner(Part {
                bytes,
                response: Arc::clone(response),
            }),
            None => bytes,
        };
        Poll::Ready(Some(Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = self.body.size_hint();
        let rest = self.rest.len() as u64;
        let (lower, upper) = (hint.lower() + rest, hint.upper().map(|upper| upper + rest));
        if let Some(upper) = upper {
            hint.set_upper(upper);
        }
        hint.set_lower(lower);
        hint
    }
}
