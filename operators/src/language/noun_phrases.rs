//! Noun phrases: what a sentence speaks of without a name for it, such as `solar power` or `the women's rights movement`.

use hypercane_schemas::Span;

use super::{Analysis, Tagged};

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

/// The noun phrases of a sentence, in its order, without articles. None overlap, and none lies within a named entity; one that
/// holds an entity and more (`New York mayor`) is given whole.
pub fn noun_phrases(sentence: &str, analysis: &Analysis<'_>) -> Vec<Span> {
    let tokens = &analysis.tokens;
    let roles: Vec<Role> = (0..tokens.len()).map(|at| role(sentence, analysis, at)).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if !begins(&roles, at) {
            at += 1;
            continue;
        }
        let end = (at + 1..tokens.len()).find(|next| !goes_on(&roles, tokens, *next)).unwrap_or(tokens.len());
        let last = (at..end).rev().find(|part| matches!(roles[*part], Role::Noun | Role::Number));
        let is_quantifier =
            |token: &Tagged<'_>| token.tag.starts_with("JJ") && QUANTIFIERS.contains(&token.token.norm.as_str());
        let first = at + tokens[at..end].iter().take_while(|token| is_quantifier(token)).count();
        if let Some(last) = last.filter(|last| first <= *last) {
            let span = tokens[first].token.span.cover(tokens[last].token.span);
            let is_pronoun = first == last && PRONOUNS.contains(&tokens[first].token.norm.as_str());
            let is_named = analysis.entities.iter().any(|entity| entity.span.cover(span) == entity.span);
            if !is_pronoun && !is_named {
                found.push(span);
            }
        }
        at = end;
    }
    found
}

/// Whether a phrase can begin with a token.
fn begins(roles: &[Role], at: usize) -> bool {
    match roles[at] {
        Role::Noun | Role::Modifier => true,
        Role::Participle => at > 0 && roles[at - 1] == Role::Announcement,
        _ => false,
    }
}

/// Whether the phrase that holds the token before goes on with this one.
fn goes_on(roles: &[Role], tokens: &[Tagged<'_>], at: usize) -> bool {
    let (before, tag_before) = (roles[at - 1], tokens[at - 1].tag);
    match roles[at] {
        Role::Noun | Role::Joint => true,
        // `children free meals`, but `Cold War nuclear tests`.
        Role::Modifier => tag_before != "NNS",
        // `people using phones`, but `oil-producing countries`.
        Role::Participle => before != Role::Noun,
        Role::Number => before != Role::Noun || tag_before.starts_with("NNP"),
        Role::Announcement | Role::None => false,
    }
}

fn role(sentence: &str, analysis: &Analysis<'_>, at: usize) -> Role {
    let Tagged { token, tag } = &analysis.tokens[at];
    let entity = |span: Span| analysis.entities.iter().find(|entity| entity.span.cover(span) == entity.span);
    if entity(token.span).is_some_and(|entity| VALUES.contains(&entity.label)) {
        return Role::None;
    }
    match *tag {
        "NN" | "NNS" | "NNP" | "NNPS" if is_word(sentence, token.span) => Role::Noun,
        "CD" => Role::Number,
        "JJ" | "JJR" | "JJS" | "AFX" => Role::Modifier,
        // An adverb counts where a hyphen ties it to what follows: `well-known`.
        "RB" if analysis.tokens.get(at + 1).is_some_and(|next| next.tag == "HYPH") => Role::Modifier,
        "VBN" | "VBG" => Role::Participle,
        // `'s` after a name parts the owner from what is owned; after other nouns it is often part of a term.
        "POS" if at > 0 && entity(analysis.tokens[at - 1].token.span).is_some() => Role::Announcement,
        "HYPH" | "POS" => Role::Joint,
        "DT" | "PRP$" | "WP$" | "PDT" => Role::Announcement,
        _ => Role::None,
    }
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
        check(
            "In/IN [March/NNP 1995/CD]DATE police/NN found/VBD [two/CD hundred/CD]CARDINAL dogs/NNS",
            &["police", "dogs"],
        );
        check("Many/JJ other/JJ people/NNS saw/VBD something/NN in/IN several/JJ", &["people"]);
    }
}
