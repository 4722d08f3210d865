//! The HTTP edge: sockets, limits and addresses.

pub mod address;
pub mod limits;
pub mod listen;
