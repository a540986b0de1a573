//! Maps relation labels to the controlled vocabulary (OKH-RAG A.2 step 1): exact, then by alias, then by likeness.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization;

/// How a label was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Match {
    /// It is a relation of the vocabulary, up to the label form.
    Exact,
    /// It is a known other name.
    Alias,
    /// It is very like one relation, and like no other as much.
    Fuzzy,
}

/// A vocabulary of relations with their other names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Relations {
    /// Label form to relation.
    exact: BTreeMap<String, String>,
    /// Label form to relation.
    aliases: BTreeMap<String, String>,
    /// Least likeness for a fuzzy match; `None` for no fuzzy matching.
    fuzzy_from: Option<f64>,
}

impl Relations {
    /// A vocabulary. An alias must name a relation of it and must not mean two of them.
    pub fn new<'a>(
        vocabulary: impl IntoIterator<Item = &'a str>,
        aliases: impl IntoIterator<Item = (&'a str, &'a str)>,
        fuzzy_from: Option<f64>,
    ) -> Result<Self, String> {
        let exact: BTreeMap<String, String> =
            vocabulary.into_iter().map(|relation| (label_form(relation), relation.to_string())).collect();
        let mut known = BTreeMap::new();
        for (alias, relation) in aliases {
            let Some(relation) = exact.get(&label_form(relation)) else {
                return Err(format!("alias `{alias}` stands for `{relation}`, which is no relation of the vocabulary"));
            };
            match known.insert(label_form(alias), relation.clone()) {
                Some(other) if other != *relation => {
                    return Err(format!("alias `{alias}` stands for both `{other}` and `{relation}`"));
                }
                _ => {}
            }
        }
        Ok(Self { exact, aliases: known, fuzzy_from })
    }

    /// The relation that a label stands for, and how it was recognised.
    pub fn normalise(&self, label: &str) -> Option<(&str, Match)> {
        let form = label_form(label);
        if form.is_empty() {
            return None;
        }
        if let Some(relation) = self.exact.get(&form) {
            return Some((relation, Match::Exact));
        }
        if let Some(relation) = self.aliases.get(&form) {
            return Some((relation, Match::Alias));
        }
        self.fuzzy_from.and_then(|least| self.likest(&form, least)).map(|relation| (relation, Match::Fuzzy))
    }

    /// The relation whose name or alias is likest to the form, if no other relation is as like.
    fn likest(&self, form: &str, least: f64) -> Option<&str> {
        let mut best: Option<(f64, &str)> = None;
        let mut contested = false;
        for (known, relation) in self.exact.iter().chain(&self.aliases) {
            let likeness = strsim::normalized_damerau_levenshtein(form, known);
            match best {
                _ if likeness < least => {}
                Some((score, other)) if likeness == score => contested |= other != relation,
                Some((score, _)) if likeness < score => {}
                _ => (best, contested) = (Some((likeness, relation.as_str())), false),
            }
        }
        best.filter(|_| !contested).map(|(_, relation)| relation)
    }
}

/// The form under which labels are compared: NFKC, lower case, each run of blanks, hyphens and underscores one
/// underscore, none at the ends.
pub fn label_form(label: &str) -> String {
    let folded: String = label.nfkc().collect::<String>().to_lowercase();
    let mut form = String::with_capacity(folded.len());
    for part in folded.split(|c: char| c.is_whitespace() || c == '-' || c == '_').filter(|part| !part.is_empty()) {
        if !form.is_empty() {
            form.push('_');
        }
        form.push_str(part);
    }
    form
}

#[cfg(test)]
mod tests {
    use super::{Match, Relations};

    #[test]
    fn likeness_decides_only_where_one_relation_is_likest() {
        let relations = Relations::new(
            ["has_watch_status", "has_motion", "has_notion"],
            [("watches", "has_watch_status")],
            Some(0.85),
        );
        let relations = relations.unwrap();
        assert_eq!(relations.normalise("has_watch_statuss"), Some(("has_watch_status", Match::Fuzzy)));
        assert_eq!(relations.normalise("Watches"), Some(("has_watch_status", Match::Alias)));
        assert_eq!(relations.normalise("has_potion"), None);
        assert_eq!(relations.normalise("sings"), None);
    }

    #[test]
    fn an_alias_names_one_known_relation() {
        assert!(Relations::new(["a"], [("x", "b")], None).is_err());
        assert!(Relations::new(["a", "b"], [("x", "a"), ("X", "b")], None).is_err());
        assert!(Relations::new(["a"], [("x", "a"), ("X", "a")], None).is_ok());
    }
}
