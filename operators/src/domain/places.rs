//! Ports and the sectors that govern them, from the pack's tables.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::{DOMAIN_FILE, DomainError, name_form, slug};

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
