//! Which storm a post speaks of: by class and name, by hashtag, or by a name alone that a list of names holds.

use std::ops::Range;

use jiff::Timestamp;

use super::words::Word;
use crate::extraction::Mention;
use crate::grammar::facts::mention;
use crate::kernel::number_words::in_words;

/// The names of the WMO lists for the Atlantic and for the eastern and central North Pacific since 2003, retired ones
/// included. Only a name alone (`#Elsa`) needs them.
const NAMES: &str = "
    alberto alex allison ana andrea andres arlene arthur adrian aletta agatha amanda adria alvin aka akoni alika
    barry bertha beryl beta bill blanca blas bonnie boris brianna bud beatriz braden bret barbara
    carlos charley chantal chris cindy claudette colin cosme cristobal cristina cruz celia calvin carlotta caleb
    danielle danny darby dean debby debbie dennis dexter dolores don dorian douglas dora dalila daniel dolly
    earl edouard elida elsa emilia emily epsilon erick erika erin ernesto ela eugene eta enrique ema eta estelle
    fabian fabio fausto fay felicia felix fernand fernanda fiona flossie florence francine franklin fred frances frank francis
    gabrielle gamma gaston genevieve georgette gert gil gilma gonzalo gordon grace greg guillermo gustav gloria guillermina
    halola hanna harold harvey heather hector helene henri henriette hermine hilary hilda hone howard humberto hortense hali hana
    ian ida idalia iggy ignacio igor ike ileana imelda imani iniki ingrid ioane iona irene irma irwin isaac isabel isaias isaiah isis
    ivan ivo ivette iselle iota
    jake jamena javier jeanne jerry jimena joaquin john jose josephine jova joyce juan juliette julia julian julio joan
    karen karina karl kate katia katrina kay keli kenneth kevin kiko kilo kirk kristy krovanh kyle katherine keoni kika
    lala lane larry laura lee lenny leslie lester lidia linda lisa lorena loke lorenzo lowell luis
    madeline maka malia manuel marco maria marie marilyn mario marty matthew max melissa melor michael michelle mindy miriam mitch moke
    milton mekkhunda
    nadine nana nate nestor nicholas nicole niala nicky nigel noel nora norbert norma norman nolo newton neki
    octave odalys odette odile ofelia olaf oliver olivia olga olive omar omeka opal ophelia orlene oscar otis otto oho
    pablo paine paka pali pamela patricia patsy patty paul paula paulette paulina peter philippe polo pilar priscilla pama
    rachel rafael ramon raymond rene richard rick rina rita rose roslyn rosa rebekah rafael
    sally sam sandra sandy sara sean sebastien selma sergio shary simon sonia stan stephanie simone
    tammy tara teddy terry tico tiffany tina tobias tomas tony trudy theta tanya ta'a
    ulika unala ulysses uma
    valerie vance vicente victor vince virgil virginie van viola vicky
    wallis walaka walter wanda wene whitney wilfred willa william wilma willa winnie wali
    xavier xina xavier yolanda zeke zelda zeta zara zena
    alpha delta gamma kappa lambda mu nu sigma
";

/// More depressions than a season has; a larger number is no depression's.
const MOST_STORMS: usize = 30;

/// Class words, longest first, and the class as titled.
const CLASSES: [(&[&str], &str); 15] = [
    (&["potential", "tropical", "cyclone"], "Potential Tropical Cyclone"),
    (&["post-tropical", "cyclone"], "Post-Tropical Cyclone"),
    (&["sub-tropical", "storm"], "Subtropical Storm"),
    (&["subtropical", "storm"], "Subtropical Storm"),
    (&["tropical", "depression"], "Tropical Depression"),
    (&["tropical", "storm"], "Tropical Storm"),
    (&["tropical", "strom"], "Tropical Storm"),
    (&["tropical", "cyclone"], "Tropical Cyclone"),
    (&["super", "typhoon"], "Typhoon"),
    (&["winter", "storm"], "Winter Storm"),
    (&["hurricane"], "Hurricane"),
    (&["typhoon"], "Typhoon"),
    (&["td"], "Tropical Depression"),
    (&["ts"], "Tropical Storm"),
    (&["ptc"], "Potential Tropical Cyclone"),
];

/// Words that follow a class and are no name.
const NO_NAMES: [&str; 44] = [
    "season",
    "szn",
    "watch",
    "watches",
    "warning",
    "warnings",
    "force",
    "force-winds",
    "prep",
    "preparedness",
    "preparations",
    "response",
    "readiness",
    "condition",
    "conditions",
    "update",
    "updates",
    "center",
    "winds",
    "wind",
    "contingency",
    "safety",
    "relief",
    "names",
    "strength",
    "recovery",
    "plan",
    "evacuation",
    "impacts",
    "port",
    "ready",
    "downgrade",
    "has",
    "is",
    "and",
    "the",
    "shelter",
    "news",
    "damage",
    "alert",
    "sandbags",
    "tips",
    "status",
    "hunters",
];

/// A storm as a post names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Storm {
    /// Name in title case.
    pub(super) name: String,
    /// Class as titled; empty where the post gives the name alone.
    pub(super) class: String,
}

impl Storm {
    /// What identifies it: `MILTON_2024`, or the name alone where no time is known.
    pub(super) fn id(&self, issued_at: Option<Timestamp>) -> String {
        let name = self.name.to_uppercase().replace([' ', '-'], "_");
        match issued_at {
            Some(at) => format!("{name}_{}", at.strftime("%Y")),
            None => name,
        }
    }

    /// Class and name.
    pub(super) fn titled(&self) -> String {
        if self.class.is_empty() { self.name.clone() } else { format!("{} {}", self.class, self.name) }
    }

    /// The storm as a fact mentions it.
    pub(super) fn mention(&self, issued_at: Option<Timestamp>) -> Mention {
        let mut storm = mention(format!("storm:{}", self.id(issued_at)), &self.name, "cyclone", "storm");
        if !self.class.is_empty() {
            storm.aliases.push(self.titled());
        }
        storm.aliases.extend(issued_at.map(|at| format!("{} {}", self.name, at.strftime("%Y"))));
        storm.aliases.sort();
        storm
    }
}

/// The storms named among words, each with the words that name it, in text order.
pub(super) fn storms(words: &[Word]) -> Vec<(Range<usize>, Storm)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if let Some((length, storm)) = classed(&words[at..]).or_else(|| named(words, at)) {
            found.push((at..at + length, storm));
            at += length;
        } else {
            at += 1;
        }
    }
    found
}

/// `Hurricane #Milton`, `Hurricane (SANDY)`, `Tropical Depression 18`.
fn classed(words: &[Word]) -> Option<(usize, Storm)> {
    let (length, class) = CLASSES.iter().find_map(|(class, titled)| {
        let same = words.len() > class.len() && class.iter().zip(words).all(|(form, word)| word.form == *form);
        same.then_some((class.len(), *titled))
    })?;
    let open = usize::from(words.get(length)?.form == "(");
    let name = words.get(length + open)?;
    let number = name.form.parse::<usize>().ok().filter(|number| (1..=MOST_STORMS).contains(number)).and_then(in_words);
    let shown = match number {
        Some(number) => title(&number),
        None => {
            let letters = name.form.chars().all(|c| c.is_alphabetic() || c == '-');
            let fits = letters && name.form.len() > 1 && name.is_name() && !NO_NAMES.contains(&name.form.as_str());
            fits.then(|| title(&name.form))?
        }
    };
    Some((length + open + 1, Storm { name: shown, class: class.to_owned() }))
}

/// A name alone. Where a name is also a common word or place, only a hashtag or capitals in mid-sentence could tell; lists
/// hold a few such names (`Florence`, `Virginia`), and places are looked for first.
fn named(words: &[Word], at: usize) -> Option<(usize, Storm)> {
    let word = &words[at];
    let known = word.is_name() && word.form.len() > 2 && NAMES.split_whitespace().any(|name| name == word.form);
    // A person's or a vessel's name follows a title or stands beside another name; a storm's name stands alone.
    let before = at.checked_sub(1).map(|before| words[before].form.as_str()).unwrap_or_default();
    let person = matches!(
        before,
        "capt"
            | "cmdr"
            | "lt"
            | "petty"
            | "officer"
            | "admiral"
            | "mr"
            | "ms"
            | "st"
            | "saint"
            | "san"
            | "santa"
            | "new"
            | "port"
            | "lake"
            | "fort"
    );
    let surname = !word.tag && words.get(at + 1).is_some_and(|next| !next.tag && next.is_name() && !next.is_mark());
    (known && !person && !surname).then(|| (1, Storm { name: title(&word.form), class: String::new() }))
}

fn title(form: &str) -> String {
    let mut shown = String::with_capacity(form.len());
    let mut start = true;
    for c in form.chars() {
        if start {
            shown.extend(c.to_uppercase());
        } else {
            shown.push(c);
        }
        start = c == '-' || c == ' ';
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::super::words::sentences;
    use super::storms;

    fn titled(text: &str) -> Vec<String> {
        let found = sentences(text);
        found.iter().flat_map(|sentence| storms(&sentence.words)).map(|(_, storm)| storm.titled()).collect()
    }

    #[test]
    fn classes_names_and_hashtags_name_a_storm() {
        for (text, expected) in [
            ("ahead of Hurricane #Milton today", vec!["Hurricane Milton"]),
            ("due to #TropicalStormHone", vec!["Tropical Storm Hone"]),
            ("before Tropical Depression 18 comes", vec!["Tropical Depression Eighteen"]),
            ("As #Elsa nears the port", vec!["Elsa"]),
            ("tropical storm conditions are near", vec![]),
            ("#HurricaneSzn2024 and the Hurricane Warning", vec![]),
            ("Hurricane SANDY has gone", vec!["Hurricane Sandy"]),
            ("Capt. Austin and Capt. Michael spoke", vec![]),
        ] {
            assert_eq!(titled(text), expected, "{text}");
        }
    }
}
