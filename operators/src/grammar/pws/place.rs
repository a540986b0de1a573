//! The names of the table's places, which are cut to fourteen letters, in words that people use.

use crate::grammar::facts::{shown_name, slug};

/// A place by its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Last part of its key.
    pub(super) slug: String,
    /// Name with its state or country: `New Orleans, Louisiana`.
    pub(super) name: String,
    /// Other names: `New Orleans`, `New Orleans LA`, as printed.
    pub(super) aliases: Vec<String>,
}

/// Codes behind a name, the region they mean, and what joins the slug.
const REGIONS: [(&str, &str); 52] = [
    ("AL", "Alabama"),
    ("AR", "Arkansas"),
    ("AZ", "Arizona"),
    ("CA", "California"),
    ("CT", "Connecticut"),
    ("DC", "District of Columbia"),
    ("DE", "Delaware"),
    ("FL", "Florida"),
    ("GA", "Georgia"),
    ("HI", "Hawaii"),
    ("IL", "Illinois"),
    ("IN", "Indiana"),
    ("KY", "Kentucky"),
    ("LA", "Louisiana"),
    ("MA", "Massachusetts"),
    ("MD", "Maryland"),
    ("ME", "Maine"),
    ("MO", "Missouri"),
    ("MS", "Mississippi"),
    ("NC", "North Carolina"),
    ("NH", "New Hampshire"),
    ("NJ", "New Jersey"),
    ("NY", "New York"),
    ("OH", "Ohio"),
    ("OK", "Oklahoma"),
    ("PA", "Pennsylvania"),
    ("RI", "Rhode Island"),
    ("SC", "South Carolina"),
    ("TN", "Tennessee"),
    ("TX", "Texas"),
    ("VA", "Virginia"),
    ("VT", "Vermont"),
    ("WV", "West Virginia"),
    ("PR", "Puerto Rico"),
    ("VI", "U.S. Virgin Islands"),
    ("GU", "Guam"),
    ("MX", "Mexico"),
    ("NB", "New Brunswick"),
    ("NS", "Nova Scotia"),
    ("PEI", "Prince Edward Island"),
    ("NFLD", "Newfoundland"),
    ("NL", "Newfoundland"),
    ("PQ", "Quebec"),
    ("QC", "Quebec"),
    ("BHS", "Bahamas"),
    ("CUBA", "Cuba"),
    ("JM", "Jamaica"),
    ("HN", "Honduras"),
    ("BZ", "Belize"),
    ("DO", "Dominican Republic"),
    ("HT", "Haiti"),
    ("KY IS", "Cayman Islands"),
];

/// Places printed without their region, or shortened beyond rules: as printed, name, code of the region (of [`REGIONS`], or empty).
const PLACES: [(&str, &str, &str); 121] = [
    ("ACAPULCO", "Acapulco", "MX"),
    ("ANDROS", "Andros", "BHS"),
    ("APALACHICOLA", "Apalachicola", "FL"),
    ("ATLANTIC CITY", "Atlantic City", "NJ"),
    ("BAHIA KINO", "Bahia Kino", "MX"),
    ("BALD HEAD ISL", "Bald Head Island", "NC"),
    ("BARRA NAVIDAD", "Barra de Navidad", "MX"),
    ("BATON ROUGE", "Baton Rouge", "LA"),
    ("BEAUFORT MCAS", "Beaufort Marine Corps Air Station", "SC"),
    ("BELIZE CITY", "Belize City", "BZ"),
    ("CABO SAN LUCAS", "Cabo San Lucas", "MX"),
    ("CAMAGUEY", "Camaguey", "CUBA"),
    ("CAPE BEATA", "Cape Beata", "DO"),
    ("CAPE HATTERAS", "Cape Hatteras", "NC"),
    ("CAPE HENLOPEN", "Cape Henlopen", "DE"),
    ("CHARLOTTESVIL", "Charlottesville", "VA"),
    ("CIENFUEGOS", "Cienfuegos", "CUBA"),
    ("CORPUS CHRISTI", "Corpus Christi", "TX"),
    ("CP SAN ANTONIO", "Cabo San Antonio", "CUBA"),
    ("CULIACAN", "Culiacan", "MX"),
    ("DAYTONA BEACH", "Daytona Beach", "FL"),
    ("DESTIN EXEC AP", "Destin Executive Airport", "FL"),
    ("ELIZABETH CTY", "Elizabeth City", "NC"),
    ("ENSENADA", "Ensenada", "MX"),
    ("FAYETTEVILLE", "Fayetteville", "NC"),
    ("FT LAUDERDALE", "Fort Lauderdale", "FL"),
    ("GRAND BAHAMA", "Grand Bahama", "BHS"),
    ("GRAND CAYMAN", "Grand Cayman", "KY IS"),
    ("GREAT EXUMA", "Great Exuma", "BHS"),
    ("GUANAJA", "Guanaja", "HN"),
    ("GUANTANAMO BAY", "Guantanamo Bay", "CUBA"),
    ("GUAYMAS", "Guaymas", "MX"),
    ("HAVANA", "Havana", "CUBA"),
    ("HERMOSILLO", "Hermosillo", "MX"),
    ("HIBERNIA OILFD", "Hibernia Oil Field", ""),
    ("HOMESTEAD ARB", "Homestead Air Reserve Base", "FL"),
    ("HUATABAMPO", "Huatabampo", "MX"),
    ("ILE ST PIERRE", "Saint Pierre", ""),
    ("IS GUADALUPE", "Isla Guadalupe", "MX"),
    ("ISLA CLARION", "Isla Clarion", "MX"),
    ("ISLA SOCORRO", "Isla Socorro", "MX"),
    ("ISLAS MARIAS", "Islas Marias", "MX"),
    ("ISLE OF PINES", "Isle of Pines", "CUBA"),
    ("JACKSONVILLE", "Jacksonville", "FL"),
    ("KEESLER AB", "Keesler Air Force Base", "MS"),
    ("KINGSTON", "Kingston", "JM"),
    ("L CARDENAS", "Lazaro Cardenas", "MX"),
    ("LA PAZ", "La Paz", "MX"),
    ("LAKE CHARLES", "Lake Charles", "LA"),
    ("LES CAYES", "Les Cayes", "HT"),
    ("LITTLE RIVER", "Little River", "SC"),
    ("LONG BEACH/LA", "Long Beach/Los Angeles", "CA"),
    ("LORETO", "Loreto", "MX"),
    ("LOS MOCHIS", "Los Mochis", "MX"),
    ("MANZANILLO", "Manzanillo", "MX"),
    ("MAYAGUANA", "Mayaguana", "BHS"),
    ("MAYPORT NS", "Mayport Naval Station", "FL"),
    ("MAYPORT NS FL", "Mayport Naval Station", "FL"),
    ("MAZATLAN", "Mazatlan", "MX"),
    ("MONTAUK POINT", "Montauk Point", "NY"),
    ("MONTEGO BAY", "Montego Bay", "JM"),
    ("MOREHEAD CITY", "Morehead City", "NC"),
    ("MYRTLE BEACH", "Myrtle Beach", "SC"),
    ("NEW ORLEANS", "New Orleans", "LA"),
    ("NEW PROVIDENCE", "New Providence (Nassau)", "BHS"),
    ("NEW YORK CITY", "New York City", "NY"),
    ("NORFOLK NAS", "Norfolk Naval Air Station", "VA"),
    ("NWS EARLE NJ", "Naval Weapons Station Earle", "NJ"),
    ("NYC CNTRL PARK", "New York City Central Park", "NY"),
    ("NYC JFK AIRPRT", "New York City JFK Airport", "NY"),
    ("OCEANA NAS VA", "Oceana Naval Air Station", "VA"),
    ("P ABREOJOS", "Punta Abreojos", "MX"),
    ("P MALDONADO", "Punta Maldonado", "MX"),
    ("P PENASCO", "Puerto Penasco", "MX"),
    ("P VALLARTA", "Puerto Vallarta", "MX"),
    ("PATRICK AFB", "Patrick Air Force Base", "FL"),
    ("PAX RIVER NAS", "Patuxent River Naval Air Station", "MD"),
    ("PENSACOLA NAS", "Pensacola Naval Air Station", "FL"),
    ("PHILADELPHIA", "Philadelphia", "PA"),
    ("PORT O CONNOR", "Port O'Connor", "TX"),
    ("PORT-AU-PRINCE", "Port-au-Prince", "HT"),
    ("POUGHKEEPSIE", "Poughkeepsie", "NY"),
    ("PT GALLINAS", "Punta Gallinas", ""),
    ("PTX BASQUES", "Port aux Basques", "NFLD"),
    ("PTX BASRA", "Port aux Basques", "NFLD"),
    ("PUERTO BARRIOS", "Puerto Barrios", ""),
    ("PUERTO PLATA", "Puerto Plata", "DO"),
    ("PUNTA EUGENIA", "Punta Eugenia", "MX"),
    ("S CATALINA IS", "Santa Catalina Island", "CA"),
    ("SABLE ISLAND", "Sable Island", "NS"),
    ("SAINT CROIX", "St. Croix", "VI"),
    ("SAINT JOHN", "Saint John", "NB"),
    ("SAINT LUCIA", "St. Lucia", ""),
    ("SAINT MAARTEN", "St. Maarten", ""),
    ("ST MARTIN", "St. Martin", ""),
    ("ST MAARTEN", "St. Maarten", ""),
    ("SAINT THOMAS", "St. Thomas", "VI"),
    ("SAINT VINCENT", "St. Vincent", ""),
    ("SAN BLAS", "San Blas", "MX"),
    ("SAN JOSE CABO", "San Jose del Cabo", "MX"),
    ("SAN SALVADOR", "San Salvador", "BHS"),
    ("SANTA CRUZ IS", "Santa Cruz Island", "CA"),
    ("SANTIAGO CUBA", "Santiago de Cuba", "CUBA"),
    ("SANTO DOMINGO", "Santo Domingo", "DO"),
    ("ST JOHN NB", "Saint John", "NB"),
    ("STE ANNE MONTS", "Sainte-Anne-des-Monts", "QC"),
    ("THE VILLAGES", "The Villages", "FL"),
    ("TIJUANA", "Tijuana", "MX"),
    ("TRINIDADTOBAGO", "Trinidad and Tobago", ""),
    ("W PALM BEACH", "West Palm Beach", "FL"),
    ("WALLOPS CDA", "Wallops Island", "VA"),
    ("WHITING FLD FL", "Whiting Field", "FL"),
    ("ZIHUATANEJO", "Zihuatanejo", "MX"),
    ("HALIFAX", "Halifax", "NS"),
    ("NASSAU", "Nassau", "BHS"),
    ("WASHINGTON DC", "Washington", "DC"),
    ("CHETUMAL", "Chetumal", "MX"),
    ("PROGRESO", "Progreso", "MX"),
    ("ABACO", "Abaco", "BHS"),
    ("GREAT INAGUA", "Great Inagua", "BHS"),
    ("RAGGED ISLAND", "Ragged Island", "BHS"),
];

/// Shortened words inside a name.
const WORDS: [(&str, &str); 18] = [
    ("FT", "Fort"),
    ("ST", "St."),
    ("SAINT", "St."),
    ("PT", "Point"),
    ("PTX", "Port aux"),
    ("CP", "Cape"),
    ("MT", "Mount"),
    ("ROCKY", "Rocky"),
    ("BCH", "Beach"),
    ("IS", "Island"),
    ("ISL", "Island"),
    ("CTY", "City"),
    ("FLD", "Field"),
    ("NAS", "Naval Air Station"),
    ("AFB", "Air Force Base"),
    ("AP", "Airport"),
    ("INTL", "International"),
    ("HBR", "Harbor"),
];

/// The place that a row names.
pub(super) fn named(printed: &str) -> Place {
    let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    let upper = printed.to_ascii_uppercase();
    if let Some(grid) = grid_point(&upper, &printed) {
        return grid;
    }
    if let Some((_, name, code)) = PLACES.iter().find(|(raw, _, _)| *raw == upper) {
        return spelt(name, code, &printed);
    }
    let words: Vec<&str> = upper.split(' ').collect();
    let (code, words) = match words.split_last() {
        Some((last, rest)) if !rest.is_empty() && region(last).is_some() => (*last, rest.to_vec()),
        _ => ("", words),
    };
    let name: Vec<String> = words.iter().map(|word| spelt_word(word)).collect();
    spelt(&name.join(" "), code, &printed)
}

fn spelt_word(word: &str) -> String {
    WORDS.iter().find(|(short, _)| *short == word).map_or_else(|| shown_name(word), |(_, long)| (*long).to_owned())
}

fn region(code: &str) -> Option<&'static str> {
    REGIONS.iter().find(|(known, _)| *known == code).map(|(_, name)| *name)
}

fn spelt(name: &str, code: &str, printed: &str) -> Place {
    let Some(region) = region(code) else {
        return Place { slug: slug(name), name: name.to_owned(), aliases: vec![shown_name(printed)] };
    };
    let mut aliases = vec![name.to_owned()];
    if code.len() == 2 {
        aliases.extend([format!("{name} {code}"), format!("{name}, {code}")]);
    }
    let short = printed.to_owned();
    let known = aliases.iter().any(|alias| alias.eq_ignore_ascii_case(&short));
    if !known {
        aliases.push(short);
    }
    let tail = if code.len() == 2 { code.to_owned() } else { region.to_owned() };
    Place { slug: slug(&format!("{name} {tail}")), name: format!("{name}, {region}"), aliases }
}

/// `GFMX 280N 890W`, `25N 115W`: a point of the sea.
fn grid_point(upper: &str, printed: &str) -> Option<Place> {
    let words: Vec<&str> = upper.split(' ').collect();
    let (sea, latitude, longitude) = match words.as_slice() {
        [sea, latitude, longitude] => (Some(*sea), *latitude, *longitude),
        [latitude, longitude] => (None, *latitude, *longitude),
        _ => return None,
    };
    let degrees = |word: &str, letters: [char; 2]| {
        let letter = word.chars().last().filter(|letter| letters.contains(letter))?;
        let digits = &word[..word.len() - 1];
        let value: f64 = digits.parse::<u32>().ok().map(f64::from)?;
        // Tenths stand without a point: `280N` is 28.0, `0890W` 89.0.
        let value = if digits.len() >= 3 && sea.is_some() { value / 10.0 } else { value };
        Some(format!("{value:.1}{letter}"))
    };
    let (latitude, longitude) = (degrees(latitude, ['N', 'S'])?, degrees(longitude, ['E', 'W'])?);
    let waters = match sea {
        Some("GFMX" | "GFAM") => "Gulf of Mexico",
        Some("ATL" | "ATLC") => "Atlantic Ocean",
        Some("PAC" | "PCFC") => "Pacific Ocean",
        Some("CARB" | "CRBN") => "Caribbean Sea",
        Some(_) => return None,
        None => "Open sea",
    };
    let name = format!("{waters} {latitude} {longitude}");
    Some(Place { slug: slug(&name), name, aliases: vec![printed.to_owned()] })
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn shortened_names_are_spelt_out() {
        for (printed, slug, name, alias) in [
            ("NEW ORLEANS LA", "new_orleans_la", "New Orleans, Louisiana", "New Orleans LA"),
            ("FT MYERS FL", "fort_myers_fl", "Fort Myers, Florida", "Fort Myers"),
            ("W PALM BEACH", "west_palm_beach_fl", "West Palm Beach, Florida", "W PALM BEACH"),
            ("PORT ARTHUR TX", "port_arthur_tx", "Port Arthur, Texas", "Port Arthur"),
            ("SAINT MAARTEN", "st_maarten", "St. Maarten", "Saint Maarten"),
            ("GFMX 280N 890W", "gulf_of_mexico_28_0n_89_0w", "Gulf of Mexico 28.0N 89.0W", "GFMX 280N 890W"),
            ("25N 115W", "open_sea_25_0n_115_0w", "Open sea 25.0N 115.0W", "25N 115W"),
            ("MAYPORT NS FL", "mayport_naval_station_fl", "Mayport Naval Station, Florida", "MAYPORT NS FL"),
            ("YARMOUTH NS", "yarmouth_ns", "Yarmouth, Nova Scotia", "Yarmouth"),
            ("ST MARKS FL", "st_marks_fl", "St. Marks, Florida", "ST MARKS FL"),
            ("HAVANA", "havana_cuba", "Havana, Cuba", "Havana"),
            ("BERMUDA", "bermuda", "Bermuda", "Bermuda"),
            ("CAPE RACE NFLD", "cape_race_newfoundland", "Cape Race, Newfoundland", "CAPE RACE NFLD"),
        ] {
            let place = named(printed);
            assert_eq!((place.slug.as_str(), place.name.as_str()), (slug, name));
            assert!(place.aliases.iter().any(|other| other == alias), "{printed}: {:?}", place.aliases);
        }
    }
}
