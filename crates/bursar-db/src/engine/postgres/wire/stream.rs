//! The socket, encrypted or not.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustls::{ClientConnection, StreamOwned};
use socket2::SockRef;

pub(super) enum Stream {
    Plain(Socket),
    Encrypted(Box<StreamOwned<ClientConnection, Socket>>),
}

pub(super) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    pub(super) fn socket(&self) -> &Socket {
        match self {
            Stream::Plain(socket) => socket,
            Stream::Encrypted(stream) => &stream.sock,
        }
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Plain(socket) => socket.write_all(bytes),
            Stream::Encrypted(stream) => {
                stream.write_all(bytes)?;
                stream.flush()
            }
        }
    }

    /// Sends the last message if that needs no waiting.
    pub(super) fn farewell(&mut self, bytes: &[u8]) {
        if self.socket().system().set_nonblocking(true).is_ok() {
            // Nobody is left to tell of an error.
            let _ = self.send(bytes);
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.read(buffer),
            Stream::Encrypted(stream) => stream.read(buffer),
        }
    }
}

impl Socket {
    fn system(&self) -> SockRef<'_> {
        match self {
            Socket::Tcp(stream) => SockRef::from(stream),
            Socket::Unix(stream) => SockRef::from(stream),
        }
    }

    /// How long one read or write may wait.
    pub(super) fn limit(&self, limit: Option<Duration>) -> io::Result<()> {
        let system = self.system();
        system.set_read_timeout(limit)?;
        system.set_write_timeout(limit)
    }

    /// How long one read may wait.
    pub(super) fn limit_reads(&self, limit: Option<Duration>) -> io::Result<()> {
        self.system().set_read_timeout(limit)
    }

    /// Whether the other side closed it, without waiting. A server that ends a session says why before it closes it.
    pub(super) fn is_closed(&self) -> bool {
        const ERROR: u8 = b'E';
        let system = self.system();
        if system.set_nonblocking(true).is_err() {
            return true;
        }
        let mut first = [0];
        let found = match self {
            Socket::Tcp(stream) => stream.peek(&mut first),
            // Only a read tells. A server on the same machine rarely vanishes.
            Socket::Unix(_) => Err(io::ErrorKind::WouldBlock.into()),
        };
        let is_open = match found {
            Ok(bytes) => bytes > 0 && first[0] != ERROR,
            Err(error) => error.kind() == io::ErrorKind::WouldBlock,
        };
        !is_open || system.set_nonblocking(false).is_err()
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.read(buffer),
            Socket::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.write(bytes),
            Socket::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
