//! The tests of the program as a whole: one test program, on both engines.

// Marked as tests so that the lints' exceptions for tests hold for their helpers too.
// The longest, so it has the name that comes first.
#[cfg(test)]
mod a_year;
#[cfg(test)]
mod api;
#[cfg(test)]
mod attachments;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod bad_rows;
#[cfg(test)]
mod books;
#[cfg(test)]
mod by_name;
#[cfg(test)]
mod cards;
mod care;
#[cfg(test)]
mod cli;
#[cfg(test)]
mod clock;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod console;
#[cfg(test)]
mod console_access;
#[cfg(test)]
mod console_attacks;
#[cfg(test)]
mod console_bank;
#[cfg(test)]
mod console_charges;
#[cfg(test)]
mod console_conflicts;
#[cfg(test)]
mod console_feel;
#[cfg(test)]
mod console_files;
#[cfg(test)]
mod console_groups;
#[cfg(test)]
mod console_import;
#[cfg(test)]
mod console_lists;
#[cfg(test)]
mod console_member;
#[cfg(test)]
mod console_oidc;
#[cfg(test)]
mod console_online;
#[cfg(test)]
mod console_people;
#[cfg(test)]
mod console_privacy;
#[cfg(test)]
mod console_record;
#[cfg(test)]
mod console_reimbursements;
#[cfg(test)]
mod console_reminders;
#[cfg(test)]
mod console_reports;
#[cfg(test)]
mod console_search;
#[cfg(test)]
mod console_sign_in;
#[cfg(test)]
mod console_store;
#[cfg(test)]
mod console_webhooks;
#[cfg(test)]
mod console_who;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod deliveries;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod listen;
#[cfg(test)]
mod lists;
#[cfg(test)]
mod log;
#[cfg(test)]
mod member_pages;
#[cfg(test)]
mod member_statement;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod money;
#[cfg(test)]
mod names;
#[cfg(test)]
mod online;
#[cfg(test)]
mod pooler;
#[cfg(test)]
mod privacy;
#[cfg(test)]
mod private;
#[cfg(test)]
mod roster;
#[cfg(test)]
mod secret_key;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod statements;
#[cfg(test)]
mod support;
#[cfg(test)]
mod sync;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod upgrade;
