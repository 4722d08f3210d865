//! A socket that replays the bytes read to detect the protocol, reports when bytes arrive, and gives up on a client
//! that stops reading.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep, timeout};

use super::Timeouts;
use super::pulse::Pulse;

/// The start of every HTTP/2 connection with prior knowledge.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Http1,
    Http2,
}

/// Bytes read to detect the protocol; its parser needs them again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening {
    bytes: [u8; PREFACE.len()],
    length: usize,
}

/// Reads until the protocol is certain; `None` if the client disconnected or took too long.
pub(super) async fn recognise(stream: &mut TcpStream, timeouts: &Timeouts) -> Option<(Protocol, Opening)> {
    let mut opening = Opening {
        bytes: [0; PREFACE.len()],
        length: 0,
    };
    let first = timeout(timeouts.first_byte, stream.read(&mut opening.bytes))
        .await
        .ok()?
        .ok()?;
    let rest = async {
        let mut read = first;
        while read > 0 {
            opening.length += read;
            if opening.bytes[..opening.length] != PREFACE[..opening.length] {
                return Some(Protocol::Http1);
            }
            if opening.length == PREFACE.len() {
                return Some(Protocol::Http2);
            }
            read = stream.read(&mut opening.bytes[opening.length..]).await.ok()?;
        }
        // End of stream: an HTTP/1 head that stops this early is not a request.
        None
    };
    let protocol = timeout(timeouts.header_read, rest).await.ok()??;
    Some((protocol, opening))
}

/// The socket as the protocol's parser sees it.
pub(super) struct Guarded {
    stream: TcpStream,
    opening: Opening,
    replayed: usize,
    pulse: Arc<Pulse>,
    write_stall: Duration,
    /// Created at the first stall and reused; most connections never stall.
    alarm: Option<Pin<Box<Sleep>>>,
    stalled: bool,
}

impl Guarded {
    pub(super) fn new(stream: TcpStream, opening: Opening, pulse: Arc<Pulse>, write_stall: Duration) -> Self {
        Self {
            stream,
            opening,
            replayed: 0,
            pulse,
            write_stall,
            alarm: None,
            stalled: false,
        }
    }

    /// Passes on the result of a write, unless the client has received nothing for too long.
    fn watch<T>(&mut self, context: &mut Context<'_>, outcome: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.stalled = false;
            self.pulse.bytes_left();
            return outcome;
        }
        let deadline = Instant::now() + self.write_stall;
        let alarm = self
            .alarm
            .get_or_insert_with(|| Box::pin(sleep(self.write_stall)));
        if !self.stalled {
            self.stalled = true;
            alarm.as_mut().reset(deadline);
        }
        ready!(alarm.as_mut().poll(context));
        // Otherwise the kernel would keep sending the unread bytes for minutes.
        let _ = self.stream.set_zero_linger();
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Guarded {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.replayed < this.opening.length {
            let rest = &this.opening.bytes[this.replayed..this.opening.length];
            let part = &rest[..rest.len().min(buffer.remaining())];
            buffer.put_slice(part);
            this.replayed += part.len();
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(context, buffer))?;
        if buffer.filled().len() > before {
            this.pulse.bytes_came();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Guarded {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.watch(context, outcome)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.stream).poll_write_vectored(context, slices);
        this.watch(context, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
