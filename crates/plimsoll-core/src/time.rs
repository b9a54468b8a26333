//! Formats and parses times.

use crate::Millis;

const DAY: Millis = 24 * 3600 * 1000;

/// Formats the day of a time in UTC: `2026-11-15`.
pub fn day(moment: Millis) -> String {
    let (year, month, day) = date(moment.div_euclid(DAY));
    format!("{year:04}-{month:02}-{day:02}")
}

/// Formats a time in UTC: `2026-11-15T05:58:14.946Z`.
pub fn utc(moment: Millis) -> String {
    let of_day = moment.rem_euclid(DAY);
    let (seconds, millis) = (of_day / 1000, of_day % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let day = day(moment);
    format!("{day}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// Formats a time in UTC to the second: `2026-11-15T05:58:14Z`.
pub fn utc_second(moment: Millis) -> String {
    let mut text = utc(moment);
    text.truncate(text.len() - ".946Z".len());
    text + "Z"
}

/// A time in a local time zone, with the offset from UTC that applies then and there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WallTime {
    moment: Millis,
    offset_seconds: i32,
}

impl WallTime {
    /// Converts a time to a zone that is `offset_seconds` ahead of UTC.
    pub fn new(moment: Millis, offset_seconds: i32) -> Self {
        Self { moment, offset_seconds }
    }

    /// Formats the day: `2026-11-15`.
    pub fn day(self) -> String {
        day(self.shifted())
    }

    /// Formats the time of day: `14:02`.
    pub fn clock(self) -> String {
        utc(self.shifted())[11..16].to_owned()
    }

    /// Formats the time of day to the millisecond: `14:02:05.946`.
    pub fn exact_clock(self) -> String {
        utc(self.shifted())[11..23].to_owned()
    }

    /// Formats the time of day. Adds the day if it is not the day of `now`: `2026-11-15 14:02`.
    pub fn seen_from(self, now: Self) -> String {
        match self.day() == now.day() {
            true => self.clock(),
            false => format!("{} {}", self.day(), self.clock()),
        }
    }

    /// Formats the offset from UTC: `UTC`, `+02:00`, `-05:00`.
    pub fn zone(self) -> String {
        let minutes = self.offset_seconds.unsigned_abs() / 60;
        match self.offset_seconds {
            0 => "UTC".to_owned(),
            offset => {
                let sign = if offset < 0 { '-' } else { '+' };
                format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
        }
    }

    fn shifted(self) -> Millis {
        self.moment.saturating_add(Millis::from(self.offset_seconds) * 1000)
    }
}

/// Parses a time in UTC, such as `2026-11-15T05:58:14.946Z`.
pub fn moment(time: impl AsRef<[u8]>) -> Option<Millis> {
    let bytes = time.as_ref();
    let [_, _, _, _, b'-', _, _, b'-', _, _, b'T', _, _, b':', _, _, b':', _, _, .., b'Z'] = bytes
    else {
        return None;
    };
    let digit = |number: Millis, byte: &u8| {
        byte.is_ascii_digit().then(|| number * 10 + Millis::from(byte - b'0'))
    };
    let number = |from: usize, to: usize| bytes[from..to].iter().try_fold(0, digit);
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let fraction = if bytes.len() >= 24 { number(20, 23)? } else { 0 };
    // Reject numbers that are not a valid date or time of day.
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
    (is_date && hour < 24 && minute < 60 && second < 60).then_some(())?;
    let days = days_since_epoch(year, month, day);
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + fraction)
}

/// Returns the days from 1970-01-01 to a date of the Gregorian calendar. Counts years from March.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

/// Converts days since 1970-01-01 to year, month and day. Counts years from March, so that the leap
/// day is the last day of its year.
fn date(days: i64) -> (i64, i64, i64) {
    const FOUR_CENTURIES: i64 = 146_097;
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(FOUR_CENTURIES), days.rem_euclid(FOUR_CENTURIES));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let year = year + 400 * era;
    if month < 10 { (year, month + 3, day) } else { (year + 1, month - 9, day) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_in_utc() {
        for (moment, written) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
            (1_794_722_294_946, "2026-11-15T05:58:14.946Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(utc(moment), written);
            assert_eq!(day(moment), written[..10]);
            assert_eq!(utc_second(moment), format!("{}Z", &written[..19]));
        }
    }

    #[test]
    fn a_clock_on_the_wall_shows_the_day_only_where_it_is_another() {
        let moment = 1_794_722_294_946; // 2026-11-15T05:58:14.946Z
        let new_york = |moment| WallTime::new(moment, -5 * 3600);
        assert_eq!(new_york(moment).clock(), "00:58");
        assert_eq!(new_york(moment).exact_clock(), "00:58:14.946");
        let (hour, day) = (3_600_000, 24 * 3_600_000);
        assert_eq!(new_york(moment).seen_from(new_york(moment + hour)), "00:58");
        let evening = new_york(moment - hour).seen_from(new_york(moment));
        assert_eq!(evening, "2026-11-14 23:58", "the same day in UTC, another one there");
        assert_eq!(new_york(moment).seen_from(new_york(moment + day)), "2026-11-15 00:58");
        assert_eq!(new_york(moment).zone(), "-05:00");
        let kathmandu = WallTime::new(moment, 5 * 3600 + 45 * 60);
        assert_eq!((kathmandu.clock(), kathmandu.zone()), ("11:43".into(), "+05:45".into()));
        assert_eq!(WallTime::new(moment, 0).zone(), "UTC");
    }

    #[test]
    fn times_are_milliseconds_since_the_epoch() {
        assert_eq!(moment("1970-01-01T00:00:00.000Z"), Some(0));
        assert_eq!(moment("2026-11-15T05:58:14.946Z"), Some(1_794_722_294_946));
        assert_eq!(moment("2024-02-29T12:00:00Z"), Some(1_709_208_000_000));
        for bad in ["", "2026-11-15", "2026-11-15T05:58:14.946+01:00", "20é6-11-15T05:58:14.94Z"] {
            assert_eq!(moment(bad), None, "{bad}");
        }
        for bad in ["00000000000000000105-11-15T05:58:14.946Z", "0000-00-15T05:58:14.946Z"] {
            assert_eq!(moment(bad), None, "{bad}");
        }
        assert_eq!(moment("9999-12-31T23:59:60.000Z"), None);
    }
}
