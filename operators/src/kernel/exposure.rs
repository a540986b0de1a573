//! Port exposure: what one forecast track means for each port near it.
//!
//! Between two track points the centre runs along the great circle at an even speed and each wind radius changes evenly.
//! A port is inside a wind field where it is no farther from the centre than the radius of the quadrant it lies in.
//! Times are whole minutes: the first minute at which the port is inside. The search steps over every minute at which the
//! port cannot be inside yet, since the gap to the widest radius closes no faster than the centre moves and the field grows.

use jiff::Timestamp;

use super::geodesy::{Arc, Point, bearing, distance_nm};

/// Ports farther from the track than this are left out.
pub const REACH_NM: f64 = 300.0;
/// The wind speeds for which a port's first minute is sought, in kt.
pub const THRESHOLDS_KT: [u16; 3] = [34, 50, 64];
/// Points farther apart in time than this are no forecast of one cyclone; between them no wind field is assumed.
const LONGEST_LEG_MINUTES: i64 = 7 * 24 * 60;

/// The extent of winds of one speed around a centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindRadii {
    /// The speed in kt.
    pub threshold_kt: u16,
    /// Radii in nm: north-east, south-east, south-west, north-west.
    pub quadrants_nm: [f64; 4],
}

/// The centre at one moment, now or forecast.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackPoint {
    /// When.
    pub at: Timestamp,
    /// Degrees, north positive.
    pub latitude: f64,
    /// Degrees, east positive.
    pub longitude: f64,
    /// The largest sustained wind in kt, where it is said.
    pub max_wind_kt: Option<f64>,
    /// The radii that are said. A speed above `max_wind_kt` has no field; any other speed not in the list is unknown.
    pub radii: Vec<WindRadii>,
}

/// A port.
#[derive(Clone, Debug, PartialEq)]
pub struct PortSite {
    /// Its entity key.
    pub key: String,
    /// Its name.
    pub name: String,
    /// Degrees, north positive.
    pub latitude: f64,
    /// Degrees, east positive.
    pub longitude: f64,
}

/// What the track means for one port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exposure {
    /// The port's place in the list given.
    pub port: usize,
    /// The smallest distance between centre and port.
    pub distance_nm: f64,
    /// When the centre is there, to the minute; of several such moments the first.
    pub closest_at: Timestamp,
    /// The first minute inside the field of each of [`THRESHOLDS_KT`], where that is known to happen.
    pub reached_at: [Option<Timestamp>; 3],
}

/// The exposure of each port within [`REACH_NM`] of the track, in the order of the ports.
///
/// Points may come in any order; of two at the same minute the first counts. An empty track exposes nothing.
pub fn exposures(track: &[TrackPoint], ports: &[PortSite]) -> Vec<Exposure> {
    let legs = legs(track);
    let sites = ports.iter().map(|port| Point::new(port.latitude, port.longitude));
    sites.enumerate().filter_map(|(index, site)| exposure(&legs, index, site)).collect()
}

/// The stretch between two neighbouring track points; for a track of one point, a stretch of no length.
struct Leg {
    start: i64,
    minutes: i64,
    arc: Arc,
    fields: [Option<Field>; 3],
}

/// The wind field of one speed along a leg.
struct Field {
    from: [f64; 4],
    to: [f64; 4],
}

impl Field {
    fn quadrant(&self, quadrant: usize, fraction: f64) -> f64 {
        self.from[quadrant] + (self.to[quadrant] - self.from[quadrant]) * fraction
    }

    fn widest(&self, fraction: f64) -> f64 {
        (0..4).map(|quadrant| self.quadrant(quadrant, fraction)).fold(0.0, f64::max)
    }

    fn largest_growth(&self) -> f64 {
        (0..4).map(|quadrant| (self.to[quadrant] - self.from[quadrant]).abs()).fold(0.0, f64::max)
    }
}

fn legs(track: &[TrackPoint]) -> Vec<Leg> {
    let mut points: Vec<(i64, &TrackPoint)> = track.iter().map(|point| (minute_of(point.at), point)).collect();
    points.sort_by_key(|(minute, _)| *minute);
    points.dedup_by_key(|(minute, _)| *minute);
    let leg = |(start, from): (i64, &TrackPoint), (end, to): (i64, &TrackPoint)| Leg {
        start,
        minutes: end - start,
        arc: Arc::new(Point::new(from.latitude, from.longitude), Point::new(to.latitude, to.longitude)),
        fields: THRESHOLDS_KT.map(|threshold| {
            Some(Field { from: quadrants(from, threshold)?, to: quadrants(to, threshold)? })
                .filter(|field| field.widest(0.0) > 0.0 || field.widest(1.0) > 0.0)
                .filter(|_| end - start <= LONGEST_LEG_MINUTES)
        }),
    };
    match points.as_slice() {
        [only] => vec![leg(*only, *only)],
        _ => points.windows(2).map(|pair| leg(pair[0], pair[1])).collect(),
    }
}

/// The radii of one speed at a point, zero where there is no such wind, `None` where the point does not say.
fn quadrants(point: &TrackPoint, threshold_kt: u16) -> Option<[f64; 4]> {
    match point.radii.iter().find(|radii| radii.threshold_kt == threshold_kt) {
        Some(radii) => Some(radii.quadrants_nm),
        None => point.max_wind_kt.filter(|wind| *wind < f64::from(threshold_kt)).map(|_| [0.0; 4]),
    }
}

fn exposure(legs: &[Leg], port: usize, site: Point) -> Option<Exposure> {
    let mut closest: Option<(f64, f64)> = None;
    for leg in legs {
        let fraction = leg.arc.closest(site);
        let distance = distance_nm(leg.arc.at(fraction), site);
        if closest.is_none_or(|(best, _)| distance < best) {
            closest = Some((distance, leg.start as f64 + fraction * leg.minutes as f64));
        }
    }
    let (distance, minute) = closest?;
    if distance.is_nan() || distance > REACH_NM {
        return None;
    }
    let reached_at = [0, 1, 2].map(|field| legs.iter().find_map(|leg| first_inside(leg, field, site)));
    Some(Exposure {
        port,
        distance_nm: distance,
        closest_at: timestamp(minute.round() as i64)?,
        reached_at: reached_at.map(|minute| minute.and_then(timestamp)),
    })
}

/// The first minute of the leg at which the site is inside a field.
fn first_inside(leg: &Leg, field: usize, site: Point) -> Option<i64> {
    let field = leg.fields[field].as_ref()?;
    let span = leg.minutes.max(1) as f64;
    let closing = (leg.arc.length_nm() + field.largest_growth()) / span;
    let mut minute = 0;
    while minute <= leg.minutes {
        let fraction = minute as f64 / span;
        let centre = leg.arc.at(fraction);
        let distance = distance_nm(centre, site);
        let gap = distance - field.widest(fraction);
        let radius = field.quadrant(quadrant(centre, site), fraction);
        if radius > 0.0 && distance <= radius {
            return Some(leg.start + minute);
        }
        // The floor may reach the first minute that counts, never pass it; the small number covers rounding.
        let safe = if closing > 0.0 { ((gap - 1e-6) / closing).floor() } else { f64::from(u32::MAX) };
        minute += if gap > 0.0 { (safe as i64).max(1) } else { 1 };
    }
    None
}

fn quadrant(centre: Point, site: Point) -> usize {
    ((bearing(centre, site) / 90.0) as usize).min(3)
}

fn minute_of(at: Timestamp) -> i64 {
    (at.as_second() + 30).div_euclid(60)
}

fn timestamp(minute: i64) -> Option<Timestamp> {
    Timestamp::from_second(minute.checked_mul(60)?).ok()
}

#[cfg(test)]
mod tests;
