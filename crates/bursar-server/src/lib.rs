//! bursar's HTTP edge and its worker.

pub mod http;
pub mod log;
pub mod worker;
