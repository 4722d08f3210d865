//! bursar.
fn main() {}
