//! Cases worked out by hand, and a search through every minute.

use jiff::Timestamp;
use proptest::prelude::*;

use super::{Exposure, PortSite, REACH_NM, THRESHOLDS_KT, TrackPoint, WindRadii, exposures, quadrant, quadrants};
use crate::kernel::geodesy::{Arc, Point, distance_nm};

fn at(hour: i64) -> Timestamp {
    Timestamp::from_second(1_503_630_000 + hour * 3600).unwrap()
}

fn point(hour: i64, latitude: f64, longitude: f64, wind: f64, radii: &[(u16, [f64; 4])]) -> TrackPoint {
    let radii = radii.iter().map(|&(threshold_kt, quadrants_nm)| WindRadii { threshold_kt, quadrants_nm }).collect();
    TrackPoint { at: at(hour), latitude, longitude, max_wind_kt: Some(wind), radii }
}

fn port(latitude: f64, longitude: f64) -> PortSite {
    PortSite { key: "port:test".into(), name: "Test".into(), latitude, longitude }
}

#[test]
fn a_storm_running_east_along_the_equator_passes_a_port_at_the_right_minute() {
    // Ten degrees in ten hours, one degree (60.04 nm) an hour; the port lies one degree north of degree five.
    let track = [
        point(0, 0.0, 0.0, 50.0, &[(34, [120.0; 4]), (50, [30.0; 4])]),
        point(10, 0.0, 10.0, 50.0, &[(34, [120.0; 4]), (50, [30.0; 4])]),
    ];
    let found = exposures(&track, &[port(1.0, 5.0), port(30.0, 5.0)]);
    assert_eq!(found.len(), 1, "a port thirty degrees away is out of reach");
    assert_eq!(found[0].port, 0);
    assert!((found[0].distance_nm - 60.04).abs() < 0.01);
    assert_eq!(found[0].closest_at, at(5));
    // 120 nm away: cos(d) = cos(1 deg) cos(x), so x = 1.7293 degrees before degree five, that is 3.2707 h: 196.2 minutes.
    assert_eq!(found[0].reached_at[0], Some(at(0) + jiff::SignedDuration::from_mins(197)));
    assert_eq!(found[0].reached_at[1..], [None, None]);
}

#[test]
fn only_the_quadrant_of_the_port_counts() {
    let wide_south = [0.0, 200.0, 200.0, 0.0];
    let track = [point(0, 0.0, 0.0, 40.0, &[(34, wide_south)]), point(10, 0.0, 10.0, 40.0, &[(34, wide_south)])];
    let found = exposures(&track, &[port(1.0, 5.0), port(-1.0, 5.0)]);
    assert_eq!(found[0].reached_at[0], None);
    assert!(found[1].reached_at[0].is_some());
}

#[test]
fn a_speed_the_forecast_is_silent_about_is_unknown_and_one_above_the_wind_is_absent() {
    let silent = [point(0, 0.0, 0.0, 70.0, &[]), point(10, 0.0, 10.0, 70.0, &[])];
    assert_eq!(exposures(&silent, &[port(0.0, 5.0)])[0].reached_at, [None; 3]);
    // The field grows from nothing at the first point, which is below 34 kt, to 100 nm at the second.
    let growing = [point(0, 0.0, 0.0, 25.0, &[]), point(10, 0.0, 0.0, 45.0, &[(34, [100.0; 4])])];
    let found = exposures(&growing, &[port(0.0, 0.5)]);
    let minutes = (30.02 / 100.0 * 600.0_f64).ceil() as i64;
    assert_eq!(found[0].reached_at[0], Some(at(0) + jiff::SignedDuration::from_mins(minutes)));
}

#[test]
fn one_point_no_point_and_broken_numbers_are_no_trouble() {
    assert!(exposures(&[], &[port(0.0, 0.0)]).is_empty());
    let now = [point(0, 10.0, 20.0, 60.0, &[(34, [100.0; 4])])];
    let found = exposures(&now, &[port(10.5, 20.0)]);
    assert_eq!((found[0].closest_at, found[0].reached_at[0]), (at(0), Some(at(0))));
    assert!(exposures(&[point(0, f64::NAN, 0.0, 60.0, &[])], &[port(0.0, 0.0)]).is_empty());
}

/// What the module says, minute by minute.
fn dense(track: &[TrackPoint], site: &PortSite) -> Option<Exposure> {
    let here = Point::new(site.latitude, site.longitude);
    let mut best: Option<(f64, i64)> = None;
    let mut reached_at = [None; 3];
    for pair in track.windows(2) {
        let minutes = (pair[1].at.as_second() - pair[0].at.as_second()) / 60;
        let arc =
            Arc::new(Point::new(pair[0].latitude, pair[0].longitude), Point::new(pair[1].latitude, pair[1].longitude));
        for minute in 0..=minutes {
            let fraction = minute as f64 / minutes as f64;
            let centre = arc.at(fraction);
            let distance = distance_nm(centre, here);
            let second = pair[0].at.as_second() + minute * 60;
            if best.is_none_or(|(least, _)| distance < least) {
                best = Some((distance, second));
            }
            for (slot, threshold) in reached_at.iter_mut().zip(THRESHOLDS_KT) {
                let (Some(from), Some(to)) = (quadrants(&pair[0], threshold), quadrants(&pair[1], threshold)) else {
                    continue;
                };
                let side = quadrant(centre, here);
                let radius = from[side] + (to[side] - from[side]) * fraction;
                if slot.is_none() && radius > 0.0 && distance <= radius {
                    *slot = Some(Timestamp::from_second(second).unwrap());
                }
            }
        }
    }
    let (distance_nm, second) = best.filter(|(distance, _)| *distance <= REACH_NM)?;
    Some(Exposure { port: 0, distance_nm, closest_at: Timestamp::from_second(second).unwrap(), reached_at })
}

fn any_point() -> impl Strategy<Value = (f64, f64, f64, [f64; 4], [f64; 4])> {
    let radii = || prop::array::uniform4((0..30u8).prop_map(|tens| f64::from(tens) * 5.0));
    (-4.0..4.0f64, -4.0..4.0f64, (4..20u8).prop_map(|fives| f64::from(fives) * 5.0), radii(), radii())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn the_search_finds_what_a_walk_through_every_minute_finds(
        points in prop::collection::vec(any_point(), 2..6), site in (-3.0..3.0f64, -3.0..3.0f64), base in -50.0..50.0f64,
    ) {
        let track: Vec<TrackPoint> = points
            .iter()
            .enumerate()
            .map(|(index, (latitude, longitude, wind, gale, storm))| {
                let mut radii = Vec::new();
                if *wind >= 34.0 {
                    radii.push((34, *gale));
                }
                if *wind >= 50.0 && index % 3 != 2 {
                    radii.push((50, *storm));
                }
                point(index as i64 * 12, base + latitude, -80.0 + longitude, *wind, &radii)
            })
            .collect();
        let site = port(base + site.0, -80.0 + site.1);
        let found = exposures(&track, std::slice::from_ref(&site));
        let walked = dense(&track, &site);
        prop_assert_eq!(found.is_empty(), walked.is_none());
        if let (Some(found), Some(walked)) = (found.first(), walked) {
            prop_assert!(found.distance_nm <= walked.distance_nm + 1e-6);
            prop_assert!(walked.distance_nm - found.distance_nm < 1.0);
            prop_assert_eq!(found.reached_at, walked.reached_at);
        }
    }
}
