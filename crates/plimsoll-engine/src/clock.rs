//! Formats times in the user's time zone. Stored data, JSON and file names are in UTC.

use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;
use std::{env, fs};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use plimsoll_core::Millis;
use plimsoll_core::time::WallTime;

use crate::world::now;

/// Formats a time for people: `14:02`, or `2026-11-15 14:02` if it is on another day.
pub fn shown(moment: Millis) -> String {
    wall_time(moment).seen_from(wall_time(now() as Millis))
}

/// Like [`shown`], with the zone, for text that may be read elsewhere: `14:02 -05:00`.
pub fn shown_with_zone(moment: Millis) -> String {
    format!("{} {}", shown(moment), wall_time(moment).zone())
}

/// Formats date, time and zone: `2026-11-15 14:02:05.946 -05:00`.
pub fn exact(moment: Millis) -> String {
    let time = wall_time(moment);
    format!("{} {} {}", time.day(), time.exact_clock(), time.zone())
}

/// Formats the date: `2026-11-15`.
pub fn day(moment: Millis) -> String {
    wall_time(moment).day()
}

/// Returns the current offset of the user's time zone: `-05:00`.
pub fn zone() -> String {
    wall_time(now() as Millis).zone()
}

/// Converts a time to the user's time zone.
pub fn wall_time(moment: Millis) -> WallTime {
    let timestamp = Timestamp::from_millisecond(moment).unwrap_or_default();
    WallTime::new(moment, time_zone().to_offset(timestamp).seconds())
}

/// Returns the user's time zone, read on first use.
fn time_zone() -> &'static TimeZone {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    ZONE.get_or_init(|| {
        let zone = match env::var("TZ") {
            Ok(name) => named(&name),
            Err(_) => read(Path::new("/etc/localtime")),
        };
        zone.unwrap_or(TimeZone::UTC)
    })
}

/// Returns the zone that the variable `TZ` names: a file of the system's time zone database, or a
/// rule such as `EST5EDT`. An empty name is UTC.
fn named(name: &str) -> Option<TimeZone> {
    let name = name.strip_prefix(':').unwrap_or(name);
    let folder = env::var_os("TZDIR").map_or_else(|| "/usr/share/zoneinfo".into(), PathBuf::from);
    let is_plain = !Path::new(name).components().any(|part| part == Component::ParentDir);
    let file = (is_plain && !name.is_empty()).then(|| folder.join(name));
    file.and_then(|file| read(&file)).or_else(|| TimeZone::posix(name).ok())
}

fn read(file: &Path) -> Option<TimeZone> {
    // The name is not shown, only the offset.
    TimeZone::tzif("local", &fs::read(file).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offset(zone: &str, moment: Millis) -> Option<i32> {
        let timestamp = Timestamp::from_millisecond(moment).unwrap();
        named(zone).map(|zone| zone.to_offset(timestamp).seconds())
    }

    const WINTER: Millis = 1_794_722_294_946; // 2026-11-15
    const SUMMER: Millis = WINTER - 120 * 24 * 3_600_000;

    #[test]
    fn a_zone_is_found_by_its_name_and_by_its_rule() {
        for zone in ["America/New_York", ":America/New_York", "EST5EDT,M3.2.0,M11.1.0"] {
            assert_eq!(offset(zone, WINTER), Some(-5 * 3600), "{zone}");
            assert_eq!(offset(zone, SUMMER), Some(-4 * 3600), "{zone}");
        }
        assert_eq!(offset("Asia/Kathmandu", WINTER), Some(5 * 3600 + 45 * 60));
        assert_eq!(offset("UTC", WINTER), Some(0));
    }

    #[test]
    fn a_name_that_makes_no_sense_is_no_zone() {
        for zone in ["", "Mars/Olympus", "../../../etc/passwd", "/etc/passwd"] {
            assert_eq!(offset(zone, WINTER), None, "{zone}");
        }
    }
}
