//! What a law is, and the list of all.

use std::sync::Arc;

use hypercane_operators::{Collection, domain::Domain};
use hypercane_schemas::Diff;

use crate::{
    answers, documents, evidence, facts, hypergraph, names, passages, questions,
    row::{Row, Rows},
    spec::Spec,
};

/// That an operator, fed with any history, always gives what its plain definition gives of what stands.
#[derive(Clone, Copy)]
pub struct Law {
    /// The operator's name in `operators/src/lib.rs`.
    pub operator: &'static str,
    /// The few rows of which its histories are made, the simplest first.
    pub pool: fn() -> Vec<Spec>,
    /// What a row that a session names is to the operator.
    pub read: fn(&Spec, &Domain) -> Vec<Row>,
    /// How often a row may stand.
    pub stands: fn(&Spec) -> Stands,
    /// The operator over its input.
    pub build: for<'s> fn(Collection<'s, Row>, &Arc<Domain>) -> Collection<'s, Row>,
    /// What comes out, by its definition.
    pub define: fn(&Input, &Domain) -> Rows,
    /// Whether all updates of an output row in an epoch come out on one worker, where all updates of an input row come in
    /// on one. Then what workers consolidate apart adds up to what they would consolidate together.
    pub on_one_worker: bool,
}

/// How often a row may stand, and what decides on which worker it comes in.
pub enum Stands {
    /// Once under this key: another row under it replaces it.
    Once(String),
    /// Several times; rows of equal key come in on one worker.
    Often(String),
    /// It is a change, which does not stand and does not go.
    Passing(String),
}

impl Stands {
    /// The key.
    pub fn key(self) -> String {
        match self {
            Self::Once(key) | Self::Often(key) | Self::Passing(key) => key,
        }
    }
}

/// The input up to the end of an epoch.
#[derive(Default)]
pub struct Input {
    /// The updates of each epoch, in their order.
    pub epochs: Vec<Vec<(Row, Diff)>>,
    /// What they add up to.
    pub rows: Rows,
}

impl Input {
    /// Adds an epoch.
    pub fn push(&mut self, updates: Vec<(Row, Diff)>) {
        updates.iter().for_each(|(row, count)| self.rows.add(row.clone(), *count));
        self.epochs.push(updates);
    }
}

/// The standing rows of one kind, with how often each stands.
#[macro_export]
macro_rules! standing {
    ($input:expr, $kind:ident) => {
        $input.rows.0.iter().filter_map(|(row, count)| match row {
            $crate::row::Row::$kind(row) => Some((row, *count)),
            _ => None,
        })
    };
}

/// The law of every operator, in the order of `operators/src/lib.rs`.
pub fn all() -> Vec<Law> {
    let documents = [documents::laws(), answers::laws()].concat();
    let of_facts = [facts::laws(), hypergraph::laws(), names::laws()].concat();
    [documents, of_facts, passages::laws(), evidence::laws(), questions::laws()].concat()
}
