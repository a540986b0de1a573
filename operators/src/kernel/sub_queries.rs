//! A question as a sequence of sub-queries that depend on each other (HyperProve 3, Q -> q_1 ... q_m), by rules of English
//! grammar, where no language model decomposes it.
//!
//! What is nested deepest is asked first: of `the seat of the county where Van Hook lies` the county, then the seat of what
//! was answered. A comparison asks for each of the two things by itself, and for their directors, say, before.

use crate::language::Analysis;

/// A word of the question.
#[derive(Clone, Debug)]
struct Word {
    text: String,
    tag: String,
    space_after: bool,
    /// Part of a name, or the place of an answer.
    is_name: bool,
}

/// The sub-queries of a question, at most `most`; the last asks for the answer. `#1` stands for the answer of the first. A
/// question that nothing is nested in is its only sub-query. Cost: words squared.
pub fn sub_queries(question: &str, analysis: &Analysis<'_>, most: usize) -> Vec<String> {
    let mut words = words(question, analysis);
    if let Some(compared) = comparison(&words, most) {
        return compared;
    }
    let mut found = Vec::new();
    while found.len() + 1 < most
        && let Some((start, end)) = deepest(&words)
    {
        found.push(text(&words[start..end]));
        let space_after = words[end - 1].space_after;
        words.splice(start..end, [answer_of(found.len(), space_after)]);
    }
    found.push(if found.is_empty() { question.trim().to_owned() } else { format!("{}?", text(&words)) });
    found
}

fn words(question: &str, analysis: &Analysis<'_>) -> Vec<Word> {
    let in_name = |start: u32| {
        let mut names = analysis.entities.iter().filter(|entity| !matches!(entity.label, "CARDINAL" | "ORDINAL"));
        names.any(|entity| (entity.span.start..entity.span.end).contains(&start))
    };
    let word = |tagged: &crate::language::Tagged<'_>| {
        let text = tagged.token.span.of(question)?.trim();
        let is_name = (in_name(tagged.token.span.start) || tagged.tag.starts_with("NNP")) && tagged.tag != "POS";
        let (text, tag) = (text.to_owned(), tagged.tag.to_owned());
        (!text.is_empty()).then_some(Word { text, tag, space_after: tagged.token.space_after, is_name })
    };
    let mut words: Vec<Word> = analysis.tokens.iter().filter_map(word).collect();
    while words.pop_if(|word| matches!(word.text.as_str(), "?" | ".")).is_some() {}
    words
}

fn answer_of(number: usize, space_after: bool) -> Word {
    Word { text: format!("#{number}"), tag: "NNP".into(), space_after, is_name: true }
}

fn text(words: &[Word]) -> String {
    let joined: String =
        words.iter().map(|word| format!("{}{}", word.text, if word.space_after { " " } else { "" })).collect();
    joined.trim_matches(|mark: char| mark.is_whitespace() || mark == ',').to_owned()
}

/// The noun phrase that is nested deepest: the last that says by a name which thing it means, and is not all that is asked.
fn deepest(words: &[Word]) -> Option<(usize, usize)> {
    let is_nested = |&(start, end): &(usize, usize)| {
        let asks = |word: &Word| is_noun(word) || word.tag.starts_with("JJ") || is_telling_verb(word);
        words[start..end].iter().any(|word| word.is_name)
            && (start, end) != (0, words.len())
            && words[..start].iter().chain(&words[end..]).any(asks)
    };
    (1..words.len()).rev().filter_map(|at| nested_at(words, at)).find(is_nested)
}

/// The noun phrase whose narrowing part begins at a word: a preposition, a relative pronoun, a participle, a possessive.
fn nested_at(words: &[Word], at: usize) -> Option<(usize, usize)> {
    let word = &words[at];
    if word.is_name {
        return None;
    }
    if word.tag == "POS" {
        let start = (0..at).rev().take_while(|before| words[*before].is_name).last()?;
        let end =
            (at + 1..words.len()).take_while(|next| is_noun(&words[*next]) || is_adjective(&words[*next])).last()?;
        return Some((start, end + 1));
    }
    let is_relative = matches!(word.tag.as_str(), "WDT" | "WP" | "WP$" | "WRB")
        || (word.text.eq_ignore_ascii_case("that") && word.tag == "IN");
    // Of `the person to whom` the preposition goes with what follows.
    let noun =
        if is_relative && at >= 2 && matches!(words[at - 1].tag.as_str(), "IN" | "TO" | ",") { at - 2 } else { at - 1 };
    if !is_noun(&words[noun]) || words[noun].is_name {
        return None;
    }
    let end = match word.tag.as_str() {
        _ if is_relative => clause_end(words, at + 1),
        "IN" => name_end(words, at + 1)?,
        "VBN" if words.get(at + 1).is_some_and(|next| next.tag == "IN") => name_end(words, at + 2)?,
        _ => return None,
    };
    let start = (0..noun).rev().take_while(|before| is_of_phrase(&words[*before])).last().unwrap_or(noun);
    Some((start, end))
}

/// Where the name ends that begins here, perhaps after an article and what the thing is (`the film Polish-Russian War`).
fn name_end(words: &[Word], from: usize) -> Option<usize> {
    let is_before = |word: &Word| !word.is_name && (is_of_phrase(word) || matches!(word.tag.as_str(), "``" | "''"));
    let start = (from..words.len()).find(|at| !is_before(&words[*at])).filter(|at| words[*at].is_name)?;
    Some((start..words.len()).find(|at| !words[*at].is_name).unwrap_or(words.len()))
}

/// Where a clause ends: before its second verb, which belongs to what is around it.
fn clause_end(words: &[Word], from: usize) -> usize {
    let is_verb = |word: &Word| !word.is_name && (word.tag.starts_with("VB") || word.tag == "MD");
    let mut has_verb = false;
    for at in from..words.len() {
        let (word, before) = (&words[at], &words[at - 1]);
        let goes_on = (is_verb(before) && !is_telling_verb(before)) || matches!(before.tag.as_str(), "TO" | "CC");
        if is_verb(word) {
            if has_verb && !goes_on && !matches!(word.tag.as_str(), "VBN" | "VBG") {
                return at;
            }
            has_verb = true;
        }
    }
    words.len()
}

/// `A or B`, `both A and B`: each by itself, after what is asked about first where that is someone of each.
fn comparison(words: &[Word], most: usize) -> Option<Vec<String>> {
    let says = |text: &str| words.iter().any(|word| !word.is_name && word.text.eq_ignore_ascii_case(text));
    let compares_all = says("both") || says("same") || says("between");
    let joins = |word: &Word| {
        !word.is_name
            && (word.text.eq_ignore_ascii_case("or") || (compares_all && word.text.eq_ignore_ascii_case("and")))
    };
    let at = (1..words.len()).rev().find(|at| joins(&words[*at]))?;
    let before = (0..at).rev().find(|before| words[*before].text != ",").filter(|before| words[*before].is_name)?;
    let first = (0..=before).rev().take_while(|start| words[*start].is_name).last()?;
    let second = (at + 1..words.len()).take(3).find(|start| words[*start].is_name)?;
    let end = (second..words.len()).find(|at| !words[*at].is_name).unwrap_or(words.len());
    let names = [text(&words[first..=before]), text(&words[second..end])];
    let asked_with = |name: &str| {
        let place = Word { text: name.to_owned(), tag: "NNP".into(), space_after: true, is_name: true };
        let left: Vec<Word> = words[..first].iter().chain([&place]).chain(&words[end..]).cloned().collect();
        format!("{}?", text(&left))
    };
    // Of `which film has the director who died first` the director of each.
    let someone = (1..words.len()).find(|&at| {
        let is_meant = words[at - 1].text == "whose"
            || (words[at - 1].text == "the"
                && words.get(at + 1).is_some_and(|next| matches!(next.text.as_str(), "who" | "of" | "born" | "is")));
        is_noun(&words[at]) && !words[at].is_name && is_meant
    });
    let asked = names.iter().map(|name| asked_with(name));
    Some(match someone.filter(|_| most >= 4) {
        Some(at) => {
            let noun = words[at].text.strip_suffix('s').unwrap_or(&words[at].text);
            let those = names.iter().map(|name| format!("the {noun} of {name}"));
            those.chain([asked_with("#1"), asked_with("#2")]).collect()
        }
        None => asked.take(most).collect(),
    })
}

fn is_noun(word: &Word) -> bool {
    word.tag.starts_with("NN")
}

fn is_adjective(word: &Word) -> bool {
    word.tag.starts_with("JJ")
}

fn is_telling_verb(word: &Word) -> bool {
    const AUXILIARIES: [&str; 12] =
        ["is", "was", "are", "were", "be", "been", "do", "does", "did", "has", "have", "had"];
    word.tag.starts_with("VB") && !AUXILIARIES.contains(&word.text.to_lowercase().as_str())
}

/// A word that can be in a noun phrase before its last noun.
fn is_of_phrase(word: &Word) -> bool {
    is_noun(word) || is_adjective(word) || matches!(word.tag.as_str(), "DT" | "CD" | "PRP$" | "HYPH")
}

#[cfg(test)]
mod tests {
    use hypercane_schemas::Span;

    use super::sub_queries;
    use crate::language::{Analysis, NamedEntity, Tagged, Token};

    /// Words with their tags, as `word/TAG`; those in brackets are one name.
    fn asked(tagged: &str, most: usize) -> Vec<String> {
        let (mut question, mut tokens, mut entities, mut name) = (String::new(), Vec::new(), Vec::new(), None);
        for part in tagged.split_whitespace() {
            let (word, tag) = part.rsplit_once('/').unwrap();
            let text = word.trim_matches(['[', ']']);
            if !matches!(tag, "POS" | "." | ",") && !question.is_empty() {
                question.push(' ');
            }
            let span = Span::new(question.len(), question.len() + text.len());
            if word.starts_with('[') {
                name = Some(span.start);
            }
            if word.ends_with(']') {
                let span = Span { start: name.take().unwrap(), end: span.end };
                entities.push(NamedEntity { span, label: "FAC" });
            }
            question.push_str(text);
            tokens.push(Tagged { token: Token { span, space_after: true, norm: text.to_lowercase() }, tag });
        }
        for at in 1..tokens.len() {
            tokens[at - 1].token.space_after = tokens[at - 1].token.span.end < tokens[at].token.span.start;
        }
        sub_queries(&question, &Analysis { tokens, entities }, most)
    }

    #[test]
    fn what_is_nested_deepest_is_asked_first() {
        let milwaukee = "What/WP is/VBZ the/DT deepest/JJS part/NN of/IN the/DT ocean/NN by/IN the/DT state/NN where/WRB \
                         [Main/NNP Street/NNP Station]/NNP is/VBZ located/VBN ?/.";
        let all =
            ["the state where Main Street Station is located", "the ocean by #1", "What is the deepest part of #2?"];
        assert_eq!(asked(milwaukee, 4), all);
        assert_eq!(asked(milwaukee, 2), [all[0], "What is the deepest part of the ocean by #1?"]);
        assert_eq!(
            asked(milwaukee, 1),
            ["What is the deepest part of the ocean by the state where Main Street Station is located?"]
        );
    }

    #[test]
    fn a_clause_ends_where_the_outer_one_goes_on() {
        let asked_for =
            asked("When/WRB did/VBD the/DT country/NN where/WRB [Oslo]/NNP is/VBZ located/VBN join/VB it/PRP ?/.", 4);
        assert_eq!(asked_for, ["the country where Oslo is located", "When did #1 join it?"]);
    }

    #[test]
    fn an_owner_and_a_participle_narrow_a_noun_too() {
        let father = asked("Who/WP is/VBZ the/DT father/NN of/IN [Edward/NNP Baring]/NNP 's/POS father/NN ?/.", 4);
        assert_eq!(father, ["Edward Baring's father", "Who is the father of #1?"]);
        let film = asked(
            "Where/WRB was/VBD the/DT star/NN of/IN the/DT film/NN directed/VBN by/IN [Ann/NNP Lee]/NNP born/VBN ?/.",
            4,
        );
        assert_eq!(film, ["the film directed by Ann Lee", "the star of #1", "Where was #2 born?"]);
    }

    #[test]
    fn a_question_without_a_nested_name_stays_as_it_is() {
        assert_eq!(asked("Who/WP is/VBZ the/DT mayor/NN of/IN [Oslo]/NNP ?/.", 4), ["Who is the mayor of Oslo?"]);
        assert_eq!(asked("Why/WRB ?/.", 4), ["Why?"]);
    }

    #[test]
    fn a_comparison_asks_for_each() {
        let older = "Who/WP is/VBZ older/JJR ,/, [Ann/NNP Lee]/NNP or/CC [Bo/NNP Ek]/NNP ?/.";
        assert_eq!(asked(older, 4), ["Who is older, Ann Lee?", "Who is older, Bo Ek?"]);
        let directors = "Which/WDT film/NN has/VBZ the/DT director/NN who/WP died/VBD first/RB ,/, [Alder]/NNP or/CC [Birch]/NNP ?/.";
        let each = ["the director of Alder", "the director of Birch"];
        assert_eq!(asked(directors, 4)[..2], each);
        assert_eq!(
            asked(directors, 4)[2..],
            ["Which film has the director who died first, #1?", "Which film has the director who died first, #2?"]
        );
    }
}
