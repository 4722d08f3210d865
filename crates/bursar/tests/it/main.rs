//! The tests of the program as a whole: one test program, on both engines.

// Marked as tests so that the lints' exceptions for tests hold for their helpers too.
#[cfg(test)]
mod api;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod support;
