//! Dates in ISO form.

use jiff::civil::Date;

use crate::kernel::calendar::month;

/// The key of a date: `1995-03-12`, `1995-03`, `1995` or `1990s`, or two of them with `/` between for a span. `None` where the
/// text is no date of the calendar with its year.
pub fn date_key(text: &str) -> Option<String> {
    let folded = super::fold(text);
    let whole = folded.trim_matches(|mark: char| !mark.is_alphanumeric());
    single(whole).or_else(|| {
        let whole = whole.strip_prefix("from ").or_else(|| whole.strip_prefix("between ")).unwrap_or(whole);
        let joints = [" to ", " until ", " and ", " - ", "-"];
        joints.iter().find_map(|joint| {
            let (from, to) = whole.split_once(joint)?;
            let from_key = single(from)?;
            // `1995-98`
            let to_key = single(to).or_else(|| short_year(&from_key, to))?;
            Some(format!("{from_key}/{to_key}"))
        })
    })
}

/// The second year of a span that is written by its last two digits.
fn short_year(from: &str, to: &str) -> Option<String> {
    let is_year = from.len() == 4 && to.len() == 2 && to.bytes().all(|byte| byte.is_ascii_digit());
    is_year.then(|| format!("{}{to}", &from[..2])).filter(|year| year.as_str() > from)
}

/// The key of a date without a span, in small letters.
fn single(text: &str) -> Option<String> {
    if let Ok(date) = text.parse::<Date>() {
        return Some(date.to_string());
    }
    let words: Vec<&str> = text
        .split([' ', ','])
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| !matches!(*word, "" | "the" | "of" | "in" | "on" | "year") && !is_weekday(word))
        .collect();
    match words.as_slice() {
        [word] => decade(word).or_else(|| year(word).map(|year| format!("{year:04}"))),
        [name, number] => Some(format!("{:04}-{:02}", year(number)?, month(name)?)),
        [first, second, number] => {
            let (name, number_of_day) = if month(first).is_some() { (first, second) } else { (second, first) };
            Some(Date::new(year(number)?, month(name)?, day(number_of_day)?).ok()?.to_string())
        }
        _ => None,
    }
}

fn is_weekday(word: &str) -> bool {
    let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    days.iter().any(|day| *day == word || (word.len() == 3 && day.starts_with(word)))
}

/// `1990s` or `1990's`.
fn decade(word: &str) -> Option<String> {
    let number = word.strip_suffix("'s").or_else(|| word.strip_suffix('s'))?;
    year(number).filter(|year| year % 10 == 0).map(|year| format!("{year}s"))
}

/// A year of four digits.
fn year(word: &str) -> Option<i16> {
    let is_year = word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    is_year.then(|| word.parse().ok())?.filter(|year| *year >= 1000)
}

/// `12` or `12th`.
fn day(word: &str) -> Option<i8> {
    let number = ["st", "nd", "rd", "th"].iter().find_map(|suffix| word.strip_suffix(suffix)).unwrap_or(word);
    if number.bytes().all(|byte| byte.is_ascii_digit()) { number.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::date_key;

    #[test]
    fn dates_have_the_form_of_iso() {
        for (texts, key) in [
            (
                &[
                    "12 March 1995",
                    "March 12, 1995",
                    "Sunday, March 12th, 1995",
                    "the 12th of March 1995",
                    "12 Mar. 1995",
                    "1995-03-12",
                ][..],
                "1995-03-12",
            ),
            (&["March 1995", "March of 1995", "March, 1995"], "1995-03"),
            (&["1995", "the year 1995", "in 1995"], "1995"),
            (&["the 1990s", "1990's"], "1990s"),
            (&["1995–1998", "1995-98", "from 1995 to 1998", "between 1995 and 1998"], "1995/1998"),
            (&["March 1995 to May 1996"], "1995-03/1996-05"),
        ] {
            for text in texts {
                assert_eq!(date_key(text).as_deref(), Some(key), "{text}");
            }
        }
    }

    #[test]
    fn what_is_no_date_with_its_year_has_no_key() {
        for text in
            ["", "March", "30 February 1995", "last year", "the Middle Ages", "500", "1995s", "12 March", "1998-95"]
        {
            assert_eq!(date_key(text), None, "{text}");
        }
    }
}
