//! Which storms, places and products a question means, given the names that are known.

use std::collections::{BTreeMap, BTreeSet};

use hypercane_schemas::EntityKey;
use jiff::{Timestamp, civil::Date};
use serde::{Deserialize, Serialize};

use super::{
    AliasMatch, Cues, Match, Mention, Number, QuestionSlots, ScopeKey, is_small, key_parts,
    mentions::normal_form,
    storms::storm_year,
    words::{Token, number_word, tokens},
};
use crate::domain::{Domain, Questions};

/// A storm that a question names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StormLink {
    /// Its key; several where the name alone does not tell.
    pub keys: Vec<EntityKey>,
}

/// A place, port or sector that a question names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PlaceLink {
    /// The words, in normal form.
    pub form: String,
    /// Entities of that name.
    pub keys: Vec<EntityKey>,
    /// What lies in it or around it: the sector of a port, the ports of a sector.
    pub near: Vec<EntityKey>,
}

/// What a question is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Links {
    /// Storms, in the order in which they are named.
    pub storms: Vec<StormLink>,
    /// Places, in the order in which they are named.
    pub places: Vec<PlaceLink>,
    /// Kinds of products; empty means any.
    pub kinds: Vec<String>,
    /// Advisory numbers that are named.
    pub numbers: Vec<Number>,
    /// Advisory numbers inside a range.
    pub between: Vec<Number>,
    /// The number from which on products count.
    pub since: Option<u16>,
    /// The number up to which products count.
    pub until: Option<u16>,
    /// Bulletin numbers, such as `17-12`.
    pub bulletins: Vec<String>,
    /// Moments.
    pub moments: Vec<Timestamp>,
    /// Days without an hour.
    pub days: Vec<Date>,
    /// Hours before the reference event.
    pub horizons: Vec<i32>,
    /// What is asked for.
    pub cues: Cues,
    /// Words for what no link holds.
    pub words: BTreeSet<String>,
    /// Only what had been issued by then counts.
    pub as_of: Option<Timestamp>,
    /// Whether it is about what ports do; follows from the others.
    pub about_ports: bool,
    /// The keys under which its candidates are found, sorted; follow from the others. None where cosine alone finds them.
    pub scope: Vec<ScopeKey>,
}

/// The year that stands beside a name: `Harvey (2017)`, `Harvey 2017`, `Harvey, 2017`.
pub(super) fn year_beside(tokens: &[Token], mention: &Mention) -> Option<i16> {
    let after = tokens.iter().skip(mention.end as usize).take(3);
    let year = after.into_iter().find(|t| !matches!(t.lower.as_str(), "(" | "," | "in" | "of"))?;
    match year.number() {
        Some((value @ 1850..=2100, "")) if year.digits() == 4 => Some(value as i16),
        _ => None,
    }
}

/// Whether the word before a name makes it a storm's.
pub(super) fn class_before(tokens: &[Token], mention: &Mention, questions: &Questions) -> bool {
    let before = (mention.first as usize).checked_sub(1).and_then(|i| tokens.get(i));
    before.is_some_and(|t| questions.titles.contains(&t.lower))
}

/// The ports and sectors of the pack that mentions name.
pub(super) fn known_places(mentions: &[Mention], domain: &Domain) -> Vec<AliasMatch> {
    let mut by_form: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (at, mention) in mentions.iter().enumerate() {
        by_form.entry(&mention.form).or_default().push(at as u32);
    }
    let mut found = Vec::new();
    let mut push = |kind: &str, slug: &str, name: &str| {
        for &mention in by_form.get(normal_form(name).as_str()).into_iter().flatten() {
            let entity = EntityKey(format!("{kind}:{slug}"));
            found.push(AliasMatch { mention, entity, kind: kind.to_owned(), how: Match::Alias });
        }
    };
    for port in domain.ports() {
        port.names.iter().for_each(|name| push("port", &port.slug, name));
    }
    for sector in domain.sectors() {
        sector.names.iter().chain([&sector.name]).for_each(|name| push("sector", &sector.slug, name));
    }
    found.sort();
    found.dedup();
    found
}

/// Resolves the mentions of a question against the entities whose aliases match: the longest match wins, exact names beat
/// aliases and those beat names one letter off, a year tells storms of one name apart.
pub fn resolve(slots: &QuestionSlots, matched: &[AliasMatch], domain: &Domain) -> Links {
    let questions = domain.questions();
    let is_storm = |kind: &String| questions.types.storms.contains(kind);
    let mut by_mention: Vec<Vec<&AliasMatch>> = vec![Vec::new(); slots.mentions.len()];
    for found in matched.iter().chain(&slots.known) {
        let Some(list) = by_mention.get_mut(found.mention as usize) else { continue };
        let mention = &slots.mentions[found.mention as usize];
        let linkable = is_storm(&found.kind) && may_be_storm(slots, found, mention)
            || questions.types.places.contains(&found.kind)
                && !questions.not_places.contains(&mention.form)
                && !is_small(&mention.form, questions);
        if linkable && !list.iter().any(|m| m.entity == found.entity && m.how <= found.how) {
            list.push(found);
        }
    }
    let mut order: Vec<usize> = (0..by_mention.len()).filter(|&m| !by_mention[m].is_empty()).collect();
    let best = |m: usize| by_mention[m].iter().map(|f| f.how).min().unwrap_or(Match::Fuzzy);
    let length = |m: usize| slots.mentions[m].end - slots.mentions[m].first;
    order.sort_by_key(|&m| (best(m) == Match::Fuzzy, u32::MAX - length(m), slots.mentions[m].first));
    let mut taken: Vec<usize> = Vec::new();
    for m in order {
        let mention = &slots.mentions[m];
        let overlaps = |other: &usize| {
            let other = &slots.mentions[*other];
            mention.first < other.end && other.first < mention.end
        };
        if !taken.iter().any(overlaps) {
            taken.push(m);
        }
    }
    taken.sort_unstable();

    let mut links = Links {
        kinds: slots.cues.kinds.clone(),
        numbers: slots.numbers.named.clone(),
        between: slots.numbers.between.clone(),
        since: slots.numbers.since,
        until: slots.numbers.until,
        bulletins: slots.numbers.bulletins.clone(),
        moments: slots.times.moments.clone(),
        days: slots.times.days.clone(),
        horizons: slots.times.horizons.clone(),
        cues: slots.cues.clone(),
        words: slots.words.clone(),
        as_of: slots.as_of,
        ..Links::default()
    };
    for m in taken {
        let how = best(m);
        let found = by_mention[m].iter().filter(|f| (f.how == Match::Fuzzy) == (how == Match::Fuzzy));
        let (storms, places): (Vec<&&AliasMatch>, Vec<&&AliasMatch>) = found.partition(|f| is_storm(&f.kind));
        let storm = storm_of(slots, m, storms.iter().map(|f| &f.entity));
        match storm {
            Some(storm) if places.is_empty() || !reads_as_place(slots, m) => push_new(&mut links.storms, storm),
            _ if !places.is_empty() => {
                let keys: BTreeSet<EntityKey> = places.iter().map(|f| f.entity.clone()).collect();
                let near = nearby(&keys, domain);
                let link = PlaceLink { form: slots.mentions[m].form.clone(), keys: keys.into_iter().collect(), near };
                push_new(&mut links.places, link);
            }
            _ => {}
        }
    }
    links.about_ports = links.is_about_ports(questions);
    links.scope = links.scope_keys(questions);
    links
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// A storm's name has a capital letter, and a number word is a storm's name only behind a class (`Depression Nine`).
fn may_be_storm(slots: &QuestionSlots, found: &AliasMatch, mention: &Mention) -> bool {
    let is_number = number_word(&tokens(&mention.form), 0).is_some();
    let class = slots.class_before.get(found.mention as usize).copied().unwrap_or(false);
    (!is_number || class) && (found.how != Match::Fuzzy || mention.form.len() >= 5)
}

/// A name that a storm and a place share is a place when a preposition of place stands before it; the mention list holds
/// the neighbour as a shorter run, so only the year beside it can speak for the storm.
fn reads_as_place(slots: &QuestionSlots, mention: usize) -> bool {
    let mine = &slots.mentions[mention];
    let other_storm_has_year =
        slots.years_beside.iter().zip(&slots.mentions).any(|(year, other)| year.is_some() && other.first != mine.first);
    slots.years_beside[mention].is_none()
        && !slots.class_before[mention]
        && other_storm_has_year
        && mine.form.contains(' ')
}

fn storm_of<'a>(slots: &QuestionSlots, mention: usize, keys: impl Iterator<Item = &'a EntityKey>) -> Option<StormLink> {
    let keys: BTreeSet<&EntityKey> = keys.collect();
    if keys.is_empty() {
        return None;
    }
    let years: Vec<i16> = match slots.years_beside[mention] {
        Some(year) => vec![year],
        None => slots.times.years.clone(),
    };
    let of_years: Vec<EntityKey> =
        keys.iter().filter(|k| storm_year(k).is_some_and(|y| years.contains(&y))).map(|k| (*k).clone()).collect();
    if !of_years.is_empty() {
        return Some(StormLink { keys: of_years });
    }
    // A storm of another year is another storm.
    if !years.is_empty() {
        return None;
    }
    // Without a year, the last storm of that name up to now.
    let limit = slots.as_of.map_or(i16::MAX, |t| jiff::tz::Offset::UTC.to_datetime(t).year());
    let newest = keys.iter().filter_map(|k| storm_year(k)).filter(|y| *y <= limit).max();
    let keys: Vec<EntityKey> = match newest {
        Some(year) => keys.into_iter().filter(|k| storm_year(k) == Some(year)).cloned().collect(),
        None => keys.into_iter().filter(|k| storm_year(k).is_none()).cloned().collect(),
    };
    (!keys.is_empty()).then_some(StormLink { keys })
}

/// The sector of a port and the ports of a sector.
fn nearby(keys: &BTreeSet<EntityKey>, domain: &Domain) -> Vec<EntityKey> {
    let mut near = BTreeSet::new();
    for key in keys {
        match key_parts(key) {
            ("port", slug) => near.extend(domain.sector_of(slug).map(|s| EntityKey(format!("sector:{}", s.slug)))),
            ("sector", slug) => {
                let ports = domain.sector(slug).map(|s| s.ports.as_slice()).unwrap_or_default();
                near.extend(ports.iter().map(|p| EntityKey(format!("port:{p}"))));
            }
            _ => {}
        }
    }
    near.into_iter().filter(|k| !keys.contains(k)).collect()
}
