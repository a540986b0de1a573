//! Storms by their keys: the year, and whether a name is only a number.

use hypercane_schemas::EntityKey;

use super::words::{number_word, plain, tokens};

/// The name and year of a key that names a storm so, such as `storm:MILTON_2024`.
fn named_storm(key: &EntityKey) -> Option<(String, i16)> {
    let (name, year) = key.0.strip_prefix("storm:")?.rsplit_once('_')?;
    (year.len() == 4).then_some(())?;
    Some((plain(name), year.parse().ok()?))
}

/// Whether a key names a depression or disturbance by its number only (`storm:FOUR_2024`); its name came later.
pub(super) fn is_numbered(key: &EntityKey) -> bool {
    named_storm(key).is_some_and(|(name, _)| number_word(&tokens(&name), 0).is_some())
}

/// The year of a storm's key of either form: the last four digits.
pub(super) fn storm_year(key: &EntityKey) -> Option<i16> {
    let digits = key.0.get(key.0.len().checked_sub(4)?..)?;
    key.0.starts_with("storm:").then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use hypercane_schemas::EntityKey;

    use super::{named_storm, storm_year};

    #[test]
    fn keys_of_both_forms_tell_the_year() {
        assert_eq!(storm_year(&EntityKey("storm:AL142024".into())), Some(2024));
        assert_eq!(storm_year(&EntityKey("storm:MILTON_2024".into())), Some(2024));
        assert_eq!(named_storm(&EntityKey("storm:MILTON_2024".into())), Some(("milton".into(), 2024)));
    }
}
