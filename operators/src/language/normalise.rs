//! Forms under which the names, dates and amounts of a text count as the same. They are keys: what is shown is what the text
//! says.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

mod dates;
mod numbers;

pub use dates::date_key;
pub use numbers::number_key;

/// The key of a named entity, by its label: a date in ISO form where it is one, an amount with its number in digits, else the
/// [name](name_key). `None` for bare numbers (`CARDINAL`, `ORDINAL`), which name nothing.
pub fn entity_key(text: &str, label: &str) -> Option<String> {
    match label {
        "CARDINAL" | "ORDINAL" => None,
        "DATE" => Some(date_key(text).unwrap_or_else(|| name_key(text))),
        "TIME" | "MONEY" | "PERCENT" | "QUANTITY" => Some(numbers::with_digits(&name_key(text))),
        _ => Some(name_key(text)),
    }
}

/// The key of a name: small letters without accents (after Unicode NFKC), and without a leading article, a possessive `'s`, a
/// bracket at the end (`Mercury (planet)`), also an unclosed one, quotes around it, and the stops of abbreviations. What would leave nothing is kept.
pub fn name_key(name: &str) -> String {
    let mut key = fold(name);
    if let Some((front, inner)) = key.rsplit_once('(')
        && inner.find(')').is_none_or(|end| end + 1 == inner.len())
        && !front.trim().is_empty()
    {
        key.truncate(front.trim_end().len());
    }
    let mut name = key.trim_matches(|mark: char| matches!(mark, '"' | '\'' | ',' | ';' | ':') || mark.is_whitespace());
    name = name.strip_suffix("'s").filter(|owner| !owner.is_empty()).unwrap_or(name);
    for article in ["the ", "a ", "an "] {
        if let Some(rest) = name.strip_prefix(article) {
            name = rest.trim_start();
            break;
        }
    }
    let name = without_stops(name);
    if name.is_empty() { key } else { name }
}

/// Unicode NFKC, small letters, no accents, one kind of dash and of quote, single blanks.
fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let composed: String = text.nfkc().collect();
    for letter in composed.to_lowercase().nfd().filter(|letter| !is_combining_mark(*letter)) {
        match letter {
            _ if letter.is_whitespace() => {
                if !folded.is_empty() && !folded.ends_with(' ') {
                    folded.push(' ');
                }
            }
            '‐' | '‑' | '‒' | '–' | '—' | '−' => folded.push('-'),
            '‘' | '’' | '´' | '`' => folded.push('\''),
            '“' | '”' | '„' | '«' | '»' => folded.push('"'),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' | 'ð' => folded.push('d'),
            'ı' => folded.push('i'),
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'þ' => folded.push_str("th"),
            _ => folded.push(letter),
        }
    }
    folded.truncate(folded.trim_end().len());
    folded
}

/// Without stops, but for those between digits; and initials, which then stand alone, joined: `j. k. rowling`, `jk rowling`.
fn without_stops(name: &str) -> String {
    let mut kept = String::with_capacity(name.len());
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_digit = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_digit());
        if letter != '.' || (is_digit(kept.chars().next_back()) && is_digit(letters.peek().copied())) {
            kept.push(letter);
        }
    }
    let mut joined = String::with_capacity(kept.len());
    let mut was_initial = false;
    let is_initial = |word: &str| word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    for (word, original) in kept.split(' ').zip(name.split(' ')) {
        let had_stop = original.ends_with('.');
        let follows_initial = was_initial && had_stop && is_initial(word);
        if !joined.is_empty() && !follows_initial {
            joined.push(' ');
        }
        was_initial = had_stop && is_initial(word);
        joined.push_str(word);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::{entity_key, name_key};

    #[test]
    fn names_of_the_same_thing_have_one_key() {
        for (names, key) in [
            (&["The Beatles", "the Beatles", "BEATLES", "Beatles's", "“The  Beatles”"][..], "beatles"),
            (&["Beyoncé", "Beyonce\u{301}", "Beyonce", "BEYONCÉ’s"], "beyonce"),
            (&["J. K. Rowling", "J.K. Rowling", "J.\u{a0}K. Rowling", "JK Rowling"], "jk rowling"),
            (&["Titanic (film)", "Titanic", "Titanic (1997 film)", "Titanic (the film"], "titanic"),
            (&["U.S.", "US", "the U.S."], "us"),
            (&["St. Louis", "St Louis"], "st louis"),
            (&["Jean-Luc Godard", "Jean–Luc Godard"], "jean-luc godard"),
            (&["Łódź", "Lodz"], "lodz"),
            (&["ﬁsh", "fish"], "fish"),
            (&["Windows 3.1"], "windows 3.1"),
            (&["George W. Bush", "George W Bush"], "george w bush"),
        ] {
            for name in names {
                assert_eq!(name_key(name), key, "{name}");
            }
        }
    }

    #[test]
    fn a_key_is_never_empty_where_the_name_is_not() {
        for (name, key) in [("the", "the"), ("(film)", "(film)"), ("'s", "s"), ("...", "..."), ("The The", "the")] {
            assert_eq!(name_key(name), key, "{name}");
        }
    }

    #[test]
    fn labels_choose_the_form() {
        assert_eq!(entity_key("12 March 1995", "DATE").as_deref(), Some("1995-03-12"));
        assert_eq!(entity_key("the Middle Ages", "DATE").as_deref(), Some("middle ages"));
        assert_eq!(entity_key("about two hundred miles", "QUANTITY").as_deref(), Some("about 200 miles"));
        assert_eq!(entity_key("$3,400", "MONEY").as_deref(), Some("$3400"));
        assert_eq!(entity_key("$3.5 million", "MONEY").as_deref(), Some("$3500000"));
        assert_eq!(entity_key("3.5 million dollars", "MONEY").as_deref(), Some("3500000 dollars"));
        assert_eq!(entity_key("Twenty One Pilots", "ORG").as_deref(), Some("twenty one pilots"));
        assert_eq!(entity_key("first", "ORDINAL"), None);
        assert_eq!(entity_key("two", "CARDINAL"), None);
    }
}
