//! The passages of a corpus with the names that join them, while they come and go.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hypercane_schemas::ContentHash;

use super::{Lexical, Passage, coarse, lexical::words, names::Names};
use crate::{
    kernel::sorted::{insert, remove},
    shared::Shared,
};

/// Rarities are whole numbers of this part of one.
pub(super) const RARITY_UNIT: f64 = (1u64 << 20) as f64;

/// Passages, names, and which passage mentions which name in which fact.
///
/// Beside the passages themselves, which are shared, it holds their words and names. A passage that comes or goes costs as much
/// as its text is long, and as many look-ups as it has words that may begin a name, times the length of the longest name. A name
/// that is new, or that nobody has any more, is looked for in the passages that have all of its words.
#[derive(Clone, Debug)]
pub struct PassageIndex {
    pub(super) names: Names,
    /// By name.
    pub(super) places: Vec<Places>,
    /// By slot.
    pub(super) held: Vec<Option<Held>>,
    pub(super) lexical: Lexical,
    slots: HashMap<ContentHash, u32>,
    free: Vec<u32>,
}

/// Where a name stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// The passages that mention it, in order.
    pub(super) mentioned_in: Vec<u32>,
    /// The passages that it is the title of, in order.
    pub(super) title_of: Vec<u32>,
    /// How many passages mention it or have it as their title.
    pub(super) n_with: usize,
    /// The logarithm of one and the inverse of the share of passages that have it, by counts in steps.
    pub(super) rarity: u64,
}

/// A passage in its slot.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) id: ContentHash,
    pub(super) passage: Shared<Passage>,
    /// The name that is its title.
    pub(super) title: Option<u32>,
    /// What it names, with the fact that does, in the order of both; no fact where a name belongs to the whole.
    pub(super) mentions: Vec<(u32, Option<u32>)>,
    /// What it names, once, in order.
    pub(super) names: Vec<u32>,
    /// The names that are known because of it, as often as it has them.
    added: Vec<u32>,
}

impl Held {
    /// What it names, and its title by itself.
    pub(super) fn names_and_title(&self) -> impl Iterator<Item = u32> {
        self.names.iter().chain(&self.title).copied()
    }
}

/// What a change of passages changed for questions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changed {
    /// Slots that were emptied.
    pub(super) gone: Vec<u32>,
    /// Slots that were filled, perhaps after they were emptied.
    pub(super) came: Vec<u32>,
    /// Slots whose passage names something else than before.
    pub(super) renamed: Vec<u32>,
    /// Names that lead elsewhere, each with the least number of passages that had it, before or after; zero where it leads
    /// elsewhere even as a hub.
    pub(super) places: BTreeMap<u32, usize>,
    /// Names whose rarity is another.
    pub(super) rarities: BTreeSet<u32>,
    /// Words that another number of passages has, in steps.
    pub(super) words: BTreeSet<String>,
    /// Names that became known, or are no more.
    pub(super) known: Vec<String>,
    /// Whether the number of passages, or their mean length, is another, in steps: then all scores are.
    pub(super) all: bool,
}

/// What a name was before a change.
struct Before {
    rarity: u64,
    n_with: usize,
    n_mentions: u64,
    /// Whether a passage with this title comes or goes; another may take the slot of one that goes.
    title_moves: bool,
}

impl PassageIndex {
    /// No passages. A name that is one of the common words (in small letters) is not looked for in text.
    pub fn new(common_words: impl IntoIterator<Item = String>) -> Self {
        Self {
            names: Names::new(common_words),
            places: Vec::new(),
            held: Vec::new(),
            lexical: Lexical::default(),
            slots: HashMap::new(),
            free: Vec::new(),
        }
    }

    /// How many passages.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// How many names.
    pub fn n_names(&self) -> usize {
        self.names.len()
    }

    /// A passage that is there.
    pub fn get(&self, id: ContentHash) -> Option<&Shared<Passage>> {
        let slot = self.slots.get(&id)?;
        self.held[*slot as usize].as_ref().map(|held| &held.passage)
    }

    #[cfg(test)]
    pub(super) fn slots_of(&self, id: ContentHash) -> Option<u32> {
        self.slots.get(&id).copied()
    }

    pub(super) fn slot(&self, slot: u32) -> Option<&Held> {
        self.held.get(slot as usize)?.as_ref()
    }

    /// Takes passages out, and others in; ids that are not there go without effect, and one that comes again replaces what
    /// it was.
    pub fn apply(
        &mut self,
        gone: impl IntoIterator<Item = ContentHash>,
        came: impl IntoIterator<Item = (ContentHash, Shared<Passage>)>,
    ) -> Changed {
        let came: BTreeMap<ContentHash, Shared<Passage>> = came.into_iter().collect();
        let gone: BTreeSet<ContentHash> = gone.into_iter().chain(came.keys().copied()).collect();
        let measure = (coarse(self.len() as u64), self.lexical.measure());
        let gone: Vec<u32> = gone.into_iter().filter_map(|id| self.slots.remove(&id)).collect();
        let going: Vec<Held> = gone.iter().filter_map(|slot| self.held[*slot as usize].take()).collect();
        self.free.extend(gone.iter().rev());

        let texts = going.iter().map(|held| held.passage.whole()).chain(came.values().map(|passage| passage.whole()));
        let its_words: BTreeSet<String> = texts.flat_map(|text| words(&text).collect::<Vec<_>>()).collect();
        let n_with: Vec<u64> = its_words.iter().map(|word| self.lexical.n_with(word)).collect();
        let mut before: BTreeMap<u32, Before> = BTreeMap::new();
        for (slot, held) in gone.iter().zip(&going) {
            self.lexical.remove(*slot, &held.passage.whole());
            self.unplace(*slot, &held.names, held.title, &mut before);
        }

        // Names that a passage brings are added before those of one that goes are dropped, so that a name that both have
        // stays what it is.
        let mut known: Vec<String> = Vec::new();
        let mut filled = BTreeSet::new();
        for (id, passage) in came {
            let mut added = Vec::new();
            let mut add = |name: &str| {
                let (number, is_new) = self.names.add(name)?;
                known.extend(self.names.telling(number).filter(|_| is_new).map(str::to_owned));
                added.push(number);
                Some(number)
            };
            let title = add(&passage.title);
            passage.facts.iter().flat_map(|fact| &fact.names).chain(&passage.names).for_each(|name| _ = add(name));
            let slot = self.free.pop().unwrap_or(self.held.len() as u32);
            if self.held.len() <= slot as usize {
                self.held.push(None);
            }
            self.lexical.insert(slot, &passage.whole());
            self.slots.insert(id, slot);
            let (mentions, names) = (Vec::new(), Vec::new());
            self.held[slot as usize] = Some(Held { id, passage, title, mentions, names, added });
            filled.insert(slot);
        }
        known.extend(going.iter().flat_map(|held| &held.added).filter_map(|name| self.names.drop(*name)));
        self.places.resize_with(self.names.bound(), Places::default);
        for slot in &filled {
            self.find_names(*slot, &mut before);
            let held = self.held[*slot as usize].as_ref();
            if let Some(name) = held.and_then(|held| held.title) {
                self.note(name, &mut before).title_moves = true;
                insert(&mut self.places[name as usize].title_of, *slot);
            }
        }
        // A name that is new in the corpus may stand in any passage, and one that is no more may have hidden a shorter one.
        let others = known.iter().flat_map(|form| self.lexical.with_all(form.split(' ')));
        let others: BTreeSet<u32> = others.filter(|slot| !filled.contains(slot)).collect();
        let renamed = others.into_iter().filter(|slot| self.find_names(*slot, &mut before)).collect();

        let n_passages = coarse(self.len() as u64);
        let all = measure != (n_passages, self.lexical.measure());
        let other_words =
            its_words.into_iter().zip(n_with).filter(|(word, n_with)| self.lexical.n_with(word) != *n_with);
        let words = other_words.map(|(word, _)| word).collect();
        let came = filled.into_iter().collect();
        self.weigh(before, n_passages, Changed { gone, came, renamed, words, known, all, ..Changed::default() })
    }

    /// Looks for names in a passage. Gives whether it names anything else than it did.
    fn find_names(&mut self, slot: u32, before: &mut BTreeMap<u32, Before>) -> bool {
        let Some(held) = self.held[slot as usize].as_ref() else { return false };
        let mentions = self.mentions(&held.passage);
        if mentions == held.mentions {
            return false;
        }
        let mut names: Vec<u32> = mentions.iter().map(|(name, _)| *name).collect();
        names.dedup();
        self.unplace(slot, &held.names.clone(), None, before);
        for name in &names {
            self.note(*name, before);
            insert(&mut self.places[*name as usize].mentioned_in, slot);
        }
        if let Some(held) = self.held[slot as usize].as_mut() {
            (held.mentions, held.names) = (mentions, names);
        }
        true
    }

    /// Takes a passage out of the places of its names.
    fn unplace(&mut self, slot: u32, names: &[u32], title: Option<u32>, before: &mut BTreeMap<u32, Before>) {
        for name in names {
            self.note(*name, before);
            remove(&mut self.places[*name as usize].mentioned_in, slot);
        }
        if let Some(name) = title {
            self.note(name, before).title_moves = true;
            remove(&mut self.places[name as usize].title_of, slot);
        }
    }

    /// Notes what a name is before its places change.
    fn note<'a>(&self, name: u32, before: &'a mut BTreeMap<u32, Before>) -> &'a mut Before {
        before.entry(name).or_insert_with(|| {
            let places = &self.places[name as usize];
            Before {
                rarity: places.rarity,
                n_with: places.n_with,
                n_mentions: coarse(places.mentioned_in.len() as u64),
                title_moves: false,
            }
        })
    }

    /// Counts again who has the names whose places changed, and tells what that changes.
    fn weigh(&mut self, before: BTreeMap<u32, Before>, n_passages: u64, mut changed: Changed) -> Changed {
        let rarity = |n_with: usize| {
            let share = n_passages as f64 / coarse(n_with.max(1) as u64) as f64;
            ((1.0 + share).ln() * RARITY_UNIT) as u64
        };
        for (name, before) in before {
            let places = &mut self.places[name as usize];
            places.n_with = n_in_either(&places.mentioned_in, &places.title_of);
            places.rarity = rarity(places.n_with);
            if places.rarity != before.rarity {
                changed.rarities.insert(name);
            }
            let as_hub = before.title_moves || before.n_mentions != coarse(places.mentioned_in.len() as u64);
            changed.places.insert(name, if as_hub { 0 } else { before.n_with.min(places.n_with) });
        }
        if changed.all {
            self.places.iter_mut().for_each(|places| places.rarity = rarity(places.n_with));
        }
        changed
    }

    /// What a passage names: what its facts were read to name, and every known name that stands in its text.
    fn mentions(&self, passage: &Passage) -> Vec<(u32, Option<u32>)> {
        let mut found: Vec<(u32, Option<u32>)> = Vec::new();
        for (fact, number) in passage.facts.iter().zip(0..) {
            found.extend(fact.names.iter().filter_map(|name| Some((self.names.read(name)?, Some(number)))));
        }
        found.extend(self.names.find(&passage.title).into_iter().map(|(name, _)| (name, None)));
        for (name, at) in self.names.find(&passage.text) {
            let fact = passage.facts.iter().position(|fact| (fact.start..fact.end).contains(&(at as u32)));
            found.push((name, fact.map(|fact| fact as u32)));
        }
        found.extend(passage.names.iter().filter_map(|name| Some((self.names.get(name)?, None))));
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// How many numbers are in one of two sorted lists, or in both.
fn n_in_either(a: &[u32], b: &[u32]) -> usize {
    a.len() + b.iter().filter(|number| a.binary_search(number).is_err()).count()
}
