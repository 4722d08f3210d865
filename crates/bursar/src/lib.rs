//! bursar: an organization's money and people. `main.rs` is the program; the library lets the API tests
//! run the server in their own process.

mod ambient;
mod cli;
mod demo;
mod doctor;
mod front;
mod hooks;
mod open_files;
mod remote;
mod sync;

pub use cli::here;
pub use cli::run;
pub use demo::cards::CardDesk;
