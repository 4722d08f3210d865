//! What was asked ahead for jobs, and the responses that were read before a job asked.

use std::sync::Arc;

use super::super::ahead::{Change, Foreseen};
use super::super::tx::Locking;
use super::super::value::Value;
use super::wire::Statement;

/// As they came.
pub(super) type Rows = Vec<Box<[u8]>>;

/// For the jobs that share a flight, by their numbers.
#[derive(Default)]
pub(super) struct Answers {
    all: Vec<Answer>,
    /// The number of the job that runs.
    job: usize,
}

struct Answer {
    foreseen: Foreseen,
    statement: Arc<Statement>,
    /// The jobs that may take it, each once. None if a change has spoiled it.
    jobs: Vec<usize>,
    /// `None` until it was read, and while a job reads it.
    rows: Option<Rows>,
}

impl Answers {
    /// Also for this job, if the same was asked before.
    pub(super) fn share(&mut self, foreseen: &Foreseen, job: usize) -> bool {
        let same = |answer: &&mut Answer| !answer.jobs.is_empty() && answer.foreseen.equals(foreseen);
        match self.all.iter_mut().find(same) {
            Some(answer) => {
                answer.jobs.push(job);
                true
            }
            None => false,
        }
    }

    /// Returns its place.
    pub(super) fn expect(&mut self, foreseen: &Foreseen, statement: Arc<Statement>, job: usize) -> usize {
        self.all.push(Answer {
            foreseen: foreseen.clone(),
            statement,
            jobs: vec![job],
            rows: None,
        });
        self.all.len() - 1
    }

    /// Whether a job may still ask for it.
    pub(super) fn is_wanted(&self, place: usize) -> bool {
        self.all.get(place).is_some_and(|answer| !answer.jobs.is_empty())
    }

    pub(super) fn is_there(&self, place: usize) -> bool {
        self.all.get(place).is_some_and(|answer| answer.rows.is_some())
    }

    pub(super) fn put(&mut self, place: usize, rows: Rows) {
        if let Some(answer) = self.all.get_mut(place)
            && !answer.jobs.is_empty()
        {
            answer.rows = Some(rows);
        }
    }

    /// What the job that runs may take.
    pub(super) fn find(&self, sql: &str, locking: Locking, params: &[Value<'_>]) -> Option<usize> {
        self.all
            .iter()
            .position(|answer| answer.jobs.contains(&self.job) && answer.foreseen.is(sql, locking, params))
    }

    /// The job that runs takes it. Other jobs may too, once it was `put` back.
    pub(super) fn take(&mut self, place: usize) -> Option<(Arc<Statement>, Rows)> {
        let answer = self.all.get_mut(place)?;
        answer.jobs.retain(|job| *job != self.job);
        Some((Arc::clone(&answer.statement), answer.rows.take()?))
    }

    /// Forgets what was asked before a change that it would not show.
    pub(super) fn spoil(&mut self, change: &Change<'_>) {
        // Few texts are asked, most of them for many jobs in a row.
        let mut last = ("", false);
        for answer in self.all.iter_mut().filter(|answer| !answer.jobs.is_empty()) {
            let sql = answer.foreseen.sql;
            if !std::ptr::eq(sql, last.0) {
                last = (sql, change.concerns(sql));
            }
            if last.1 && !answer.foreseen.is_apart_from(change) {
                answer.jobs.clear();
                answer.rows = None;
            }
        }
    }

    pub(super) fn turn_to(&mut self, job: usize) {
        self.job = job;
    }

    /// Whether this and later jobs have nothing here.
    pub(super) fn next_turn(&mut self) -> bool {
        self.job += 1;
        let now = self.job;
        !self
            .all
            .iter()
            .any(|answer| answer.jobs.iter().any(|job| *job >= now))
    }

    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.job = 0;
    }
}
