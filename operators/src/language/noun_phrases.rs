//! Noun phrases: what a sentence speaks of without a name for it, such as `solar power` or `the women's rights movement`.

use hypercane_schemas::Span;

use super::{Analysis, NamedEntity, Tagged};

/// The labels of entities that are times and amounts; no phrase goes over them.
const VALUES: [&str; 7] = ["DATE", "TIME", "CARDINAL", "ORDINAL", "PERCENT", "MONEY", "QUANTITY"];

/// Nouns that stand for any thing.
const PRONOUNS: [&str; 13] = [
    "anybody",
    "anyone",
    "anything",
    "everybody",
    "everyone",
    "everything",
    "nobody",
    "none",
    "nothing",
    "somebody",
    "someone",
    "something",
    "one",
];

/// Adjectives that say how many or which, not what.
const QUANTIFIERS: [&str; 18] = [
    "certain",
    "different",
    "enough",
    "few",
    "fewer",
    "former",
    "latter",
    "least",
    "less",
    "many",
    "more",
    "most",
    "much",
    "other",
    "own",
    "same",
    "several",
    "such",
];

/// What a token can be in a phrase.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A noun; a phrase ends with one.
    Noun,
    /// A number after a proper noun, as in `Apollo 11`.
    Number,
    /// An adjective.
    Modifier,
    /// A participle: part of a phrase that has begun or was announced by an article.
    Participle,
    /// A hyphen or a possessive between two parts.
    Joint,
    /// An article or the like: the phrase begins behind it.
    Announcement,
    None,
}

/// The noun phrases of a sentence, in its order, without articles. None overlap, and none lies within a named entity or ends
/// with one (of `the physicist Marie Curie` it is `physicist`); where a name goes before, it is part (`New York mayor`).
pub fn noun_phrases(sentence: &str, analysis: &Analysis<'_>) -> Vec<Span> {
    let tokens = &analysis.tokens;
    let phrase = Parts::new(sentence, analysis);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if !phrase.begins(at) {
            at += 1;
            continue;
        }
        let end = (at + 1..tokens.len()).find(|next| !phrase.goes_on(*next)).unwrap_or(tokens.len());
        let last = (at..end).rev().find(|part| phrase.can_end(*part));
        let is_quantifier =
            |token: &Tagged<'_>| token.tag.starts_with("JJ") && QUANTIFIERS.contains(&token.token.norm.as_str());
        let first = at + tokens[at..end].iter().take_while(|token| is_quantifier(token)).count();
        if let Some(last) = last.filter(|last| first <= *last) {
            let is_pronoun = first == last && PRONOUNS.contains(&tokens[first].token.norm.as_str());
            if !is_pronoun {
                found.push(tokens[first].token.span.cover(tokens[last].token.span));
            }
        }
        at = end;
    }
    found
}

/// The tokens of a sentence as parts of phrases.
struct Parts<'a> {
    tokens: &'a [Tagged<'a>],
    /// For each token the place of the entity that holds it.
    entities: Vec<Option<usize>>,
    roles: Vec<Role>,
}

impl<'a> Parts<'a> {
    fn new(sentence: &str, analysis: &'a Analysis<'a>) -> Self {
        let tokens = &analysis.tokens;
        let mut entities = Vec::with_capacity(tokens.len());
        let mut next = 0;
        for Tagged { token, .. } in tokens {
            while analysis.entities.get(next).is_some_and(|entity| entity.span.end <= token.span.start) {
                next += 1;
            }
            let is_in = |entity: &&NamedEntity<'_>| entity.span.cover(token.span) == entity.span;
            entities.push(analysis.entities.get(next).filter(is_in).map(|_| next));
        }
        let role = |at: usize| {
            let is_value = entities[at].is_some_and(|entity| VALUES.contains(&analysis.entities[entity].label));
            let after_name = at > 0 && entities[at - 1].is_some();
            let within_name =
                after_name && entities[at] == entities[at - 1] && entities.get(at + 1) == Some(&entities[at]);
            let next_tag = tokens.get(at + 1).map_or("", |next| next.tag);
            match tokens[at].tag {
                _ if is_value => Role::None,
                // A name is whole, whatever it is made of.
                _ if within_name => Role::Noun,
                "DT" | "PRP$" | "WP$" | "PDT" => Role::Announcement,
                // `'s` after a name parts the owner from what is owned; after other nouns it is often part of a term.
                "POS" if after_name => Role::Announcement,
                _ if entities[at].is_some() => Role::Noun,
                // Behind `non` and `anti` the tagger takes a hyphen for what follows it.
                _ if is_hyphen(sentence, tokens, at) => Role::Joint,
                "NN" | "NNS" | "NNP" | "NNPS" if is_word(sentence, tokens[at].token.span) => Role::Noun,
                "CD" => Role::Number,
                "JJ" | "JJR" | "JJS" | "AFX" => Role::Modifier,
                // An adverb counts where a hyphen ties it to what follows: `well-known`.
                "RB" if next_tag == "HYPH" => Role::Modifier,
                "VBN" | "VBG" => Role::Participle,
                "HYPH" | "POS" => Role::Joint,
                _ => Role::None,
            }
        };
        let roles = (0..tokens.len()).map(role).collect();
        Self { tokens, entities, roles }
    }

    /// Whether a phrase can begin with a token.
    fn begins(&self, at: usize) -> bool {
        match self.roles[at] {
            Role::Noun | Role::Modifier => true,
            Role::Participle => at > 0 && self.roles[at - 1] == Role::Announcement,
            _ => false,
        }
    }

    /// Whether a phrase can end with a token. It does not end with a name, which is an entity of its own.
    fn can_end(&self, at: usize) -> bool {
        let is_numbered = |at: usize| self.roles[at] == Role::Number && at > 0 && self.roles[at - 1] == Role::Noun;
        self.entities[at].is_none() && (self.roles[at] == Role::Noun || is_numbered(at))
    }

    /// Whether the phrase that holds the token before goes on with this one.
    fn goes_on(&self, at: usize) -> bool {
        let (before, tag_before) = (self.roles[at - 1], self.tokens[at - 1].tag);
        match self.roles[at] {
            // One name after another begins anew.
            Role::Noun => {
                self.entities[at] == self.entities[at - 1]
                    || self.entities[at].is_none()
                    || self.entities[at - 1].is_none()
            }
            Role::Joint => true,
            // `children free meals`, but `Cold War nuclear tests`.
            Role::Modifier => tag_before != "NNS",
            // `people using phones`, but `oil-producing countries`.
            Role::Participle => before != Role::Noun,
            Role::Number => before != Role::Noun || tag_before.starts_with("NNP"),
            Role::Announcement | Role::None => false,
        }
    }
}

/// Whether a token ties its neighbours together.
fn is_hyphen(sentence: &str, tokens: &[Tagged<'_>], at: usize) -> bool {
    let is_tight = at > 0 && !tokens[at - 1].token.space_after && !tokens[at].token.space_after;
    is_tight && matches!(tokens[at].token.span.of(sentence), Some("-" | "‐" | "–"))
}

fn is_word(sentence: &str, span: Span) -> bool {
    span.of(sentence).is_some_and(|text| text.contains(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use hypercane_schemas::Span;

    use super::super::{Analysis, NamedEntity, Tagged, Token};
    use super::noun_phrases;

    /// Checks the phrases of a sentence in which each word has its tag behind a slash, and entities are in brackets with
    /// their label behind: `[Paris/NNP]GPE`.
    #[track_caller]
    fn check(marked: &str, expected: &[&str]) {
        let (mut sentence, mut tokens, mut entities) = (String::new(), Vec::new(), Vec::new());
        let mut open = 0;
        for word in marked.split(' ') {
            sentence.push_str(if sentence.is_empty() { "" } else { " " });
            let start = sentence.len();
            let (text, tag) = word.split_once('/').unwrap();
            let (tag, label) = tag.split_once(']').map_or((tag, None), |(tag, label)| (tag, Some(label)));
            if text.starts_with('[') {
                open = start;
            }
            let text = text.trim_start_matches('[');
            sentence.push_str(text);
            let span = Span::new(start, sentence.len());
            tokens.push(Tagged { token: Token { span, space_after: true, norm: text.to_lowercase() }, tag });
            if let Some(label) = label {
                entities.push(NamedEntity { span: Span::new(open, sentence.len()), label });
            }
        }
        let found = noun_phrases(&sentence, &Analysis { tokens, entities });
        let found: Vec<_> = found.iter().map(|span| span.of(&sentence).unwrap()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn nouns_come_with_what_goes_before_them() {
        check(
            "The/DT old/JJ solar/JJ power/NN plant/NN burns/VBZ no/DT coal/NN ./.",
            &["old solar power plant", "coal"],
        );
        check("oil/NN -/HYPH producing/VBG countries/NNS met/VBD", &["oil - producing countries"]);
        check("a/DT well/RB -/HYPH known/VBN used/VBN car/NN dealer/NN", &["well - known used car dealer"]);
        check("Apollo/NNP 11/CD landed/VBD with/IN three/CD men/NNS", &["Apollo 11", "men"]);
        check("the/DT old/JJ 1995/CD one/CD", &[]);
    }

    #[test]
    fn a_verb_form_or_a_second_object_begins_anew() {
        check("people/NNS using/VBG phones/NNS", &["people", "phones"]);
        check("It/PRP gave/VBD children/NNS free/JJ meals/NNS", &["children", "free meals"]);
        check("has/VBZ visited/VBN friends/NNS", &["friends"]);
    }

    #[test]
    fn owners_with_a_name_are_apart_and_terms_are_whole() {
        check("[Mary/NNP]PERSON 's/POS old/JJ dog/NN", &["old dog"]);
        check("the/DT women/NNS 's/POS rights/NNS movement/NN", &["women 's rights movement"]);
    }

    #[test]
    fn names_times_amounts_and_empty_words_are_left_out() {
        check("The/DT [New/NNP York/NNP]GPE mayor/NN came/VBD", &["New York mayor"]);
        check("The/DT mayor/NN of/IN [New/NNP York/NNP]GPE", &["mayor"]);
        check("the/DT Korean/JJ leader/NN [Kim/NNP Il/NNP -/HYPH sung/VBN]PERSON met/VBD", &["Korean leader"]);
        check("[Paris/NNP]GPE [Texas/NNP]GPE police/NN", &["Texas police"]);
        check("[Lord/NNP of/IN the/DT Rings/NNPS]WORK_OF_ART fans/NNS", &["Lord of the Rings fans"]);
        check("[the/DT Republic/NNP of/IN Korea/NNP 's/POS]GPE army/NN", &["army"]);
        check(
            "In/IN [March/NNP 1995/CD]DATE police/NN found/VBD [two/CD hundred/CD]CARDINAL dogs/NNS",
            &["police", "dogs"],
        );
        check("Many/JJ other/JJ people/NNS saw/VBD something/NN in/IN several/JJ", &["people"]);
    }
}
