//! Moments, as people read them.

use crate::Millis;

const DAY: Millis = 24 * 3600 * 1000;

/// The day of a moment in UTC: `2026-11-15`.
pub fn day(moment: Millis) -> String {
    let (year, month, day) = date(moment.div_euclid(DAY));
    format!("{year:04}-{month:02}-{day:02}")
}

/// A moment in UTC: `2026-11-15T05:58:14.946Z`.
pub fn utc(moment: Millis) -> String {
    let of_day = moment.rem_euclid(DAY);
    let (seconds, millis) = (of_day / 1000, of_day % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let day = day(moment);
    format!("{day}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// A moment in UTC, to the second: `2026-11-15T05:58:14Z`.
pub fn utc_second(moment: Millis) -> String {
    let mut text = utc(moment);
    text.truncate(text.len() - ".946Z".len());
    text + "Z"
}

/// Milliseconds since the epoch of a moment in UTC, such as `2026-11-15T05:58:14.946Z`.
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
    // Other numbers would be moments that nobody can write so.
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
    (is_date && hour < 24 && minute < 60 && second < 60).then_some(())?;
    let days = days_since_epoch(year, month, day);
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + fraction)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar, the year taken to begin in March.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

/// Year, month and day of the Gregorian calendar, by days since 1970-01-01. Reckoned in years that
/// begin in March: the leap day is the last of its year then.
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
