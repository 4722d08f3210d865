//! The invariants of ARCHITECTURE.md that a program can hold: this one reads the workspace's sources.

#[cfg(test)]
mod architecture;
