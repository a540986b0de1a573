//! One storm, one key: storms that a document names only by name and year meet those with an ATCF id.

use std::collections::BTreeMap;

use hypercane_schemas::EntityKey;

use super::words::{number_word, plain, tokens};

/// The key of a storm that is known by name and year alone, such as `storm:MILTON_2024`.
pub fn named_storm_key(name: &str, year: i16) -> EntityKey {
    EntityKey(format!("storm:{}_{year}", plain(name).to_uppercase()))
}

/// The name and year of such a key.
pub fn named_storm(key: &EntityKey) -> Option<(String, i16)> {
    let (name, year) = key.0.strip_prefix("storm:")?.rsplit_once('_')?;
    (year.len() == 4).then_some(())?;
    Some((plain(name), year.parse().ok()?))
}

/// Whether a key names a depression or disturbance by its number only (`storm:FOUR_2024`); its name came later.
pub(super) fn is_numbered(key: &EntityKey) -> bool {
    named_storm(key).is_some_and(|(name, _)| number_word(&tokens(&name), 0).is_some())
}

/// The year of a storm's key of either form: the last four digits.
pub fn storm_year(key: &EntityKey) -> Option<i16> {
    let digits = key.0.get(key.0.len().checked_sub(4)?..)?;
    key.0.starts_with("storm:").then(|| digits.parse().ok()).flatten()
}

/// Maps name-and-year keys to the one ATCF key with that name in that year. A name that several storms of the year bore
/// (as two basins may give one) stays as it is.
pub fn unify_storms<'a>(known: impl IntoIterator<Item = (&'a EntityKey, &'a str)>) -> BTreeMap<EntityKey, EntityKey> {
    let mut by_name: BTreeMap<EntityKey, Vec<&EntityKey>> = BTreeMap::new();
    for (key, name) in known {
        if named_storm(key).is_none()
            && let Some(year) = storm_year(key)
        {
            let keys = by_name.entry(named_storm_key(name, year)).or_default();
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    let single = by_name.into_iter().filter(|(_, keys)| keys.len() == 1);
    single.map(|(named, keys)| (named, keys[0].clone())).collect()
}

#[cfg(test)]
mod tests {
    use hypercane_schemas::EntityKey;

    use super::{named_storm, storm_year, unify_storms};

    #[test]
    fn a_name_and_year_become_the_id() {
        let key = |k: &str| EntityKey(k.into());
        let known =
            [(key("storm:AL142024"), "Milton"), (key("storm:AL012024"), "Alberto"), (key("storm:EP012024"), "Alberto")];
        let map = unify_storms(known.iter().map(|(k, n)| (k, *n)));
        assert_eq!(map.get(&key("storm:MILTON_2024")), Some(&key("storm:AL142024")));
        assert_eq!(map.get(&key("storm:ALBERTO_2024")), None);
        assert_eq!(storm_year(&key("storm:AL142024")), Some(2024));
        assert_eq!(named_storm(&key("storm:MILTON_2024")), Some(("milton".into(), 2024)));
    }
}
