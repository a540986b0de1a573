//! Random histories, and the scripts that they come down to.

use hypercane_schemas::Diff;
use proptest::{
    collection::vec,
    prelude::{Just, Strategy, any, prop_oneof},
};
use serde_json::{Value, json};

use crate::{
    law::{Law, Stands},
    session::Line,
    spec::Spec,
};

/// A step of a random history.
#[derive(Clone, Debug)]
pub struct Step {
    /// Whether a row goes, not comes.
    goes: bool,
    /// Which: of the law's pool, or of those that stand.
    which: u8,
    /// How many epochs end after it.
    ticks: u8,
}

/// A random history.
#[derive(Clone, Debug)]
pub struct History {
    steps: Vec<Step>,
    /// Whether the workers are given all epochs before they work on the first.
    at_once: bool,
    /// Its share of the pool: where it begins, how far one row is from the next, how many rows there are. The fewer, the
    /// more often a row comes again.
    share: (u8, u8, u8),
}

/// Histories; simpler are shorter.
pub fn histories() -> impl Strategy<Value = History> {
    let goes = prop_oneof![3 => Just(false), 2 => Just(true)];
    let ticks = prop_oneof![12 => Just(0_u8), 7 => Just(1), 1 => Just(2)];
    let step = (goes, any::<u8>(), ticks).prop_map(|(goes, which, ticks)| Step { goes, which, ticks });
    let share = (any::<u8>(), 1..24_u8, 3..32_u8);
    let at_once = prop_oneof![3 => Just(false), 1 => Just(true)];
    (vec(step, 1..24), at_once, share).prop_map(|(steps, at_once, share)| History { steps, at_once, share })
}

/// A history in full: the updates of each epoch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// The updates, epoch by epoch.
    pub epochs: Vec<Vec<(Spec, Diff)>>,
    /// Whether the workers are given all epochs before they work on the first.
    pub at_once: bool,
    /// How many rows should stand after some epochs.
    pub expected: Vec<(usize, usize)>,
}

/// A row that is there so many times is not added once more.
const MOST_COPIES: Diff = 3;

impl Script {
    /// What a history comes down to under a law: a row comes where it may, and goes where it stands.
    pub fn of(History { steps, at_once, share }: &History, law: &Law, pool: &[Spec]) -> Self {
        let (first, stride, n_rows) = (usize::from(share.0), usize::from(share.1), usize::from(share.2));
        let mut standing: Vec<(Spec, Diff)> = Vec::new();
        let mut epochs = vec![Vec::new()];
        let give = |epochs: &mut Vec<Vec<(Spec, Diff)>>, row: &Spec, diff: Diff| {
            if let Some(epoch) = epochs.last_mut() {
                epoch.push((row.clone(), diff));
            }
        };
        for step in steps {
            let which = usize::from(step.which);
            if step.goes && !standing.is_empty() {
                let at = which % standing.len();
                give(&mut epochs, &standing[at].0, -1);
                standing[at].1 -= 1;
                if standing[at].1 == 0 {
                    standing.remove(at);
                }
            } else if !step.goes {
                let row = &pool[(first + which % n_rows * stride) % pool.len()];
                let at = standing.iter().position(|(other, _)| other == row);
                match ((law.stands)(row), at) {
                    (Stands::Passing(_), _) => give(&mut epochs, row, 1),
                    (Stands::Once(_), Some(_)) => {}
                    (Stands::Once(key), None) => {
                        let same_key = |(other, _): &(Spec, Diff)| matches!((law.stands)(other), Stands::Once(other) if other == key);
                        if let Some(at) = standing.iter().position(same_key) {
                            give(&mut epochs, &standing.remove(at).0, -1);
                        }
                        give(&mut epochs, row, 1);
                        standing.push((row.clone(), 1));
                    }
                    (Stands::Often(_), Some(at)) if standing[at].1 < MOST_COPIES => {
                        give(&mut epochs, row, 1);
                        standing[at].1 += 1;
                    }
                    (Stands::Often(_), Some(_)) => {}
                    (Stands::Often(_), None) => {
                        give(&mut epochs, row, 1);
                        standing.push((row.clone(), 1));
                    }
                }
            }
            epochs.extend((0..step.ticks).map(|_| Vec::new()));
        }
        Self { epochs, at_once: *at_once, expected: Vec::new() }
    }

    /// How many updates it has.
    pub fn n_steps(&self) -> usize {
        self.epochs.iter().map(Vec::len).sum()
    }

    /// The script as a session.
    pub fn to_session(&self, operator: &str) -> Vec<Line> {
        let mut session = vec![Line::Setting("law".into(), operator.into())];
        if self.at_once {
            session.push(Line::Setting("at_once".into(), String::new()));
        }
        for epoch in &self.epochs {
            for (row, diff) in epoch {
                let (kind, row) = named(row);
                session.push(if *diff > 0 { Line::Feed(kind, row) } else { Line::Retract(kind, row) });
            }
            session.push(Line::Tick);
        }
        session
    }

    /// Reads a session: the operator and the script.
    ///
    /// # Errors
    /// It names no law, or a row is none of its kind.
    pub fn from_session(session: &[Line]) -> Result<(String, Self), String> {
        let (mut law, mut script) = (None, Self::default());
        let mut epoch = Vec::new();
        for line in session {
            match line {
                Line::Remark(_) => {}
                Line::Setting(word, value) if word == "law" => law = Some(value.clone()),
                Line::Setting(word, _) if word == "at_once" => script.at_once = true,
                Line::Setting(word, _) => return Err(format!("`{word}` is no word of a session of an operator")),
                Line::Feed(kind, row) => epoch.push((read(kind, row)?, 1)),
                Line::Retract(kind, row) => epoch.push((read(kind, row)?, -1)),
                Line::Tick => script.epochs.push(std::mem::take(&mut epoch)),
                Line::Expect(n_rows) => script.expected.push((script.epochs.len(), *n_rows)),
            }
        }
        if !epoch.is_empty() {
            return Err("the last epoch has no `tick`".into());
        }
        Ok((law.ok_or("a session of an operator begins with `law NAME`")?, script))
    }
}

/// The kind of a row, and the row as JSON.
fn named(row: &Spec) -> (String, Value) {
    let Ok(Value::Object(tagged)) = serde_json::to_value(row) else { panic!("{row:?} has no JSON form") };
    tagged.into_iter().next().expect("it has one key, its kind")
}

fn read(kind: &str, row: &Value) -> Result<Spec, String> {
    serde_json::from_value(json!({ kind: row })).map_err(|e| format!("{row} is no {kind}: {e}"))
}
