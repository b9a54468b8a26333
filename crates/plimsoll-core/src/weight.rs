//! What text weighs: tokens estimated from classes of characters.
//!
//! No tokenizer of the agents' models is public, so what was appended since the last counted
//! response is estimated: one pass over the bytes counts letter runs, letters, digits, punctuation,
//! newlines and bytes past ASCII, and each class has a rate per tokenizer. Amounts are kept in
//! thousandths of a token so that any order of adding gives the same sum.

use crate::Tokens;

/// A thousandth of a token.
pub type MilliTokens = u64;

/// How many characters of each class a text has. Blanks are free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// Runs of letters.
    pub runs: u64,
    /// ASCII letters.
    pub letters: u64,
    /// ASCII digits.
    pub digits: u64,
    /// Everything else that is ASCII and not blank.
    pub punctuation: u64,
    /// Newlines.
    pub newlines: u64,
    /// Bytes of characters past ASCII.
    pub high: u64,
}

/// The class of a byte, as an index into a table of six.
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

/// Counts the classes of a text given in pieces: a run of letters may go on over a seam.
#[derive(Default)]
pub struct ClassCounter {
    counts: [u64; 6],
    runs: u64,
    in_run: bool,
}

impl ClassCounter {
    /// Counts the bytes of `text`.
    pub fn add(&mut self, text: &[u8]) {
        for &byte in text {
            let class = CLASS_OF[usize::from(byte)];
            let letter = class == Class::Letter;
            self.runs += u64::from(letter && !self.in_run);
            self.in_run = letter;
            self.counts[class as usize] += 1;
        }
    }

    /// What was counted.
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

/// What one entry adds to the window, before any rate is applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    /// Text that tools gave back.
    pub tool_text: Classes,
    /// Text of prompts, summaries and attachments.
    pub said_text: Classes,
    /// Text and tool calls of the model.
    pub model_text: Classes,
    /// Characters of the model's thinking.
    pub thinking_chars: u64,
    /// Tool result blocks.
    pub tool_results: u64,
    /// Attachments the model sees.
    pub attachments: u64,
    /// Tokens of images: they follow from the pictures' sizes, not from a tokenizer.
    pub image_tokens: Tokens,
    /// Base64 characters of inline documents.
    pub document_chars: u64,
    /// The tool searched for other tools: their descriptions come along.
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

/// Rates of one tokenizer, in thousandths of a token, fitted on real sessions (docs/accuracy.md).
#[derive(Debug, PartialEq, Eq)]
pub struct Tokenizer {
    /// Per letter run, letter, digit, punctuation mark, newline and byte past ASCII.
    classes: [MilliTokens; 6],
    /// Text of people and attachments, in thousandths of the same text from a tool.
    said_scale: u64,
    /// Text of the model, likewise.
    model_scale: u64,
    /// Per character of thinking.
    thinking_char: MilliTokens,
    /// Per attachment.
    attachment: MilliTokens,
    /// Framing when the answer's tokens were counted by the service …
    counted: Framing,
    /// … and when they are estimated, so that the frames of its tool calls are missing too.
    uncounted: Framing,
}

#[derive(Debug, PartialEq, Eq)]
struct Framing {
    tool_result: MilliTokens,
    call: MilliTokens,
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

/// Tool descriptions that a tool search brings into the window.
const LOADED_TOOLS: MilliTokens = 1_500_000;
/// Thousandths of a token per base64 character of a document.
const DOCUMENT_CHAR: MilliTokens = 64;

impl Tokenizer {
    /// What was added after a response, its own answer aside.
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

    /// What the model's own words weigh, where the service's count is missing.
    pub fn answer(&self, weight: &Weight) -> MilliTokens {
        self.text(&weight.model_text) * self.model_scale / 1000
            + weight.thinking_chars * self.thinking_char
    }

    /// What each call costs on top of its contents.
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

/// Whether the service counted the answer's tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It did, and the figure is final.
    Counted,
    /// The figure on disk is a running count from the middle of the stream.
    Uncounted,
}

/// An upper bound of what a call and `bytes` of transcript after it can add to the window.
///
/// No class of characters costs two tokens a byte, no image more than that of its block, and an
/// entry's JSON is longer than its frame in tokens; only the call's own frame and a tool search
/// bring in what is written nowhere.
pub fn at_most(bytes: u64) -> Tokens {
    LARGEST_CALL + if bytes == 0 { 0 } else { 2 * bytes + 2 * LOADED_TOOLS / 1000 }
}

/// No tokenizer's frame of a call is larger.
const LARGEST_CALL: Tokens = 32;
const _: () = assert!(
    CLASSIC.uncounted.call <= LARGEST_CALL * 1000 && CURRENT.uncounted.call <= LARGEST_CALL * 1000
);

/// Tokens of an image of this size: the service scales the long side down to 1,568 pixels.
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

/// Tokens of an image whose size cannot be read.
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
