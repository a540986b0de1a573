//! Great circles on a sphere whose arc minute is close to a nautical mile.
//!
//! Points are unit vectors inside: the closest point of an arc, a bearing and a point between two others are then a few
//! products each, with no special case at the date line or the poles.

/// Mean radius of the earth in nautical miles.
const RADIUS_NM: f64 = 3440.0695;

/// A point on the globe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    x: f64,
    y: f64,
    z: f64,
}

impl Point {
    /// The point at a latitude and a longitude in degrees, north and east positive.
    pub fn new(latitude: f64, longitude: f64) -> Self {
        let (lat, lon) = (latitude.to_radians(), longitude.to_radians());
        Self { x: lat.cos() * lon.cos(), y: lat.cos() * lon.sin(), z: lat.sin() }
    }

    /// Latitude and longitude in degrees.
    pub fn degrees(self) -> (f64, f64) {
        (self.z.atan2(self.x.hypot(self.y)).to_degrees(), self.y.atan2(self.x).to_degrees())
    }

    fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    fn cross(self, other: Self) -> Self {
        Self {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }

    fn length(self) -> f64 {
        self.dot(self).sqrt()
    }

    fn scaled(self, factor: f64) -> Self {
        Self { x: self.x * factor, y: self.y * factor, z: self.z * factor }
    }

    fn plus(self, other: Self) -> Self {
        Self { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
    }

    fn angle(self, other: Self) -> f64 {
        self.cross(other).length().atan2(self.dot(other))
    }
}

/// The distance between two points in nautical miles.
pub fn distance_nm(from: Point, to: Point) -> f64 {
    from.angle(to) * RADIUS_NM
}

/// The initial bearing from one point to another in degrees from north, in [0, 360). Between equal points it is 0.
pub fn bearing(from: Point, to: Point) -> f64 {
    let east = Point { x: -from.y, y: from.x, z: 0.0 };
    // `east` has the length of the cosine of the latitude; so has `north`, and the quotient is what counts.
    let north = from.cross(east);
    let degrees = to.dot(east).atan2(to.dot(north)).to_degrees();
    let turned = if degrees < 0.0 { degrees + 360.0 } else { degrees };
    if turned >= 360.0 { 0.0 } else { turned }
}

/// The shorter great-circle arc between two points.
#[derive(Clone, Copy, Debug)]
pub struct Arc {
    from: Point,
    to: Point,
    angle: f64,
    /// A quarter turn from `from` along the arc; `None` where the ends are the same point or opposite each other.
    ahead: Option<Point>,
}

impl Arc {
    /// The arc between two points.
    pub fn new(from: Point, to: Point) -> Self {
        let normal = from.cross(to);
        let length = normal.length();
        let ahead = (length > 1e-12).then(|| normal.scaled(1.0 / length).cross(from));
        Self { from, to, angle: from.angle(to), ahead }
    }

    /// Its length in nautical miles.
    pub fn length_nm(&self) -> f64 {
        self.angle * RADIUS_NM
    }

    /// The point at a fraction of the way; 0 is the first end, 1 the second.
    pub fn at(&self, fraction: f64) -> Point {
        match self.ahead {
            Some(ahead) => {
                let (sin, cos) = (self.angle * fraction).sin_cos();
                self.from.scaled(cos).plus(ahead.scaled(sin))
            }
            None if fraction < 0.5 => self.from,
            None => self.to,
        }
    }

    /// The fraction of the way at which the arc is closest to a point, in [0, 1]; of two such fractions the smaller.
    pub fn closest(&self, point: Point) -> f64 {
        let Some(ahead) = self.ahead else { return 0.0 };
        let along = point.dot(ahead).atan2(point.dot(self.from));
        if (0.0..=self.angle).contains(&along) {
            return along / self.angle;
        }
        if point.dot(self.from) >= point.dot(self.to) { 0.0 } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Arc, Point, bearing, distance_nm};

    #[test]
    fn a_degree_is_sixty_miles_and_the_date_line_is_no_wall() {
        let one = distance_nm(Point::new(0.0, 10.0), Point::new(0.0, 11.0));
        assert!((one - 60.04).abs() < 0.01, "{one}");
        let across = distance_nm(Point::new(0.0, 179.5), Point::new(0.0, -179.5));
        assert!((across - one).abs() < 1e-6);
    }

    #[test]
    fn bearings_turn_clockwise_from_north() {
        let centre = Point::new(25.0, -90.0);
        for (latitude, longitude, expected) in [(26.0, -90.0, 0.0), (24.0, -90.0, 180.0)] {
            assert!((bearing(centre, Point::new(latitude, longitude)) - expected).abs() < 1e-6);
        }
        assert!((bearing(Point::new(0.0, 0.0), Point::new(0.0, 1.0)) - 90.0).abs() < 1e-9);
        assert!((bearing(Point::new(0.0, 0.0), Point::new(0.0, -1.0)) - 270.0).abs() < 1e-9);
        assert_eq!(bearing(centre, centre), 0.0);
    }

    #[test]
    fn the_middle_of_an_equator_arc_is_on_the_equator() {
        let arc = Arc::new(Point::new(0.0, 0.0), Point::new(0.0, 10.0));
        let (latitude, longitude) = arc.at(0.3).degrees();
        assert!(latitude.abs() < 1e-9 && (longitude - 3.0).abs() < 1e-9);
        assert!((arc.closest(Point::new(2.0, 7.0)) - 0.7).abs() < 1e-9);
        assert_eq!(arc.closest(Point::new(1.0, -5.0)), 0.0);
        assert_eq!(arc.closest(Point::new(1.0, 15.0)), 1.0);
    }

    proptest! {
        #[test]
        fn no_point_of_the_arc_is_closer_than_the_closest(
            a in (-60.0..60.0f64, -180.0..180.0f64), d in (-9.0..9.0f64, -9.0..9.0f64), p in (-9.0..9.0f64, -9.0..9.0f64),
            fraction in 0.0..=1.0f64,
        ) {
            let arc = Arc::new(Point::new(a.0, a.1), Point::new(a.0 + d.0, a.1 + d.1));
            let port = Point::new(a.0 + p.0, a.1 + p.1);
            let best = distance_nm(arc.at(arc.closest(port)), port);
            prop_assert!(best <= distance_nm(arc.at(fraction), port) + 1e-6);
        }
    }
}
