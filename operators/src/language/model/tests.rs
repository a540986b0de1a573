//! The model against spaCy's own output, and against what a person reads in a sentence. Without the model's files the tests
//! say that they skipped.

use std::{collections::BTreeMap, path::PathBuf, sync::OnceLock};

use hypercane_schemas::Span;
use serde::Deserialize;

use super::{super::LanguageError, Language, Token};
use crate::language::{
    features::{prefix, shape, suffix},
    noun_phrases,
};

/// The files of the model that `make models` fetched, or `None`.
fn files() -> Option<BTreeMap<String, Vec<u8>>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let cache = std::env::var_os("HYPERCANE_CACHE").map_or_else(|| root.join(".cache"), PathBuf::from);
    let folder = cache.join("models/en_core_web_sm");
    if !folder.is_dir() {
        println!("skipped: no language model in {}; `make models` fetches it", folder.display());
        return None;
    }
    let read = |name: &str| (name.to_owned(), std::fs::read(folder.join(name)).unwrap());
    Some(Language::FILES.into_iter().map(read).collect())
}

fn language() -> Option<&'static Language> {
    static LANGUAGE: OnceLock<Option<Language>> = OnceLock::new();
    LANGUAGE.get_or_init(|| Some(Language::parse(&files()?).unwrap())).as_ref()
}

/// A sentence with what spaCy makes of it.
#[derive(Deserialize)]
struct Reference {
    text: String,
    /// Text, norm, prefix, suffix, shape, whether a blank follows, whether it is white space.
    toks: Vec<(String, String, String, String, String, u8, u8)>,
    tags: Vec<String>,
    /// First token, one past the last, label.
    ents: Vec<(usize, usize, String)>,
}

impl Reference {
    fn tokens(&self) -> Vec<Token> {
        let mut start = 0;
        let token = |(text, norm, .., space_after, _): &(String, String, String, String, String, u8, u8)| {
            let span = Span::new(start, start + text.len());
            start = span.end as usize + usize::from(*space_after);
            Token { span, space_after: *space_after == 1, norm: norm.clone() }
        };
        self.toks.iter().map(token).collect()
    }

    fn entities(&self, tokens: &[Token]) -> Vec<(Span, &str)> {
        self.ents
            .iter()
            .map(|(start, end, label)| (tokens[*start].span.cover(tokens[*end - 1].span), label.as_str()))
            .collect()
    }
}

fn references() -> Option<Vec<Reference>> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let shared = std::env::var_os("HYPERCANE_SHARED").map_or(beside, PathBuf::from);
    let path = shared.join("spikes/sp_ner/sp_eval.json");
    let Ok(bytes) = std::fs::read(&path) else {
        println!("skipped: {} is not there", path.display());
        return None;
    };
    Some(serde_json::from_slice(&bytes).unwrap())
}

#[test]
fn tokens_tags_and_entities_are_those_of_spacy() {
    let (Some(language), Some(references)) = (language(), references()) else { return };
    let (mut n_cut_alike, mut n_tags, mut n_entities) = (0, 0, 0);
    // With spaCy's tokens, and with ours.
    let (mut n_equal_tags, mut n_equal_entities, mut n_other_entities) = ([0; 2], [0; 2], [0; 2]);
    for reference in &references {
        let given = reference.tokens();
        for (token, (text, _, first, last, form, ..)) in given.iter().zip(&reference.toks) {
            assert_eq!(token.span.of(&reference.text), Some(text.as_str()));
            assert_eq!(
                (prefix(text), suffix(text), shape(text).as_str()),
                (first.as_str(), last.as_str(), form.as_str())
            );
        }
        let cut = language.tokenizer.tokens(&reference.text);
        n_cut_alike += usize::from(cut == given);
        n_tags += given.len();
        let expected = reference.entities(&given);
        n_entities += expected.len();
        for (way, tokens) in [&given, &cut].into_iter().enumerate() {
            let (tags, entities) = language.tags_and_entities(&reference.text, tokens);
            let tags: BTreeMap<Span, &str> = tokens.iter().map(|token| token.span).zip(tags).collect();
            let pairs = given.iter().zip(&reference.tags);
            n_equal_tags[way] += pairs.filter(|(token, tag)| tags.get(&token.span) == Some(&tag.as_str())).count();
            let found: Vec<_> = entities.iter().map(|entity| (entity.span, entity.label)).collect();
            n_equal_entities[way] += expected.iter().filter(|entity| found.contains(entity)).count();
            n_other_entities[way] += found.iter().filter(|entity| !expected.contains(entity)).count();
        }
    }
    let n_sentences = references.len();
    println!(
        "with spaCy's tokens and with ours: {n_equal_tags:?} of {n_tags} tags and {n_equal_entities:?} of {n_entities} \
         entities equal, {n_other_entities:?} others found; {n_cut_alike} of {n_sentences} sentences cut alike"
    );
    assert_eq!(n_cut_alike, n_sentences);
    assert_eq!(n_equal_tags, [n_tags; 2]);
    assert_eq!((n_equal_entities, n_other_entities), ([n_entities; 2], [0; 2]));
}

#[track_caller]
fn check(sentence: &str, expected: &[(&str, &str)]) {
    let Some(language) = language() else { return };
    let analysis = language.analyse(sentence);
    let found: Vec<_> = analysis.entities.iter().map(|e| (e.span.of(sentence).unwrap(), e.label)).collect();
    assert_eq!(found, expected);
}

#[test]
fn people_places_and_dates_are_found() {
    check(
        "Ada Lovelace was born in London on 10 December 1815.",
        &[("Ada Lovelace", "PERSON"), ("London", "GPE"), ("10 December 1815", "DATE")],
    );
    check(
        "In March 1995 the European Union moved its office from Paris to Vienna.",
        &[("March 1995", "DATE"), ("the European Union", "ORG"), ("Paris", "GPE"), ("Vienna", "GPE")],
    );
    check(
        "The U.S. Army sold $3,400 worth of coal to Germany.",
        &[("The U.S. Army", "ORG"), ("3,400", "MONEY"), ("Germany", "GPE")],
    );
}

#[test]
fn phrases_with_hyphens_are_whole() {
    let Some(language) = language() else { return };
    let text = "The non-profit group helped COVID-19 patients, anti-war protests and oil-producing countries.";
    let phrases = noun_phrases(text, &language.analyse(text));
    let shown: Vec<_> = phrases.iter().map(|span| span.of(text).unwrap()).collect();
    assert_eq!(shown, ["non-profit group", "COVID-19 patients", "anti-war protests", "oil-producing countries"]);
}

#[test]
fn a_line_feed_in_a_sentence_is_as_a_blank() {
    let Some(language) = language() else { return };
    let (plain, wrapped) = ("He moved to New York in 1990.", "He moved  to New\r\nYork in 1990.");
    let names = |text: &'static str| -> Vec<_> {
        let analysis = language.analyse(text);
        analysis.entities.iter().map(|e| (e.span.of(text).unwrap(), e.label)).collect()
    };
    assert_eq!(names(plain), [("New York", "GPE"), ("1990", "DATE")]);
    assert_eq!(names(wrapped), [("New\r\nYork", "GPE"), ("1990", "DATE")]);
}

#[test]
fn contractions_and_marks_are_tokens() {
    let Some(language) = language() else { return };
    let words = |text: &str| -> Vec<String> {
        language.tokenizer.tokens(text).iter().map(|token| token.span.of(text).unwrap().to_owned()).collect()
    };
    let shown = |text: &str| words(text).join(" ");
    assert_eq!(
        shown("He didn't see Mary's (old) well-known dog, e.g. at 5p.m."),
        "He did n't see Mary 's ( old ) well - known dog , e.g. at 5 p.m."
    );
    assert_eq!(
        shown("U.S.-based firms, \"big\" ones: $3.50/kg..."),
        "U.S.-based firms , \" big \" ones : $ 3.50 / kg ..."
    );
    assert_eq!(
        shown("see https://example.com/a?b=1, John.Smith@example.org!"),
        "see https://example.com/a?b=1 , John.Smith@example.org !"
    );
    assert_eq!(shown("''The End'' (1999)''."), "'' The End '' ( 1999 ) '' .");
    let long = "(".repeat(300);
    assert_eq!(words(&long), [long]);
    assert!(words("").is_empty());
}

#[test]
fn long_sentences_give_what_their_parts_give() {
    let Some(language) = language() else { return };
    let part = "Ada Lovelace was born in London on 10 December 1815 and Marie Curie in Warsaw , ";
    let sentence = part.repeat(60);
    let analysis = language.analyse(&sentence);
    let tags: Vec<_> = analysis.tokens.iter().map(|token| token.tag).collect();
    let n_words = part.split_whitespace().count();
    assert_eq!(tags.len(), 60 * n_words);
    for repeated in tags.chunks(n_words).skip(2).take(57) {
        assert_eq!(repeated, &tags[n_words..2 * n_words]);
    }
}

#[test]
fn a_missing_or_damaged_file_is_named() {
    let Some(whole) = files() else { return };
    for name in Language::FILES {
        let mut files = whole.clone();
        let bytes = files.remove(name).unwrap();
        assert_eq!(Language::parse(&files).err(), Some(LanguageError::Missing { file: name }));
        for damage in [&bytes[..bytes.len() / 2], &b"\xc1"[..], b"", b"{}"] {
            files.insert(name.into(), damage.to_vec());
            let error = Language::parse(&files).expect_err(name).to_string();
            assert!(error.contains(name), "{error}");
        }
    }
    let mut files = whole.clone();
    files.insert("tok2vec/model".into(), whole["ner/model"].clone());
    files.insert("ner/model".into(), whole["tok2vec/model"].clone());
    let error = Language::parse(&files).err().unwrap().to_string();
    assert_eq!(
        error,
        "ner/model of the language model does not fit: 2 layers \"linear\" or more are needed, and it has 0"
    );
    let mut files = whole;
    files.insert("tagger/cfg".into(), br#"{"labels":["NN","VB"]}"#.to_vec());
    let error = Language::parse(&files).err().unwrap().to_string();
    assert!(error.ends_with("shape [50, 96], and [2, 96] is needed"), "{error}");
}
