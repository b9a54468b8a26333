//! Figures and stretches of time in sentences.

/// A number with its thousands apart: `167,000`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A stretch of time, in its two largest units.
pub fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_easy_to_read() {
        let read = [0, 999, 1000, 167_000, 1_000_000].map(thousands);
        assert_eq!(read, ["0", "999", "1,000", "167,000", "1,000,000"]);
    }

    #[test]
    fn a_stretch_of_time_is_told_in_two_units() {
        let read = [59, 61, 3700, 90_000].map(duration);
        assert_eq!(read, ["59 s", "1 min", "1 h 1 min", "1 d 1 h"]);
    }
}
