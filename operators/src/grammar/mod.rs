//! Grammars for the texts of the trade, one module each, chosen by the document's source kind.
//!
//! A grammar is a pure parser: text in, facts in the pack's vocabulary out, each with the bytes from which it was read.
//! What a product's head does not give is an error; a part that can't be read is a failure beside the facts.

pub mod exposure;
pub mod facts;
pub mod header;
pub mod lines;
pub mod moment;
mod names;
pub mod other_services;
pub mod prose;
pub mod pws;
pub mod statements;
pub mod tcd;
pub mod tce;
pub mod tcm;
pub mod tcp;
pub mod tcu;
pub mod tcv;
pub mod two;
pub mod units;
pub mod uscg;
pub mod warnings;

use std::collections::BTreeMap;

use hypercane_schemas::Document;

use crate::domain::Domain;
use crate::extraction::{Extraction, Failure};
use header::TitleKind;

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// NHC or CPHC Forecast/Advisory.
    Tcm,
    /// Public Advisory.
    Tcp,
    /// Tropical Cyclone Update.
    Tcu,
    /// Tropical Cyclone Position Estimate.
    Tce,
    /// Wind Speed Probabilities.
    Pws,
    /// Watches and warnings with VTEC.
    Tcv,
    /// Forecast discussion.
    Tcd,
    /// Tropical Weather Outlook.
    Two,
    /// A port bulletin or post of the US Coast Guard.
    Uscg,
    /// A product of another service, by its name.
    OtherService(&'static str),
    /// None of these.
    Unknown,
}

impl Kind {
    /// The kind that a document's source kind names.
    pub fn named(name: &str) -> Option<Self> {
        let kind = match name.to_ascii_lowercase().as_str() {
            "tcm" => Self::Tcm,
            "tcp" => Self::Tcp,
            "tcu" => Self::Tcu,
            "tce" => Self::Tce,
            "pws" => Self::Pws,
            "tcv" => Self::Tcv,
            "tcd" => Self::Tcd,
            "two" => Self::Two,
            "uscg" | "msib" | "port_post" => Self::Uscg,
            _ => return None,
        };
        Some(kind)
    }
}

/// AWIPS product identifiers by their first letters, as they stand alone or behind the office (`MIATCMAT4`).
const AWIPS: [(&str, Kind); 10] = [
    ("TCM", Kind::Tcm),
    ("TCP", Kind::Tcp),
    ("TCU", Kind::Tcu),
    ("TCE", Kind::Tce),
    ("PWS", Kind::Pws),
    ("TCV", Kind::Tcv),
    ("TCD", Kind::Tcd),
    ("TWO", Kind::Two),
    ("TWD", Kind::OtherService("NHC tropical weather discussion")),
    ("HLS", Kind::OtherService("NWS hurricane local statement")),
];

/// What a text is: as given, else by its title words, else by its transmission header.
pub fn detect(text: &str, given: Option<&str>) -> Kind {
    if let Some(kind) = given.and_then(Kind::named) {
        return kind;
    }
    if let Some(service) = other_services::service(text) {
        return Kind::OtherService(service);
    }
    if tcv::is_tcv(text) {
        return Kind::Tcv;
    }
    match header::title_kind(text) {
        Some(TitleKind::ForecastAdvisory) => Kind::Tcm,
        Some(TitleKind::PublicAdvisory) => public_or_marine(text),
        Some(TitleKind::WindSpeedProbabilities) => Kind::Pws,
        Some(TitleKind::Discussion) => Kind::Tcd,
        Some(TitleKind::Update) => Kind::Tcu,
        Some(TitleKind::PositionEstimate) => Kind::Tce,
        Some(TitleKind::WatchWarning) => Kind::Tcv,
        None => awips(text).or_else(|| uscg::is_port_text(text).then_some(Kind::Uscg)).unwrap_or(Kind::Unknown),
    }
}

/// Once a Forecast/Advisory could be titled just `ADVISORY`; its body tells.
fn public_or_marine(text: &str) -> Kind {
    let upper = text.to_ascii_uppercase();
    if upper.contains("FORECAST VALID ") && upper.contains("CENTER LOCATED NEAR") { Kind::Tcm } else { Kind::Tcp }
}

fn awips(text: &str) -> Option<Kind> {
    let head = text.lines().filter(|line| !line.trim().is_empty()).take(4);
    head.flat_map(str::split_whitespace).find_map(|word| {
        if !(5..=9).contains(&word.len()) || !word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit()) {
            return None;
        }
        let own = |prefix: &str| {
            word.starts_with(prefix) || (word.len() >= 8 && word.get(3..).is_some_and(|rest| rest.starts_with(prefix)))
        };
        AWIPS.iter().find(|(prefix, _)| own(prefix)).map(|(_, kind)| *kind)
    })
}

/// Whether a document is a product: where a pack reads any text, only if its source kind says so.
pub fn is_product(document: &Document, domain: &Domain) -> bool {
    match domain.language_name() {
        Some(_) => document.source_kind.as_deref().and_then(Kind::named).is_some(),
        None => detect(&document.text, document.source_kind.as_deref()) != Kind::Unknown,
    }
}

/// The facts of a document, or why it has none.
pub fn extract(document: &Document, domain: &Domain) -> Result<Extraction, Failure> {
    let text = document.text.as_str();
    if domain.language_name().is_some() && !is_product(document, domain) {
        let language = domain.language().ok_or_else(|| {
            reject(text, "the domain pack reads texts with a language model, and none was given; `make models`".into())
        })?;
        return Ok(statements::extract(document, language));
    }
    let kind = detect(text, document.source_kind.as_deref());
    let mut extraction = read(kind, document, domain)?;
    match kind {
        Kind::Tcm | Kind::Tcp | Kind::Tcu | Kind::Tce | Kind::Pws => extraction.failures.extend(cut(text)),
        Kind::Uscg => extraction.failures.extend(unknown_ports(text, &extraction, domain)),
        _ => {}
    }
    Ok(extraction)
}

/// The failure of a numbered product that stops before its end: each closes with `$$`, or with its forecaster's name.
fn cut(text: &str) -> Option<Failure> {
    let closes = |line: &str| line.trim() == "$$" || line.trim_start().to_ascii_uppercase().starts_with("FORECASTER");
    if text.lines().any(closes) {
        return None;
    }
    let reason = "the text stops before its closing `$$`, so its end may be missing; what stands before is kept, send the whole text under the same key";
    Some(Failure { line: text.lines().count().max(1) as u32, reason: reason.into() })
}

/// A failure for each port that the pack does not know. Its facts are kept under its own name, without a position.
fn unknown_ports(text: &str, extraction: &Extraction, domain: &Domain) -> Vec<Failure> {
    let mut unknown: BTreeMap<&str, Failure> = BTreeMap::new();
    for fact in &extraction.facts {
        for mention in fact.mentions.iter().filter(|mention| mention.kind == "port") {
            let Some(slug) = mention.entity.0.strip_prefix("port:") else { continue };
            if domain.port(slug).is_some() {
                continue;
            }
            let line = 1 + text.as_bytes().iter().take(fact.span.start as usize).filter(|b| **b == b'\n').count();
            let reason = format!(
                "the port {:?} is not in the domain pack; its facts are kept under that name, without a position: add it to the pack's ports, or correct the text",
                mention.name
            );
            unknown.entry(slug).or_insert(Failure { line: line as u32, reason });
        }
    }
    unknown.into_values().collect()
}

fn read(kind: Kind, document: &Document, domain: &Domain) -> Result<Extraction, Failure> {
    let text = document.text.as_str();
    match kind {
        Kind::Tcm => tcm::extract(text),
        Kind::Tcp => tcp::extract(text),
        Kind::Tcu => tcu::extract(text),
        Kind::Tce => tce::extract(text),
        Kind::Pws => pws::extract(text),
        Kind::Tcv => tcv::extract(text),
        Kind::Tcd => tcd::extract(text),
        Kind::Two => two::extract(text),
        Kind::Uscg => uscg::extract(document, domain),
        Kind::OtherService(service) => Err(reject(text, format!("a product of another kind: {service}"))),
        Kind::Unknown => {
            Err(reject(text, "no product that is known: neither its header nor its title names one".into()))
        }
    }
}

/// A failure at the first line that has words.
fn reject(text: &str, reason: String) -> Failure {
    let line = text.lines().position(|line| !line.trim().is_empty()).unwrap_or(0);
    Failure { line: line as u32 + 1, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_known_by_title_or_header() {
        let head = |title: &str| format!("{title}\nNWS MIAMI FL AL012020\n0300 UTC MON JUN 01 2020\n");
        for (title, kind) in [
            ("HURRICANE OPAL FORECAST/ADVISORY NUMBER 3", Kind::Tcm),
            ("Hurricane Opal Advisory Number 3", Kind::Tcp),
            ("Hurricane Opal Tropical Cyclone Update", Kind::Tcu),
            ("Hurricane Opal Wind Speed Probabilities Number 3", Kind::Pws),
            ("Hurricane Opal Discussion Number 3", Kind::Tcd),
            ("WTNT31 KNHC 010300\nTCPAT1", Kind::Tcp),
            ("ZCZC MIATWOAT ALL", Kind::Two),
            ("Nothing of the kind", Kind::Unknown),
        ] {
            assert_eq!(detect(&head(title), None), kind, "{title}");
        }
        assert_eq!(detect("anything", Some("pws")), Kind::Pws);
        assert_eq!(detect("", None), Kind::Unknown);
    }
}
