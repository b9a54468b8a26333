//! Figures in sentences.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_easy_to_read() {
        let read = [0, 999, 1000, 167_000, 1_000_000].map(thousands);
        assert_eq!(read, ["0", "999", "1,000", "167,000", "1,000,000"]);
    }
}
