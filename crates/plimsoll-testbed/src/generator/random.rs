//! Seeded random numbers, and the text pools that the generator cuts pieces from.

/// A small seeded random number generator (splitmix64).
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`, which must not be zero.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    pub(super) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low)
    }

    pub(super) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// Returns a lognormal number with this `median`, using a sum of twelve uniforms as the normal.
    pub(super) fn lognormal(&mut self, median: f64, sigma: f64) -> usize {
        let uniform = |random: &mut Self| (random.bits() >> 11) as f64 / (1u64 << 53) as f64;
        let normal = (0..12).map(|_| uniform(self)).sum::<f64>() - 6.0;
        (median * (normal * sigma).exp()) as usize
    }

    pub(super) fn hex(&mut self, prefix: &str, digits: usize) -> String {
        let mut id = prefix.to_owned();
        id.extend((0..digits).map(|_| char::from(b"0123456789abcdef"[self.below(16)])));
        id
    }

    pub(super) fn uuid(&mut self) -> String {
        let (a, b) = (self.bits(), self.bits());
        let (high, mid, low) = (a >> 32, (a >> 16) & 0xffff, a & 0xfff);
        let (variant, node) = (0x8000 | ((b >> 48) & 0x3fff), b & 0xffff_ffff_ffff);
        format!("{high:08x}-{mid:04x}-4{low:03x}-{variant:04x}-{node:012x}")
    }
}

/// Bytes in each text pool, and the maximum length of one piece of text.
pub(super) const POOL: usize = 256 * 1024;

const WORDS: &str = "the parser reads each record and keeps only what a caller asked for because \
    allocation dominates when lines are short we decided to store offsets instead of strings next \
    wire the retry path into the session store a broken hook never blocks an agent check that \
    compaction boundary again window occupancy → é “quoted” 窓 🪟";

/// Returns sentences with some letters outside ASCII.
pub(super) fn prose_pool(random: &mut SplitMix64) -> String {
    let words: Vec<_> = WORDS.split_whitespace().collect();
    let mut text = String::new();
    while text.len() < POOL {
        text += words[random.below(words.len())];
        text += [" ", " ", " ", " ", " ", " ", " ", " ", ". ", ".\n\n"][random.below(10)];
    }
    text
}

/// Returns lines that look like code and include characters that JSON must escape.
pub(super) fn code_pool(random: &mut SplitMix64) -> String {
    let names = ["session", "store", "usage", "window", "offset", "buffer", "cursor", "policy"];
    let mut text = String::new();
    while text.len() < POOL {
        let [a, b] = [0; 2].map(|_| names[random.below(names.len())]);
        let (indent, number) = ("    ".repeat(random.below(4)), random.below(4_096));
        text += &match random.below(6) {
            0 => format!("{indent}let {a}_{b} = self.{b}.get(\"{a}\")?;\n"),
            1 => format!("{indent}if {a}.len() > {number} {{\n"),
            2 => format!("{indent}}}\n\n"),
            3 => format!("fn {a}_{b}(&self, {b}: &str) -> Result<{number}, Error> {{\n"),
            4 => format!("{indent}assert_eq!({a}.{b}(), Some({number}));\t// {a}\n"),
            _ => format!("{indent}{a}.push(\"\\\\n{b}\\t\\\"\".to_string());\n"),
        };
    }
    text
}
