//! bursar: an organization's money and people. `main.rs` is the program; a library beside it lets the tests of the API
//! run the server within their own process.

mod ambient;
mod cli;
mod demo;
mod doctor;
mod open_files;
mod sync;

pub use cli::here;
pub use cli::run;
