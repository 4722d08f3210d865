//! The tests of the operations: one program, on both engines.

// Marked as tests so that the lints' exceptions for tests hold for their helpers too.
#[cfg(test)]
mod access;
#[cfg(test)]
mod attachments;
#[cfg(test)]
mod bad_lines;
#[cfg(test)]
mod campaigns;
#[cfg(test)]
mod carried;
#[cfg(test)]
mod check;
#[cfg(test)]
mod copy;
#[cfg(test)]
mod desk;
#[cfg(test)]
mod dues;
#[cfg(test)]
mod events;
#[cfg(test)]
mod import;
#[cfg(test)]
mod import_books;
#[cfg(test)]
mod impossible;
#[cfg(test)]
mod member_pages;
#[cfg(test)]
mod online;
#[cfg(test)]
mod outbox;
#[cfg(test)]
mod reminders;
#[cfg(test)]
mod retry;
#[cfg(test)]
mod roles;
#[cfg(test)]
mod roster;
#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod sheet;
#[cfg(test)]
mod sign_in;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tokens;
#[cfg(test)]
mod uploads;
#[cfg(test)]
mod webhooks;
