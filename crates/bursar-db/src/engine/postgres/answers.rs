//! What was asked ahead for jobs, and the responses that were read before a job asked.

use std::sync::Arc;

use super::super::ahead::{Change, Concerns, Foreseen};
use super::super::tx::Locking;
use super::super::value::Value;
use super::wire::Statement;

/// As they came.
pub(super) type Rows = Vec<Box<[u8]>>;

/// For the jobs that share a flight, by their numbers.
#[derive(Default)]
pub(super) struct Answers {
    all: Vec<Answer>,
    /// The places of those to each text.
    texts: Vec<(&'static str, Vec<usize>)>,
    concerns: Concerns,
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
        let same = |place: &&usize| {
            let answer = &self.all[**place];
            !answer.jobs.is_empty() && answer.foreseen.is(foreseen.locking, foreseen.values())
        };
        match places(&self.texts, foreseen.sql).iter().find(same) {
            Some(place) => {
                self.all[*place].jobs.push(job);
                true
            }
            None => false,
        }
    }

    /// Returns its place.
    pub(super) fn expect(&mut self, foreseen: &Foreseen, statement: Arc<Statement>, job: usize) -> usize {
        let place = self.all.len();
        self.all.push(Answer {
            foreseen: foreseen.clone(),
            statement,
            jobs: vec![job],
            rows: None,
        });
        match self.texts.iter_mut().find(|(sql, _)| *sql == foreseen.sql) {
            Some((_, places)) => places.push(place),
            None => self.texts.push((foreseen.sql, vec![place])),
        }
        place
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
        let same = |place: &&usize| {
            let answer = &self.all[**place];
            answer.jobs.contains(&self.job) && answer.foreseen.is(locking, params.iter().copied())
        };
        places(&self.texts, sql).iter().find(same).copied()
    }

    /// The job that runs takes it. Other jobs may too, once it was `put` back.
    pub(super) fn take(&mut self, place: usize) -> Option<(Arc<Statement>, Rows)> {
        let answer = self.all.get_mut(place)?;
        answer.jobs.retain(|job| *job != self.job);
        Some((Arc::clone(&answer.statement), answer.rows.take()?))
    }

    /// Forgets what was asked before a change that it would not show.
    pub(super) fn spoil(&mut self, change: &Change<'_>) {
        for (sql, places) in &self.texts {
            if !self.concerns.of(change.sql, sql) {
                continue;
            }
            for place in places {
                let answer = &mut self.all[*place];
                if !answer.jobs.is_empty() && !answer.foreseen.is_apart_from(change) {
                    answer.jobs.clear();
                    answer.rows = None;
                }
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
        self.texts.clear();
        self.job = 0;
    }
}

/// Not by the text's address: the same text may be at two.
fn places<'t>(texts: &'t [(&'static str, Vec<usize>)], sql: &str) -> &'t [usize] {
    texts
        .iter()
        .find(|(text, _)| *text == sql)
        .map_or(&[], |(_, places)| places)
}
