//! Ports and the sectors that govern them, from the pack's tables.

use std::collections::{BTreeMap, BTreeSet};

use hypercane_schemas::Span;
use serde::Deserialize;

use super::{DOMAIN_FILE, Domain, DomainError, name_form, slug};

/// A port.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// Its slug, such as `port_arthur_tx`; its entity is `port:` and the slug.
    pub slug: String,
    /// Its name, without the state.
    pub name: String,
    /// Code of its state, province or territory; may be empty outside the United States.
    pub state: String,
    /// Two-letter country code.
    pub country: String,
    /// Degrees, north positive.
    pub latitude: f64,
    /// Degrees, east positive.
    pub longitude: f64,
    /// Its name, alone and with the state, and its aliases.
    pub names: Vec<String>,
}

/// A Coast Guard sector or captain of the port zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sector {
    /// Its slug; its entity is `sector:` and the slug.
    pub slug: String,
    /// Its name, without the word sector.
    pub name: String,
    /// Its name with the word sector and its aliases.
    pub names: Vec<String>,
    /// Slugs of its main ports.
    pub ports: Vec<String>,
}

/// A name found in running text, and what it stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Found<'a> {
    /// The bytes of the text.
    pub span: Span,
    /// What the name stands for.
    pub place: Place<'a>,
}

/// What a name in a text stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Place<'a> {
    /// Ports, by slug; more than one where the pack declares the name ambiguous and the text does not decide.
    Ports(Vec<&'a Port>),
    /// A sector.
    Sector(&'a Sector),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PortRow {
    slug: String,
    name: String,
    state: String,
    country: String,
    latitude: f64,
    longitude: f64,
    aliases: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SectorRow {
    slug: String,
    name: String,
    aliases: String,
    ports: String,
}

impl Domain {
    /// The ports and sectors that a text names, in text order; none inside another ("Sector Key West" names no port).
    pub fn places_in(&self, text: &str) -> Vec<Found<'_>> {
        let sectors = self.sector_names.find_in(text).into_iter().flat_map(|(span, slugs)| {
            let found = slugs.iter().filter_map(|slug| self.sector(slug));
            found.map(move |sector| Found { span, place: Place::Sector(sector) })
        });
        let mut all: Vec<Found<'_>> = sectors.chain(self.ports_in(text)).collect();
        // The longer name wins; of two equal ones the sector, which stands first.
        all.sort_by_key(|found| (std::cmp::Reverse(found.span.end - found.span.start), found.span.start));
        let mut kept: Vec<Found<'_>> = Vec::new();
        for found in all {
            let overlaps = |other: &Found<'_>| found.span.start < other.span.end && other.span.start < found.span.end;
            if !kept.iter().any(overlaps) {
                kept.push(found);
            }
        }
        kept.sort_by_key(|found| found.span);
        kept
    }

    /// The names of ports in a text. A name of several ports is settled by the states that the text names, itself or by the
    /// ports beside it.
    fn ports_in(&self, text: &str) -> Vec<Found<'_>> {
        let found = self.port_names.find_in(text).into_iter();
        let named: Vec<(Span, Vec<&Port>)> =
            found.map(|(span, slugs)| (span, slugs.iter().filter_map(|slug| self.port(slug)).collect())).collect();
        let sure = named.iter().filter(|(_, ports)| ports.len() == 1).map(|(_, ports)| ports[0].state.as_str());
        let beside: BTreeSet<&str> = sure.filter(|state| !state.is_empty()).collect();
        let form = format!(" {} ", name_form(text));
        let mentioned = |port: &Port| {
            let name = self.state_name(&port.state).unwrap_or_default();
            !name.is_empty() && form.contains(&format!(" {} ", name_form(name)))
        };
        let is_beside = |port: &Port| beside.contains(port.state.as_str());
        let mut settled = Vec::with_capacity(named.len());
        for (span, ports) in &named {
            let only = |near: &dyn Fn(&Port) -> bool| {
                let mut few = ports.iter().filter(|port| near(port));
                few.next().filter(|_| few.next().is_none()).copied()
            };
            let port = only(&mentioned).or_else(|| only(&is_beside));
            let ports = port.map_or_else(|| ports.clone(), |port| vec![port]);
            settled.push(Found { span: *span, place: Place::Ports(ports) });
        }
        settled
    }
}

/// Reads the table of ports and sorts it by slug.
pub(super) fn read_ports(file: &str, text: &str, states: &BTreeMap<String, String>) -> Result<Vec<Port>, DomainError> {
    let mut ports = Vec::new();
    for (line, row) in rows::<PortRow>(file, text)? {
        let wrong = |reason: String| DomainError::at_line(file, line, reason);
        if !(-90.0..=90.0).contains(&row.latitude) || !(-180.0..=180.0).contains(&row.longitude) {
            return Err(wrong(format!("{}, {} is no place on Earth", row.latitude, row.longitude)));
        }
        let mut names = vec![row.name.clone()];
        if !row.state.is_empty() {
            let unknown = || wrong(format!("state {:?} is not in states of {DOMAIN_FILE}", row.state));
            let state = states.get(&row.state).ok_or_else(unknown)?;
            names.extend([format!("{}, {}", row.name, row.state), format!("{}, {state}", row.name)]);
        }
        names.extend(list(&row.aliases));
        names.dedup();
        ports.push(Port {
            slug: row.slug,
            name: row.name,
            state: row.state,
            country: row.country,
            latitude: row.latitude,
            longitude: row.longitude,
            names,
        });
    }
    ports.sort_by(|a, b| a.slug.cmp(&b.slug));
    check_slugs(file, ports.iter().map(|port| port.slug.as_str()))?;
    Ok(ports)
}

/// Reads the table of sectors and sorts it by slug.
pub(super) fn read_sectors(file: &str, text: &str, ports: &[Port]) -> Result<Vec<Sector>, DomainError> {
    let known: BTreeSet<&str> = ports.iter().map(|port| port.slug.as_str()).collect();
    let mut sectors = Vec::new();
    for (line, row) in rows::<SectorRow>(file, text)? {
        let governed: Vec<String> = list(&row.ports).collect();
        if let Some(unknown) = governed.iter().find(|port| !known.contains(port.as_str())) {
            return Err(DomainError::at_line(file, line, format!("{unknown:?} is no port")));
        }
        // The bare name is left to ports: in a bulletin "Sector New Orleans" is the sector and "New Orleans" the port.
        let mut names = vec![format!("Sector {}", row.name)];
        names.extend(list(&row.aliases));
        sectors.push(Sector { slug: row.slug, name: row.name, names, ports: governed });
    }
    sectors.sort_by(|a, b| a.slug.cmp(&b.slug));
    check_slugs(file, sectors.iter().map(|sector| sector.slug.as_str()))?;
    Ok(sectors)
}

fn rows<T: for<'de> Deserialize<'de>>(file: &str, text: &str) -> Result<Vec<(u64, T)>, DomainError> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|e| DomainError::from_csv(file, &e))?.clone();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| DomainError::from_csv(file, &e))?;
        let line = record.position().map_or(1, csv::Position::line);
        rows.push((line, record.deserialize(Some(&headers)).map_err(|e| DomainError::from_csv(file, &e))?));
    }
    Ok(rows)
}

/// The parts of a cell that holds a list: `A|B`.
fn list(cell: &str) -> impl Iterator<Item = String> {
    cell.split('|').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned)
}

fn check_slugs<'a>(file: &str, slugs: impl Iterator<Item = &'a str>) -> Result<(), DomainError> {
    let mut last = "";
    for found in slugs {
        if found == last {
            return Err(DomainError::at_key(file, found, "this slug is there twice"));
        }
        if found.is_empty() || slug(&name_form(&found.replace('_', " "))) != found {
            return Err(DomainError::at_key(file, found, "a slug is lower case words joined by underscores"));
        }
        last = found;
    }
    Ok(())
}
