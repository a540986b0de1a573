//! The ports, sectors and stretches of coast that words name.
//!
//! Names of the pack come first. A name that it does not hold still counts where the words around it leave no doubt that it
//! is a port (`Port of X`, `Sector X`, a list that goes on), so that a post about a small harbour is not lost.

use std::ops::Range;

use super::areas::{AREAS, Area, state_code};
use super::words::Word;
use crate::domain::{Domain, Port, Sector};
use crate::extraction::Mention;
use crate::grammar::facts::{mention, slug};

/// A place for which a condition can hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Last part of its group's key.
    pub(super) slug: String,
    /// Its name in sentences.
    pub(super) name: String,
    /// Code of its state; empty where it is not known.
    pub(super) state: String,
    /// The place, and what else the name stands for.
    pub(super) mentions: Vec<Mention>,
    /// Whether the pack or the table of areas holds it.
    pub(super) known: bool,
}

/// A place among words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The words that name it.
    pub(super) words: Range<usize>,
    /// What they name; more than one for a zone named after two ports.
    pub(super) places: Vec<Place>,
}

/// The places among words. `taken` are words that name something else.
pub(super) fn places(words: &[Word], taken: &[Range<usize>], domain: &Domain) -> Vec<Found> {
    let states = states_named(words);
    let mut found: Vec<Found> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if taken.iter().any(|range| range.contains(&at)) {
            at += 1;
            continue;
        }
        let limit = taken.iter().map(|range| range.start).filter(|start| *start > at).min().unwrap_or(words.len());
        let hit = sector(words, at, limit, domain)
            .or_else(|| known(words, at, limit, &states, domain))
            .or_else(|| unknown(words, at, limit, found.last()));
        match hit {
            Some(hit) if qualifies(&hit, found.last(), words) => at = hit.words.end,
            Some(hit) => {
                at = hit.words.end;
                found.push(hit);
            }
            None => at += 1,
        }
    }
    found
}

/// Codes of the states that a text names anywhere, to tell ports of one name apart.
fn states_named(words: &[Word]) -> Vec<&'static str> {
    let two = words.windows(2).filter_map(|pair| state_code(&format!("{} {}", pair[0].form, pair[1].form)));
    let one = words.iter().filter(|word| word.is_name()).filter_map(|word| state_code(&word.form));
    two.chain(one).collect()
}

/// A state behind a port of that state (`Wilmington, NC`) only says which port is meant.
fn qualifies(hit: &Found, last: Option<&Found>, words: &[Word]) -> bool {
    let Some(last) = last else { return false };
    let between = words.get(last.words.end..hit.words.start).unwrap_or_default();
    let close = between.len() <= 1 && between.iter().all(|word| word.form == ",");
    let name = words[hit.words.clone()].iter().map(|word| word.form.as_str()).collect::<Vec<_>>().join(" ");
    let state_of =
        |found: &Found, code: Option<&str>| found.places.iter().any(|place| Some(place.state.as_str()) == code);
    if close && state_of(last, state_code(&name)) {
        return !hit.places.iter().any(|place| place.slug.contains("county"));
    }
    // `Frederiksted port in St. Croix`: the island says where the port lies.
    let inside = between.last().is_some_and(|word| word.form == "in")
        && between.iter().all(|word| matches!(word.form.as_str(), "in" | "port" | "harbor"));
    let is_port =
        |found: &Found| found.places.iter().all(|place| place.mentions.iter().any(|mention| mention.kind == "port"));
    inside && is_port(last) && !is_port(hit) && hit.places.iter().any(|place| state_of(last, Some(&place.state)))
}

/// The words from `at` on, joined, longest first.
fn windows(words: &[Word], at: usize, limit: usize, most: usize) -> impl Iterator<Item = (usize, String)> + '_ {
    let reach = words[at..limit].iter().take(most).take_while(|word| !word.is_mark()).count();
    (1..=reach).rev().map(move |count| {
        let forms: Vec<&str> = words[at..at + count].iter().map(|word| word.form.as_str()).collect();
        (at + count, forms.join(" "))
    })
}

fn sector(words: &[Word], at: usize, limit: usize, domain: &Domain) -> Option<Found> {
    if words[at].form != "sector" || at + 1 >= limit {
        return None;
    }
    // `Sector #St. Petersburg` and the like: the words behind `sector` decide.
    for (end, name) in windows(words, at + 1, limit, 5) {
        let named = domain.sector_named(&format!("Sector {name}"));
        let by_area = || AREAS.iter().find(|area| area.is_sector && area.forms.contains(&name.as_str()));
        if let Some(sector) = named.or_else(|| domain.sector(by_area()?.sector)) {
            return Some(Found { words: at..end, places: of_sector(sector, domain) });
        }
    }
    let end = name_run(words, at + 1, limit);
    (end > at + 1).then(|| {
        let name = shown(&words[at + 1..end]);
        let slug = slug(&name);
        let sector = mention(format!("sector:{slug}"), format!("Sector {name}"), "sector", "sector");
        let place =
            Place { slug, name: sector.name.clone(), state: String::new(), mentions: vec![sector], known: false };
        Found { words: at..end, places: vec![place] }
    })
}

fn known(words: &[Word], at: usize, limit: usize, states: &[&str], domain: &Domain) -> Option<Found> {
    if !words[at].is_name()
        && !matches!(words[at].form.as_str(), "southern" | "south" | "southeast" | "city" | "west" | "coastal")
    {
        return None;
    }
    let harbour = at >= 2 && words[at - 1].form == "of" && matches!(words[at - 2].form.as_str(), "port" | "ports");
    for (end, name) in windows(words, at, limit, 5) {
        let area = AREAS.iter().find(|area| area.forms.contains(&name.as_str()));
        if let Some(area) =
            area.filter(|area| !(harbour && domain.port_named(&name).is_some() && area.slug != "delaware_bay"))
        {
            return Some(Found { words: at..end, places: of_area(area, domain) });
        }
        let spelt = spelling(&name);
        let ports = domain.ports_named(spelt);
        let ports = if ports.is_empty() { domain.ports_named(&format!("Port {spelt}")) } else { ports };
        if let Some(port) = choose(&ports, states) {
            let sole = ports.len() == 1 || states.contains(&port.state.as_str());
            return Some(Found { words: at..end, places: vec![Place { known: sole, ..of_port(port) }] });
        }
    }
    None
}

/// Sectors with more ports than this are not spelt out port by port.
const MOST_COVERED: usize = 8;

/// Other spellings that posts use.
fn spelling(form: &str) -> &str {
    match form {
        "kw" => "key west",
        "philly" => "philadelphia",
        "st pete" | "saint petersburg" | "petersburg" => "st petersburg",
        "fernandina beach" => "fernandina",
        "jax" => "jacksonville",
        "nola" => "new orleans",
        "corpus" => "corpus christi",
        "fredriskted" => "frederiksted",
        "morehead" => "morehead city",
        "everglades" => "port everglades",
        "canaveral" => "port canaveral",
        other => other,
    }
}

/// States by how many hurricanes have struck them: without any other sign a name means the port that hurricanes threaten more.
const STRUCK: [&str; 17] =
    ["FL", "TX", "LA", "NC", "SC", "AL", "MS", "GA", "NY", "VA", "MA", "CT", "RI", "MD", "NJ", "ME", "DE"];

/// The port that a shared name means.
fn choose<'a>(ports: &[&'a Port], states: &[&str]) -> Option<&'a Port> {
    let rank = |port: &&&Port| STRUCK.iter().position(|state| *state == port.state).unwrap_or(STRUCK.len());
    let named = ports.iter().find(|port| states.contains(&port.state.as_str()));
    named.or_else(|| ports.iter().min_by_key(rank)).copied()
}

fn of_port(port: &Port) -> Place {
    let mut named = mention(format!("port:{}", port.slug), &port.name, "port", "port");
    named.aliases = port.names.iter().filter(|name| **name != port.name).cloned().collect();
    named.aliases.sort();
    Place {
        slug: port.slug.clone(),
        name: harbour_name(port),
        state: port.state.clone(),
        mentions: vec![named],
        known: true,
    }
}

/// `Port of Miami`, but `Port Canaveral` and `Port of Virginia` as they are.
fn harbour_name(port: &Port) -> String {
    if port.name.contains("Port") { port.name.clone() } else { format!("Port of {}", port.name) }
}

/// A sector stands for the ports that it is named after; where there is none, for itself.
fn of_sector(sector: &Sector, domain: &Domain) -> Vec<Place> {
    let mut zone = mention(format!("sector:{}", sector.slug), format!("Sector {}", sector.name), "sector", "sector");
    zone.aliases = sector.names.iter().filter(|name| **name != zone.name).cloned().collect();
    zone.aliases.sort();
    let parts: Vec<&str> = sector.name.split(['-', '/']).map(str::trim).collect();
    let namesakes = sector.ports.iter().filter_map(|slug| domain.port(slug)).filter(|port| {
        let plain = port.name.strip_prefix("Port of ").unwrap_or(&port.name);
        plain == sector.name || parts.contains(&plain)
    });
    let state =
        sector.ports.first().and_then(|slug| domain.port(slug)).map(|port| port.state.clone()).unwrap_or_default();
    let ports: Vec<Place> = namesakes
        .map(|port| {
            let mut place = of_port(port);
            place.name = format!("Sector {} ({})", sector.name, place.name);
            place.mentions.push(zone.clone());
            let own = place.mentions[0].entity.clone();
            place.mentions.extend(covered(sector, None, domain).filter(|other| other.entity != own));
            place
        })
        .collect();
    if ports.is_empty() {
        let name = zone.name.clone();
        let mentions = std::iter::once(zone).chain(covered(sector, None, domain)).collect();
        return vec![Place { slug: sector.slug.clone(), name, state, mentions, known: true }];
    }
    ports
}

/// The ports for which a condition of a sector holds too; none where they are so many that the fact would say little of each.
fn covered<'a>(sector: &'a Sector, state: Option<&'a str>, domain: &'a Domain) -> impl Iterator<Item = Mention> + 'a {
    let ports = sector.ports.iter().filter_map(|slug| domain.port(slug));
    let ports: Vec<&Port> = ports.filter(|port| state.is_none_or(|state| port.state == state)).collect();
    let few = if ports.len() <= MOST_COVERED { ports } else { Vec::new() };
    few.into_iter().map(|port| mention(format!("port:{}", port.slug), &port.name, "port", "covers"))
}

fn of_area(area: &Area, domain: &Domain) -> Vec<Place> {
    let sector = domain.sector(area.sector);
    if let (true, Some(sector)) = (area.is_sector, sector) {
        let mut places = of_sector(sector, domain);
        for place in &mut places {
            if let Some(zone) = place.mentions.iter_mut().find(|zone| zone.kind == "sector") {
                zone.aliases.extend([area.name.to_owned(), format!("{} ports", area.name)]);
                zone.aliases.sort();
                zone.aliases.dedup();
            }
            place.name = place.name.replace(&format!("Sector {}", sector.name), area.name);
        }
        return places;
    }
    let mut named = mention(format!("place:{}", area.slug), area.name, "place", "place");
    named.aliases = vec![format!("{} ports", area.name), format!("{} seaports", area.name)];
    let mut mentions = vec![named];
    if let Some(sector) = sector.filter(|sector| sector.slug != "new_york") {
        mentions.push(mention(
            format!("sector:{}", sector.slug),
            format!("Sector {}", sector.name),
            "sector",
            "sector",
        ));
        // The state's ports in that sector; islands and counties are finer than the pack's table.
        if state_code(&area.name.to_lowercase()).is_some() || area.slug == "south_florida_fl" {
            mentions.extend(covered(sector, Some(area.state), domain));
        }
    }
    vec![Place { slug: area.slug.into(), name: area.name.into(), state: area.state.into(), mentions, known: true }]
}

/// Capitalised words that are no part of a port's name.
const NO_PORTS: &str = " port ports condition conditions captain capt cotp commander sector coast guard uscg us u.s tropical hurricane storm \
    depression typhoon winter the a an and of for in at to as by with due all read more follow update breaking happeningnow \
    breakingnews whiskey x-ray yankee zulu four iv seasonal alert normal modified effective atlantic gulf caribbean pacific \
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thurs fri sat sun january february march april \
    may june july august september october november december am pm edt est cdt cst ast hst utc local time homeport msib ripc \
    marine safety information bulletin mariners vessels vessel facilities updates preparation preparations safe ready \
    this these that there it if when while during after before until once proof mile seven bridge noaa nws nhc mhcpp \
    threatening winds wind weather maritime memorandum understanding section plan gross tons social media media vhf ch \
    federal code regulations navigation big stone anchorage aids checklist remaining official zone area zones district \
    finalupdate finaluptade final region regional eastern western northern southern prep storm21 ";

fn is_port_word(word: &Word) -> bool {
    word.is_name()
        && !word.is_mark()
        && !word.form.chars().any(|c| c.is_ascii_digit())
        && word.form.len() > 1
        && !NO_PORTS.contains(&format!(" {} ", word.form))
}

fn name_run(words: &[Word], at: usize, limit: usize) -> usize {
    at + words[at..limit].iter().take(4).take_while(|word| is_port_word(word)).count()
}

fn shown(words: &[Word]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// A port that no table holds: `Port of X`, or the next name of a list of ports.
fn unknown(words: &[Word], at: usize, limit: usize, last: Option<&Found>) -> Option<Found> {
    let before = |offset: usize| at.checked_sub(offset).map_or("", |before| words[before].form.as_str());
    let harbour = before(1) == "of" && matches!(before(2), "port" | "ports");
    let listed = last.is_some_and(|last| {
        let between = words.get(last.words.end..at).unwrap_or_default();
        let joined = !between.is_empty() && between.iter().all(|word| matches!(word.form.as_str(), "," | "&" | "and"));
        joined && last.places.iter().all(|place| place.mentions.iter().any(|mention| mention.kind == "port"))
    });
    let opening = matches!(before(1), "port" | "ports") && !matches!(before(2), "the" | "of");
    if !(harbour || listed || opening) {
        return None;
    }
    let end = name_run(words, at, limit);
    // A sentence that goes on with a verb (`and Coast Guard ...`) leaves nothing here; neither does a name of one letter.
    (end > at).then(|| {
        let name = shown(&words[at..end]);
        let slug = slug(&name);
        let port = mention(format!("port:{slug}"), &name, "port", "port");
        let place =
            Place { slug, name: format!("Port of {name}"), state: String::new(), mentions: vec![port], known: false };
        Found { words: at..end, places: vec![place] }
    })
}
