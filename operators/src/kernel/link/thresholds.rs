//! Values that something reaches, in any unit and wording.

use hypercane_schemas::Fixed;

use super::{
    Crossing, Cues, Threshold,
    words::{Token, find_phrase, number_word},
};

/// Least wind in kt of the Saffir-Simpson categories.
const CATEGORIES: [f64; 5] = [64.0, 83.0, 96.0, 113.0, 137.0];
/// Miles an hour in kt.
const MPH: f64 = 1.0 / 1.150_78;

pub(super) fn read(tokens: &[Token], words: &[&str], cues: &mut Cues) {
    let has = |phrase: &str| find_phrase(words, phrase).is_some();
    let mut winds = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let here = at;
        at += 1;
        let value = match tokens[here].number() {
            Some((value, suffix)) => Some((f64::from(value), suffix.to_owned(), here + 1)),
            None => number_word(tokens, here).map(|(value, taken)| (f64::from(value), String::new(), here + taken)),
        };
        let Some((value, suffix, mut next)) = value else { continue };
        at = next;
        let unit = if suffix.is_empty() {
            next += usize::from(tokens.get(next).is_some_and(|t| t.lower == "-"));
            let unit = tokens.get(next).map(|t| t.lower.clone()).unwrap_or_default();
            // `34, 50 and 64 kt`: the unit stands after the last one.
            if matches!(unit.as_str(), "," | "and" | "or" | "/") && matches!(value as u16, 34 | 39 | 50 | 58) {
                let later =
                    tokens[next..].iter().take(7).find(|t| matches!(t.lower.as_str(), "kt" | "knot" | "knots" | "mph"));
                later.map(|t| t.lower.clone()).unwrap_or_default()
            } else {
                unit
            }
        } else {
            suffix
        };
        match unit.as_str() {
            "kt" | "kts" | "knot" | "knots" => winds.push(value),
            "mph" => winds.push((value * MPH).round()),
            "miles" if tokens.get(next + 1).is_some_and(|t| matches!(t.lower.as_str(), "per" | "an")) => {
                winds.push((value * MPH).round())
            }
            "mb" | "hpa" | "millibars" | "mbar" => cues.thresholds.push(threshold("pressure", value, Crossing::Down)),
            "%" | "percent" | "per" => cues.thresholds.push(threshold("probability_cumulative", value, Crossing::Up)),
            _ => {}
        }
    }
    for (n, wind) in CATEGORIES.iter().enumerate() {
        if has(&format!("category {}", n + 1)) || has(&format!("cat {}", n + 1)) {
            winds.push(*wind);
        }
    }
    for (phrase, wind) in [
        ("hurricane force", 64.0),
        ("hurricane strength", 64.0),
        ("tropical storm force", 34.0),
        ("tropical storm strength", 34.0),
        ("gale*", 34.0),
        ("storm force", 50.0),
        ("major hurricane*", 96.0),
    ] {
        let hidden = phrase == "storm force" && has("tropical storm force");
        if has(phrase) && !hidden {
            winds.push(wind);
        }
    }
    let slow = ["slow*", "forward speed", "moving at", "motion", "crawl*"].iter().any(|p| has(p));
    for wind in winds {
        let level = wind as u16;
        if matches!(level, 34 | 50 | 64) && !cues.wind_levels.contains(&level) {
            cues.wind_levels.push(level);
        }
        let (attribute, crossing) =
            if slow && wind < 30.0 { ("motion_speed", Crossing::Down) } else { ("max_wind", Crossing::Up) };
        cues.thresholds.push(threshold(attribute, wind, crossing));
    }
    cues.thresholds.sort();
    cues.thresholds.dedup();
}

fn threshold(attribute: &str, value: f64, crossing: Crossing) -> Threshold {
    Threshold { attribute: attribute.to_owned(), value: Fixed::from_f64(value), crossing }
}
