//! Stretches of coast for which conditions are set and which are no single port: counties of Hawaii, territories, states.

/// An area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    /// Slug of its key.
    pub(super) slug: &'static str,
    /// Its name.
    pub(super) name: &'static str,
    /// Code of its state, or of one of its states.
    pub(super) state: &'static str,
    /// Slug of the sector that governs it or the largest part of it; empty where it is not one.
    pub(super) sector: &'static str,
    /// Whether the area and the sector are the same zone.
    pub(super) is_sector: bool,
    /// Names in their form in text: small letters, one blank between words, no full stops.
    pub(super) forms: &'static [&'static str],
}

const fn area(
    slug: &'static str,
    name: &'static str,
    state: &'static str,
    sector: &'static str,
    forms: &'static [&'static str],
) -> Area {
    Area { slug, name, state, sector, is_sector: false, forms }
}

const fn zone(name: &'static str, state: &'static str, sector: &'static str, forms: &'static [&'static str]) -> Area {
    Area { slug: sector, name, state, sector, is_sector: true, forms }
}

/// The areas that Coast Guard posts speak of.
pub(super) const AREAS: [Area; 43] = [
    area(
        "hawaii_county_hi",
        "Hawaii County",
        "HI",
        "honolulu",
        &["hawaii county", "hawaii counties", "big island", "hawaii island", "hawaii"],
    ),
    area("maui_county_hi", "Maui County", "HI", "honolulu", &["maui county", "maui counties", "maui"]),
    area(
        "honolulu_county_hi",
        "Honolulu County",
        "HI",
        "honolulu",
        &["honolulu county", "city and county of honolulu", "oahu", "honolulu"],
    ),
    area("kauai_county_hi", "Kauai County", "HI", "honolulu", &["kauai county", "kauai counties", "kauai"]),
    area("lanai_hi", "Lanai", "HI", "honolulu", &["lanai"]),
    area("molokai_hi", "Molokai", "HI", "honolulu", &["molokai"]),
    area("hawaii_hi", "State of Hawaii", "HI", "honolulu", &["state of hawaii", "hawaiian islands"]),
    area("puerto_rico_pr", "Puerto Rico", "PR", "san_juan", &["puerto rico", "puertorico"]),
    area(
        "us_virgin_islands_vi",
        "U.S. Virgin Islands",
        "VI",
        "san_juan",
        &[
            "us virgin islands",
            "us virgins islands",
            "u s virgin islands",
            "usvirginislands",
            "usvi",
            "virgin islands",
            "virgins islands",
        ],
    ),
    area("st_croix_vi", "St. Croix", "VI", "san_juan", &["st croix", "saint croix"]),
    area("st_thomas_vi", "St. Thomas", "VI", "san_juan", &["st thomas", "saint thomas"]),
    area("st_john_vi", "St. John", "VI", "san_juan", &["st john", "saint john"]),
    area("guam_gu", "Guam", "GU", "guam", &["guam"]),
    area(
        "northern_mariana_islands_mp",
        "Northern Mariana Islands",
        "GU",
        "guam",
        &["cnmi", "northern mariana islands", "northern marianas"],
    ),
    zone(
        "North Carolina",
        "NC",
        "north_carolina",
        &["north carolina", "northcarolina", "nc", "eastern north carolina", "coastal north carolina"],
    ),
    zone("Virginia", "VA", "virginia", &["virginia", "va", "hampton roads"]),
    zone("Tampa Bay", "FL", "st_petersburg", &["tampa bay", "tampabay"]),
    area(
        "south_carolina_sc",
        "South Carolina",
        "SC",
        "charleston",
        &["south carolina", "southcarolina", "coastal south carolina", "sc"],
    ),
    area(
        "south_florida_fl",
        "South Florida",
        "FL",
        "miami",
        &["south florida", "southern florida", "southflorida", "southeast florida"],
    ),
    area("florida_keys_fl", "Florida Keys", "FL", "key_west", &["florida keys", "floridakeys"]),
    area(
        "west_florida_fl",
        "west coast of Florida",
        "FL",
        "st_petersburg",
        &["floridas west coast", "west coast of florida", "west florida", "southwest florida"],
    ),
    area("northeast_florida_fl", "Northeast Florida", "FL", "jacksonville", &["northeast florida"]),
    area("florida_panhandle_fl", "Florida Panhandle", "FL", "mobile", &["florida panhandle", "northwest florida"]),
    area("florida_fl", "Florida", "FL", "", &["florida", "fla", "fl", "floridas"]),
    area("georgia_ga", "Georgia", "GA", "savannah", &["georgia", "ga", "coastal georgia"]),
    area("alabama_al", "Alabama", "AL", "mobile", &["alabama"]),
    area("mississippi_ms", "Mississippi", "MS", "mobile", &["mississippi"]),
    area("louisiana_la", "Louisiana", "LA", "new_orleans", &["louisiana", "southeast louisiana"]),
    area("texas_tx", "Texas", "TX", "", &["texas", "tx"]),
    area("maryland_md", "Maryland", "MD", "maryland_national_capital_region", &["maryland", "md"]),
    area("delaware_de", "Delaware", "DE", "delaware_bay", &["delaware"]),
    area(
        "south_jersey_nj",
        "South Jersey",
        "NJ",
        "delaware_bay",
        &["south jersey", "southjersey", "southern new jersey", "south new jersey"],
    ),
    area("new_jersey_nj", "New Jersey", "NJ", "new_york", &["new jersey", "nj", "newjersey"]),
    area("pennsylvania_pa", "Pennsylvania", "PA", "delaware_bay", &["pennsylvania"]),
    area("connecticut_ct", "Connecticut", "CT", "long_island_sound", &["connecticut"]),
    area("long_island_ny", "Long Island", "NY", "long_island_sound", &["long island"]),
    area("rhode_island_ri", "Rhode Island", "RI", "southeastern_new_england", &["rhode island"]),
    area("massachusetts_ma", "Massachusetts", "MA", "boston", &["massachusetts"]),
    area("maine_me", "Maine", "ME", "northern_new_england", &["maine"]),
    area("new_hampshire_nh", "New Hampshire", "NH", "northern_new_england", &["new hampshire"]),
    zone("Delaware Bay", "DE", "delaware_bay", &["delaware bay"]),
    zone(
        "Houston-Galveston",
        "TX",
        "houston_galveston",
        &["houston-galveston", "houston/galveston", "houston galveston"],
    ),
    zone(
        "Maryland-National Capital Region",
        "MD",
        "maryland_national_capital_region",
        &["maryland-national capital region", "maryland ncr", "national capital region"],
    ),
];

/// States by name and abbreviation in text form, for those that only say which port is meant.
const STATES: [(&str, &[&str]); 23] = [
    ("FL", &["florida", "fla", "fl"]),
    ("GA", &["georgia", "ga"]),
    ("SC", &["south carolina", "southcarolina", "sc"]),
    ("NC", &["north carolina", "northcarolina", "nc"]),
    ("VA", &["virginia", "va"]),
    ("MD", &["maryland", "md"]),
    ("DE", &["delaware", "del", "de"]),
    ("NJ", &["new jersey", "nj"]),
    ("PA", &["pennsylvania", "pa"]),
    ("NY", &["new york", "ny"]),
    ("CT", &["connecticut", "conn", "ct"]),
    ("RI", &["rhode island", "ri"]),
    ("MA", &["massachusetts", "mass", "ma"]),
    ("NH", &["new hampshire", "nh"]),
    ("ME", &["maine"]),
    ("AL", &["alabama", "ala", "al"]),
    ("MS", &["mississippi", "miss", "ms"]),
    ("LA", &["louisiana", "la"]),
    ("TX", &["texas", "tex", "tx"]),
    ("HI", &["hawaii", "hi"]),
    ("PR", &["puerto rico", "pr"]),
    ("CA", &["california", "calif", "ca"]),
    ("TN", &["tennessee", "tenn", "tn"]),
];

/// Code of the state that a name or abbreviation in text form means.
pub(super) fn state_code(form: &str) -> Option<&'static str> {
    STATES.iter().find(|(_, forms)| forms.contains(&form)).map(|(code, _)| *code)
}

/// Rules for the local time of a state, as POSIX writes them.
pub(super) fn posix_zone(state: &str) -> Option<&'static str> {
    Some(match state {
        "FL" | "GA" | "SC" | "NC" | "VA" | "MD" | "DC" | "DE" | "NJ" | "PA" | "NY" | "CT" | "RI" | "MA" | "NH"
        | "ME" => "EST5EDT,M3.2.0,M11.1.0",
        "AL" | "MS" | "LA" | "TX" | "AR" | "TN" | "MO" | "IL" => "CST6CDT,M3.2.0,M11.1.0",
        "PR" | "VI" => "AST4",
        "HI" => "HST10",
        "GU" | "MP" => "ChST-10",
        "CA" | "OR" | "WA" => "PST8PDT,M3.2.0,M11.1.0",
        "AK" => "AKST9AKDT,M3.2.0,M11.1.0",
        _ => return None,
    })
}
