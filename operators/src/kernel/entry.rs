//! The entry entities of a question (HyCE-RAG 3.3.1): what it names, and what is nearest to it.

use std::collections::BTreeMap;

use super::rank::top;

/// By what kind of name a mention was found to be an entity. The first that applies decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NamedBy {
    /// Its canonical name.
    Name,
    /// An alias.
    Alias,
    /// The name or alias of a synonym.
    Synonym,
}

/// A mention of the question that could be an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mentioned<V> {
    /// Which mention of the question.
    pub mention: u32,
    /// By what.
    pub by: NamedBy,
    /// The entity.
    pub entity: V,
}

/// Why an entity is an entry entity; one of the two at least is given.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Grounds {
    /// It is mentioned, by this.
    pub named: Option<NamedBy>,
    /// It is among the nearest, with this cosine.
    pub nearest: Option<f64>,
}

/// V_0 with the grounds of each (HyCE-RAG eq. 9, 12 and 13): for each mention the entities of that name, else those of that
/// alias, else those of a synonym; and the `most` entities with the highest cosine (K_v), equal ones by id. `nearest` gives
/// an entity once. Cost: sorting the mentions and the nearest.
pub fn entry<V: Ord + Clone>(
    mentioned: impl IntoIterator<Item = Mentioned<V>>,
    nearest: impl IntoIterator<Item = (V, f64)>,
    most: usize,
) -> BTreeMap<V, Grounds> {
    let mut grounds: BTreeMap<V, Grounds> = BTreeMap::new();
    let mut mentioned: Vec<Mentioned<V>> = mentioned.into_iter().collect();
    mentioned.sort_unstable();
    for of_one in mentioned.chunk_by(|a, b| a.mention == b.mention) {
        for found in of_one.iter().take_while(|found| found.by == of_one[0].by) {
            let named = &mut grounds.entry(found.entity.clone()).or_default().named;
            *named = Some(named.map_or(found.by, |by| by.min(found.by)));
        }
    }
    let mut nearest: Vec<(V, f64)> = nearest.into_iter().collect();
    nearest.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    let cosines: Vec<f64> = nearest.iter().map(|&(_, cosine)| cosine).collect();
    for at in top(&cosines, most) {
        let (entity, cosine) = &nearest[at];
        grounds.entry(entity.clone()).or_default().nearest = Some(*cosine);
    }
    grounds
}

#[cfg(test)]
mod tests {
    use super::{Grounds, Mentioned, NamedBy, entry};

    #[test]
    fn a_name_goes_before_an_alias_and_both_sources_join() {
        let mentioned = |mention, by, entity| Mentioned { mention, by, entity };
        let mentions = [
            mentioned(0, NamedBy::Alias, "paris hilton"),
            mentioned(0, NamedBy::Name, "paris"),
            mentioned(1, NamedBy::Synonym, "seine"),
            mentioned(2, NamedBy::Alias, "paris"),
        ];
        let nearest = [("louvre", 0.5), ("seine", 0.5), ("lyon", 0.25), ("france", 0.75)];
        let given: Vec<_> = entry(mentions, nearest, 2).into_iter().collect();
        let grounds = |named, nearest| Grounds { named, nearest };
        assert_eq!(
            given,
            [
                ("france", grounds(None, Some(0.75))),
                ("louvre", grounds(None, Some(0.5))),
                ("paris", grounds(Some(NamedBy::Name), None)),
                ("seine", grounds(Some(NamedBy::Synonym), None)),
            ]
        );
    }
}
