//! Tokens of English text, as spaCy cuts them: its rules and exceptions, read from the model's own files.

use std::collections::HashMap;

use fancy_regex::Regex;
use hypercane_schemas::Span;
use serde::Deserialize;

use super::{LanguageError, hash::string_key, weights::message_pack};

/// The rules of tokens, and the exceptions from them.
pub(super) const RULES_FILE: &str = "tokenizer";
/// Norms of words by the key of the word.
pub(super) const NORMS_FILE: &str = "vocab/lookups.bin";

/// A word with more bytes is one token. The rules take time that grows with the square of a word's length, and no word of a
/// language is that long.
const LONGEST_WORD: usize = 256;

/// Exceptions that the rules cut into more tokens stay cut; the longest are of emoticons.
const MOST_REJOINED: usize = 6;

/// A word, a mark, or a part of a contraction such as `n't`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its bytes in the sentence.
    pub span: Span,
    /// Whether white space follows.
    pub space_after: bool,
    /// The form under which spellings count as the same: small letters, American spelling, contractions written out.
    pub norm: String,
}

/// Cuts sentences into tokens.
pub(super) struct Tokenizer {
    prefix: Rule,
    suffix: Rule,
    infix: Rule,
    url: Rule,
    exceptions: HashMap<String, Vec<Piece>>,
    norms: HashMap<u64, String>,
}

/// A part of an exception.
struct Piece {
    length: usize,
    norm: Option<String>,
}

#[derive(Deserialize)]
struct Rules {
    prefix_search: String,
    suffix_search: String,
    infix_finditer: String,
    url_match: String,
    exceptions: HashMap<String, Vec<HashMap<u32, String>>>,
}

#[derive(Deserialize)]
struct Lookups {
    lexeme_norm: HashMap<u64, String>,
}

/// The numbers under which exceptions name the text and the norm of a part.
const TEXT: u32 = 65;
const NORM: u32 = 67;

impl Tokenizer {
    /// From the files of rules and norms.
    ///
    /// # Errors
    /// They are damaged or of another kind.
    pub(super) fn parse(rules: &[u8], norms: &[u8]) -> Result<Self, LanguageError> {
        let rules: Rules = message_pack(RULES_FILE, rules)?;
        let lookups: Lookups = message_pack(NORMS_FILE, norms)?;
        let mut exceptions = HashMap::with_capacity(rules.exceptions.len());
        for (word, parts) in rules.exceptions {
            let pieces = parts.into_iter().map(|mut part| {
                let length = part.get(&TEXT).map_or(0, String::len);
                Piece { length, norm: part.remove(&NORM) }
            });
            let pieces: Vec<Piece> = pieces.collect();
            let whole = pieces
                .iter()
                .try_fold(0, |start, piece| word.get(start..start + piece.length).map(|_| start + piece.length));
            if whole != Some(word.len()) || pieces.iter().any(|piece| piece.length == 0) {
                let reason = format!("the parts of the exception {word:?} don't make up the word");
                return Err(LanguageError::Unfit { file: RULES_FILE, reason });
            }
            exceptions.insert(word, pieces);
        }
        Ok(Self {
            prefix: Rule::parse("prefix_search", &rules.prefix_search)?,
            suffix: Rule::parse("suffix_search", &rules.suffix_search)?,
            infix: Rule::parse("infix_finditer", &rules.infix_finditer)?,
            url: Rule::parse("url_match", &rules.url_match)?,
            exceptions,
            norms: lookups.lexeme_norm,
        })
    }

    /// The tokens of a sentence. White space of any kind and length counts as one blank and is no token.
    pub(super) fn tokens(&self, sentence: &str) -> Vec<Token> {
        let mut tokens = Vec::new();
        let mut start = 0;
        for part in sentence.split_inclusive(char::is_whitespace) {
            let word = part.trim_end();
            if !word.is_empty() {
                self.cut(sentence, start, word, &mut tokens);
                if let Some(last) = tokens.last_mut() {
                    last.space_after = word.len() < part.len();
                }
            }
            start += part.len();
        }
        tokens
    }

    /// Adds the tokens of a word that begins at a byte of the sentence.
    fn cut(&self, sentence: &str, start: usize, word: &str, tokens: &mut Vec<Token>) {
        let n_before = tokens.len();
        let (mut first, mut last) = (0, word.len());
        let mut suffixes = Vec::new();
        // Every rule names a mark or a digit.
        let has_marks = word.len() <= LONGEST_WORD && !word.bytes().all(|byte| byte.is_ascii_alphabetic());
        while has_marks && first < last && !self.exceptions.contains_key(&word[first..last]) {
            let rest = &word[first..last];
            let prefix = self.prefix.length(rest);
            if self.exceptions.contains_key(&rest[prefix..]) {
                self.push(sentence, start + first, prefix, tokens);
                first += prefix;
                break;
            }
            let suffix = self.suffix.length(&rest[prefix..]);
            if self.exceptions.contains_key(&rest[..rest.len() - suffix]) {
                suffixes.push(suffix);
                last -= suffix;
                break;
            }
            if prefix + suffix == 0 {
                break;
            }
            if prefix > 0 {
                self.push(sentence, start + first, prefix, tokens);
                first += prefix;
            }
            if suffix > 0 {
                suffixes.push(suffix);
                last -= suffix;
            }
        }
        let rest = &word[first..last];
        if let Some(pieces) = self.exceptions.get(rest) {
            self.push_pieces(sentence, start + first, pieces, tokens);
        } else if !rest.is_empty() {
            let mut at = 0;
            if has_marks && !self.url.is_match(rest) {
                for mark in self.infix.matches(rest) {
                    // A mark at the front parts nothing.
                    if mark.start > 0 {
                        self.push(sentence, start + first + at, mark.start - at, tokens);
                        self.push(sentence, start + first + mark.start, mark.len(), tokens);
                        at = mark.end;
                    }
                }
            }
            self.push(sentence, start + first + at, rest.len() - at, tokens);
        }
        let mut at = start + last;
        for suffix in suffixes.into_iter().rev() {
            self.push(sentence, at, suffix, tokens);
            at += suffix;
        }
        if has_marks {
            self.rejoin(sentence, n_before, tokens);
        }
    }

    /// Puts together what the rules have cut within an exception, such as the two quotes of `''is`.
    fn rejoin(&self, sentence: &str, n_before: usize, tokens: &mut Vec<Token>) {
        let cut = tokens.split_off(n_before);
        let mut at = 0;
        while at < cut.len() {
            let most = cut.len().min(at + MOST_REJOINED);
            let longest = (at + 2..=most).rev().find_map(|end| {
                let joined = cut[at].span.cover(cut[end - 1].span);
                Some((end, self.exceptions.get(joined.of(sentence)?)?))
            });
            if let Some((end, pieces)) = longest {
                self.push_pieces(sentence, cut[at].span.start as usize, pieces, tokens);
                at = end;
            } else {
                tokens.push(cut[at].clone());
                at += 1;
            }
        }
    }

    fn push_pieces(&self, sentence: &str, mut start: usize, pieces: &[Piece], tokens: &mut Vec<Token>) {
        for piece in pieces {
            self.push(sentence, start, piece.length, tokens);
            if let (Some(norm), Some(token)) = (&piece.norm, tokens.last_mut()) {
                token.norm.clone_from(norm);
            }
            start += piece.length;
        }
    }

    fn push(&self, sentence: &str, start: usize, length: usize, tokens: &mut Vec<Token>) {
        if length > 0 {
            let span = Span::new(start, start + length);
            let norm = self.norm(&sentence[start..start + length]);
            tokens.push(Token { span, space_after: false, norm });
        }
    }

    fn norm(&self, word: &str) -> String {
        if let Some(norm) = mark_norm(word) {
            return norm.into();
        }
        self.norms.get(&string_key(word)).cloned().unwrap_or_else(|| word.to_lowercase())
    }
}

/// The norms of marks: one for each kind of quote, dash and currency.
fn mark_norm(mark: &str) -> Option<&'static str> {
    Some(match mark {
        "'s" | "'S" | "’s" | "’S" => "'s",
        "’" | "‘" | "´" | "`" => "'",
        "”" | "“" | "''" | "``" | "´´" | "„" | "»" | "«" | "‘‘" | "’’" => "\"",
        "？" => "?",
        "！" => "!",
        "，" => ",",
        "；" => ";",
        "：" => ":",
        "。" | "।" => ".",
        "…" => "...",
        "—" | "–" | "--" | "---" | "——" => "-",
        "€" | "£" | "¥" | "฿" | "US$" | "C$" | "A$" | "₺" | "₹" | "৳" | "₩" | "Mex$" | "₣" | "E£" => {
            "$"
        }
        _ => return None,
    })
}

/// A pattern of the rules.
struct Rule(Regex);

impl Rule {
    fn parse(name: &str, pattern: &str) -> Result<Self, LanguageError> {
        let unfit = |error| LanguageError::Unfit {
            file: RULES_FILE,
            reason: format!("its pattern {name:?} is wrong: {error}"),
        };
        Regex::new(pattern).map(Self).map_err(unfit)
    }

    /// The bytes of the first match. A search that takes too many steps counts as no match: it is the same each time.
    fn length(&self, text: &str) -> usize {
        self.0.find(text).ok().flatten().map_or(0, |found| found.range().len())
    }

    fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text).unwrap_or(false)
    }

    fn matches(&self, text: &str) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.0.find_iter(text).map_while(Result::ok).map(|found| found.range())
    }
}
