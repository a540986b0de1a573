//! Standing questions over passages that come and go.

use std::collections::{BTreeMap, BTreeSet};

use hypercane_schemas::{ContentHash, QueryId};

use super::{Asked, Changed, First, Passage, PassageIndex, PassageSettings, Ranking, Scratch, lexical::words};
use crate::shared::Shared;

/// What changes at a time. What comes replaces what it was.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Passages that go.
    pub passages_gone: Vec<ContentHash>,
    /// Passages that come.
    pub passages_came: Vec<(ContentHash, Shared<Passage>)>,
    /// Questions that go.
    pub questions_gone: Vec<QueryId>,
    /// Questions that come, with how many passages they want.
    pub questions_came: Vec<(QueryId, Asked, usize)>,
}

/// Passages with the rankings of standing questions, each as [`PassageIndex::rank`] gives it.
///
/// A change of passages costs what the passages cost themselves; a product, a look at the words, and a search among what it has
/// read for each question; and a ranking for each question that it concerns. A question looks at all passages again where the
/// best one by itself goes or comes, or where a count that all scores rest on crosses a step.
#[derive(Clone, Debug)]
pub struct Standing {
    index: PassageIndex,
    settings: PassageSettings,
    questions: BTreeMap<QueryId, Question>,
    scratch: Scratch,
}

#[derive(Clone, Debug)]
struct Question {
    asked: Asked,
    n_wanted: usize,
    first: First,
    ranking: Ranking,
}

impl Standing {
    /// No passages and no questions; see [`PassageIndex::new`].
    pub fn new(common_words: impl IntoIterator<Item = String>, settings: PassageSettings) -> Self {
        let index = PassageIndex::new(common_words);
        Self { index, settings, questions: BTreeMap::new(), scratch: Scratch::default() }
    }

    /// The passages.
    pub fn index(&self) -> &PassageIndex {
        &self.index
    }

    /// The ranking of a question that stands.
    pub fn ranking(&self, question: &QueryId) -> Option<&Ranking> {
        self.questions.get(question).map(|question| &question.ranking)
    }

    /// Takes in what changed. Gives the questions that were ranked anew, or went.
    pub fn apply(&mut self, changes: Changes) -> BTreeSet<QueryId> {
        let changed = self.index.apply(changes.passages_gone, changes.passages_came);
        let mut ranked = BTreeSet::new();
        for id in changes.questions_gone {
            self.questions.remove(&id);
            ranked.insert(id);
        }
        for (id, asked, n_wanted) in changes.questions_came {
            let first = First::new(&self.index, &asked, &self.settings, self.settings.n_first(n_wanted));
            let ranking = self.index.rank(&asked, &first, &self.settings, n_wanted, &mut self.scratch);
            self.questions.insert(id.clone(), Question { asked, n_wanted, first, ranking });
            ranked.insert(id);
        }
        let known: Vec<Vec<String>> = changed.known.iter().map(|form| words(form).collect()).collect();
        let mut concerned = Vec::new();
        for (id, question) in self.questions.iter_mut().filter(|(id, _)| !ranked.contains(*id)) {
            if question.is_concerned(&self.index, &changed, &known, &self.settings) {
                let Question { asked, n_wanted, first, ranking } = question;
                *ranking = self.index.rank(asked, first, &self.settings, *n_wanted, &mut self.scratch);
                concerned.push(id.clone());
            }
        }
        ranked.extend(concerned);
        ranked
    }
}

impl Question {
    /// Brings the first passages up to date. Gives whether the ranking may be another.
    fn is_concerned(
        &mut self,
        index: &PassageIndex,
        changed: &Changed,
        known: &[Vec<String>],
        settings: &PassageSettings,
    ) -> bool {
        let is_reweighed = changed.all || self.asked.words.meet(&changed.words);
        let first = match is_reweighed {
            true => None,
            false => self.first_changed(index, changed, settings),
        };
        let Some(is_first_changed) = first else {
            self.first = First::new(index, &self.asked, settings, settings.n_first(self.n_wanted));
            return true;
        };
        let (words, read) = (&self.asked.words, &self.ranking.read);
        let hub = settings.hub_passages.max(settings.walk_hub_passages);
        let mut places = changed.places.iter().filter(|(_, n_with)| **n_with <= hub);
        let mut slots = changed.gone.iter().chain(&changed.came).chain(&changed.renamed);
        is_first_changed
            || slots.any(|slot| read.passages.binary_search(slot).is_ok())
            || places.any(|(name, _)| read.places.binary_search(name).is_ok())
            || changed.rarities.iter().any(|name| read.rarities.binary_search(name).is_ok())
            || known.iter().any(|name| name.iter().all(|word| words.contains(word)))
    }

    /// Whether the first passages changed; `None` where all have to be looked at again.
    fn first_changed(&mut self, index: &PassageIndex, changed: &Changed, settings: &PassageSettings) -> Option<bool> {
        let mut is_changed = self.first.drop(&changed.gone)?;
        for found in changed.came.iter().filter_map(|slot| index.fit(*slot, &self.asked)) {
            is_changed |= self.first.add(found, settings)?;
        }
        Some(is_changed)
    }
}
