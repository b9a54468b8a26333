//! Estimates tokens from classes of characters.
//!
//! The tokenizers of the models are not public. So text appended since the last counted response is
//! estimated: one pass over the bytes counts letter runs, letters, digits, punctuation, newlines
//! and bytes past ASCII, and each class has a rate per tokenizer. Amounts are in thousandths of a
//! token, so the order of additions does not change the sum.

use crate::Tokens;

pub type MilliTokens = u64;

/// The number of characters of each class in a text. Blanks cost nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// Runs of letters.
    pub runs: u64,
    pub letters: u64,
    pub digits: u64,
    /// All other ASCII characters that are not blank.
    pub punctuation: u64,
    pub newlines: u64,
    /// Bytes of characters past ASCII.
    pub high: u64,
}

/// The class of a byte, used as an index into a table of six.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    Punctuation,
    Newline,
    High,
    Blank,
}

const CLASS_OF: [Class; 256] = {
    let mut table = [Class::Punctuation; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            b'\n' => Class::Newline,
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => Class::Blank,
            0x80.. => Class::High,
            _ => Class::Punctuation,
        };
        byte += 1;
    }
    table
};

/// Counts the classes of a text in pieces. A run of letters may continue in the next piece.
#[derive(Default)]
pub struct ClassCounter {
    counts: [u64; 6],
    runs: u64,
    in_run: bool,
}

impl ClassCounter {
    pub fn add(&mut self, text: &[u8]) {
        for &byte in text {
            let class = CLASS_OF[usize::from(byte)];
            let letter = class == Class::Letter;
            self.runs += u64::from(letter && !self.in_run);
            self.in_run = letter;
            self.counts[class as usize] += 1;
        }
    }

    pub fn classes(&self) -> Classes {
        Classes {
            runs: self.runs,
            letters: self.counts[Class::Letter as usize],
            digits: self.counts[Class::Digit as usize],
            punctuation: self.counts[Class::Punctuation as usize],
            newlines: self.counts[Class::Newline as usize],
            high: self.counts[Class::High as usize],
        }
    }
}

impl std::ops::AddAssign for Classes {
    fn add_assign(&mut self, other: Self) {
        self.runs += other.runs;
        self.letters += other.letters;
        self.digits += other.digits;
        self.punctuation += other.punctuation;
        self.newlines += other.newlines;
        self.high += other.high;
    }
}

/// The content that an entry adds to the window, before any rate is applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    /// Text of tool results.
    pub tool_text: Classes,
    /// Text of prompts, summaries and attachments.
    pub said_text: Classes,
    /// Text and tool calls of the model.
    pub model_text: Classes,
    /// Characters of the model's thinking.
    pub thinking_chars: u64,
    pub tool_results: u64,
    /// Attachments that the model sees.
    pub attachments: u64,
    /// Tokens of images, computed from their sizes without a tokenizer.
    pub image_tokens: Tokens,
    /// Base64 characters of inline documents.
    pub document_chars: u64,
    /// The tool searched for other tools, so the client adds their descriptions.
    pub loads_tools: bool,
}

impl std::ops::AddAssign for Weight {
    fn add_assign(&mut self, other: Self) {
        self.tool_text += other.tool_text;
        self.said_text += other.said_text;
        self.model_text += other.model_text;
        self.thinking_chars += other.thinking_chars;
        self.tool_results += other.tool_results;
        self.attachments += other.attachments;
        self.image_tokens += other.image_tokens;
        self.document_chars += other.document_chars;
        self.loads_tools |= other.loads_tools;
    }
}

/// The rates of one tokenizer in thousandths of a token, fitted on real sessions
/// (docs/accuracy.md).
#[derive(Debug, PartialEq, Eq)]
pub struct Tokenizer {
    /// Per letter run, letter, digit, punctuation mark, newline and byte past ASCII.
    pub classes: [MilliTokens; 6],
    /// Cost of text of people and attachments, in thousandths of the cost of tool text.
    pub said_scale: u64,
    /// Cost of text of the model, in thousandths of the cost of tool text.
    pub model_scale: u64,
    pub thinking_char: MilliTokens,
    pub attachment: MilliTokens,
    /// Framing if the service counted the answer's tokens.
    pub counted: Framing,
    /// Framing if the answer is estimated, so that it must include the framing of its tool calls.
    pub uncounted: Framing,
}

/// Tokens that the service adds around contents.
#[derive(Debug, PartialEq, Eq)]
pub struct Framing {
    pub tool_result: MilliTokens,
    /// Per call of the model.
    pub call: MilliTokens,
}

/// The tokenizer of the models up to the 4.6 generation.
pub const CLASSIC: Tokenizer = Tokenizer {
    classes: [311, 211, 665, 765, 2189, 186],
    said_scale: 898,
    model_scale: 898,
    thinking_char: 287,
    attachment: 2_000,
    counted: Framing { tool_result: 6_000, call: 3_000 },
    uncounted: Framing { tool_result: 61_000, call: 29_000 },
};

/// The tokenizer from the 4.7 generation on.
pub const CURRENT: Tokenizer = Tokenizer {
    classes: [180, 337, 669, 1040, 1281, 257],
    said_scale: 992,
    model_scale: 1000,
    thinking_char: 360,
    attachment: 17_000,
    counted: Framing { tool_result: 6_000, call: 3_000 },
    uncounted: Framing { tool_result: 55_000, call: 20_000 },
};

/// The tool descriptions that a tool search adds to the window.
const LOADED_TOOLS: MilliTokens = 1_500_000;
/// Per base64 character of a document.
const DOCUMENT_CHAR: MilliTokens = 64;

impl Tokenizer {
    /// Returns whether [`at_most`] is an upper bound for this tokenizer. A newline is two bytes of
    /// JSON.
    pub const fn is_bounded(&self) -> bool {
        let [run, letter, digit, punctuation, newline, high] = self.classes;
        run + letter <= 2_000
            && digit <= 2_000
            && punctuation <= 2_000
            && newline <= 4_000
            && high <= 2_000
            && self.said_scale <= 1_000
            && self.model_scale <= 1_000
            && self.thinking_char <= 2_000
            && self.uncounted.call <= LARGEST_CALL * 1_000
    }

    /// Returns the cost of everything added after a response, without the answer itself.
    pub fn added(&self, weight: &Weight, answer: Answer) -> MilliTokens {
        let framing = self.framing(answer);
        self.text(&weight.tool_text)
            + self.text(&weight.said_text) * self.said_scale / 1000
            + weight.tool_results * framing.tool_result
            + weight.attachments * self.attachment
            + weight.image_tokens * 1000
            + weight.document_chars * DOCUMENT_CHAR
            + u64::from(weight.loads_tools) * LOADED_TOOLS
    }

    /// Returns the estimated cost of the model's answer, for answers that the service has not
    /// counted.
    pub fn answer(&self, weight: &Weight) -> MilliTokens {
        self.text(&weight.model_text) * self.model_scale / 1000
            + weight.thinking_chars * self.thinking_char
    }

    /// Returns the cost of a call in addition to its contents.
    pub fn call(&self, answer: Answer) -> MilliTokens {
        self.framing(answer).call
    }

    fn framing(&self, answer: Answer) -> &Framing {
        match answer {
            Answer::Counted => &self.counted,
            Answer::Uncounted => &self.uncounted,
        }
    }

    fn text(&self, text: &Classes) -> MilliTokens {
        let [run, letter, digit, punctuation, newline, high] = self.classes;
        text.runs * run
            + text.letters * letter
            + text.digits * digit
            + text.punctuation * punctuation
            + text.newlines * newline
            + text.high * high
    }
}

/// Says whether the service counted the answer's tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The count is final.
    Counted,
    /// The count on disk was written while the answer was streamed.
    Uncounted,
}

/// Returns an upper bound of the tokens that a call and `bytes` of transcript after it can add.
///
/// No class of characters costs more than two tokens per byte, no image costs more than that for
/// the bytes of its block, and an entry's JSON is longer than its framing. Only the call's own
/// framing and the tools that a tool search loads are not in the transcript.
pub fn at_most(bytes: u64) -> Tokens {
    LARGEST_CALL + if bytes == 0 { 0 } else { 2 * bytes + 2 * LOADED_TOOLS / 1000 }
}

/// The largest framing of a call of any tokenizer.
const LARGEST_CALL: Tokens = 32;
const _: () = assert!(CLASSIC.is_bounded() && CURRENT.is_bounded());

/// Returns the tokens of an image of this size. The service scales the long side down to 1,568
/// pixels.
pub fn image_tokens(width: u64, height: u64) -> Tokens {
    const LONG_SIDE: u64 = 1568;
    const MOST: u64 = 1600;
    let long = width.max(height);
    let pixels = width.saturating_mul(height);
    let tokens = if long > LONG_SIDE {
        (u128::from(pixels) * u128::from(LONG_SIDE * LONG_SIDE)
            / (u128::from(long) * u128::from(long))
            / 750) as u64
    } else {
        pixels / 750
    };
    tokens.min(MOST)
}

/// Tokens assumed for an image of unknown size.
pub const IMAGE_TOKENS: Tokens = 1500;

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(pieces: &[&str]) -> Classes {
        let mut counter = ClassCounter::default();
        pieces.iter().for_each(|piece| counter.add(piece.as_bytes()));
        counter.classes()
    }

    #[test]
    fn a_text_is_counted_by_class() {
        let expected =
            Classes { runs: 3, letters: 8, digits: 2, punctuation: 3, newlines: 1, high: 2 };
        assert_eq!(classes(&["let x2 = 1;\n(größ"]).high, 4);
        assert_eq!(classes(&["fn abc(x) 12;\nrsé"]), Classes { runs: 4, ..expected });
    }

    #[test]
    fn a_run_of_letters_goes_on_over_a_seam() {
        assert_eq!(classes(&["hel", "lo wor", "ld"]), classes(&["hello world"]));
    }

    #[test]
    fn large_images_are_scaled_and_capped() {
        assert_eq!(image_tokens(300, 250), 100);
        assert_eq!(image_tokens(3136, 1000), 1045);
        assert_eq!(image_tokens(10_000, 10_000), 1600);
        assert_eq!(image_tokens(u64::MAX, 2), 0);
    }
}
