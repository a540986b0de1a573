//! Texts of other services: recognised by their marks, so that they are rejected by name and not as noise.

/// The service and product of a text that no grammar here reads; `None` where no mark of one is found.
pub fn service(text: &str) -> Option<&'static str> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let head: String = text.chars().take(2000).collect();
    if text.starts_with('<') {
        return Some(markup(&head.to_ascii_lowercase()));
    }
    let upper = head.to_ascii_uppercase();
    heading(&upper).or_else(|| words(&upper))
}

fn markup(head: &str) -> &'static str {
    let has = |mark: &str| head.contains(mark);
    if has("gdacs") {
        "GDACS RSS feed of disaster alerts"
    } else if has("nhc.noaa.gov") && has("<rss") {
        "NHC RSS index feed"
    } else if has("pagasa") {
        "PAGASA (Philippines) severe weather bulletin in XML"
    } else if has("<rss") || has("<feed") {
        "an RSS or Atom feed"
    } else if has("<alert") {
        "a Common Alerting Protocol message"
    } else {
        "an XML or HTML document"
    }
}

/// Offices by the four letters behind the data type in the abbreviated heading (`WTPQ20 BABJ 071200`).
const OFFICES: [(&str, &str); 16] = [
    ("PGTW", "Joint Typhoon Warning Center (JTWC) warning"),
    ("BABJ", "China Meteorological Administration (CMA) forecast"),
    ("RJTD", "Japan Meteorological Agency (JMA) advisory"),
    ("RPMM", "PAGASA (Philippines) warning"),
    ("RKSL", "Korea Meteorological Administration (KMA) warning"),
    ("VHHH", "Hong Kong Observatory (HKO) warning"),
    ("RCTP", "Central Weather Administration (Taiwan) warning"),
    ("DEMS", "India Meteorological Department (IMD) advisory"),
    ("FMEE", "Meteo-France La Reunion advisory"),
    ("FIMP", "Mauritius Meteorological Services warning"),
    ("NFFN", "Fiji Meteorological Service advisory"),
    ("ABRF", "Bureau of Meteorology (Australia) advisory"),
    ("ADRM", "Bureau of Meteorology (Australia) advisory"),
    ("APRF", "Bureau of Meteorology (Australia) advisory"),
    ("CWHX", "Canadian Hurricane Centre bulletin"),
    ("VTBB", "Thai Meteorological Department warning"),
];

/// The service of an abbreviated heading in the first lines.
fn heading(head: &str) -> Option<&'static str> {
    for line in head.lines().filter(|line| !line.trim().is_empty()).take(4) {
        let words: Vec<&str> = line.split_whitespace().collect();
        for (at, word) in words.iter().enumerate() {
            let data_type = word.len() == 6
                && word.bytes().take(4).all(|byte| byte.is_ascii_uppercase())
                && word.bytes().skip(4).all(|byte| byte.is_ascii_digit());
            if !data_type {
                continue;
            }
            if word.starts_with("FK") {
                return Some("ICAO tropical cyclone advisory for aviation");
            }
            let office = words.get(at + 1).copied().unwrap_or_default();
            if let Some((_, service)) = OFFICES.iter().find(|(letters, _)| *letters == office) {
                return Some(service);
            }
        }
    }
    None
}

fn words(head: &str) -> Option<&'static str> {
    let has = |mark: &str| head.contains(mark);
    if has("JOINT TYPHOON WRNCEN") {
        Some("Joint Typhoon Warning Center (JTWC) warning")
    } else if has("ICAO ADVISORY NUMBER") || (has("TCAC:") && has("DTG:")) {
        Some("ICAO tropical cyclone advisory for aviation")
    } else if has("RSMC TROPICAL CYCLONE ADVISORY") {
        Some("Japan Meteorological Agency (JMA) advisory")
    } else if has("LOCAL STATEMENT") && (has("NATIONAL WEATHER SERVICE") || has("\nHLS")) {
        Some("NWS hurricane local statement (HLS)")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::service;

    #[test]
    fn services_are_named_by_their_marks() {
        for (text, name) in [
            ("WTPN32 PGTW 310900\nMSGID/GENADMIN", Some("JTWC")),
            ("WTPQ20 BABJ 071200\nSUBJECTIVE FORECAST", Some("CMA")),
            ("WTPQ50 RJTD 080000\n", Some("JMA")),
            ("FKNT23 KNHC 231458\nTCANT3", Some("ICAO")),
            ("\u{feff}<?xml version=\"1.0\"?><rss xmlns:gdacs=\"http://www.gdacs.org\">", Some("GDACS")),
            ("<rss xmlns:nhc=\"http://www.nhc.noaa.gov\">", Some("NHC RSS")),
            ("<bulletin><url>https://pubfiles.pagasa.dost.gov.ph</url>", Some("PAGASA")),
            ("HLSTAE\nOpal Local Statement Advisory Number 4\nNational Weather Service Tallahassee FL", Some("HLS")),
            ("WTNT31 KNHC 010300\nTCPAT1", None),
            ("Port condition Zulu", None),
            ("", None),
        ] {
            let found = service(text);
            assert_eq!(found.is_some(), name.is_some(), "{text}: {found:?}");
            assert!(found.unwrap_or_default().contains(name.unwrap_or_default()), "{text}: {found:?}");
        }
    }
}
