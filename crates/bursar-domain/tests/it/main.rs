//! The invariants of ARCHITECTURE.md that a program can hold, and what follows from the declarations of fields.

#[cfg(test)]
mod architecture;
#[cfg(test)]
mod fields;
