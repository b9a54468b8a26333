use super::*;

fn generate(options: &GeneratorOptions) -> (Vec<u8>, Truth) {
    let mut bytes = Vec::new();
    let truth = write(&mut bytes, options).unwrap();
    (bytes, truth)
}

fn tokens(usage: &Value, key: &str) -> u64 {
    usage[key].as_u64().unwrap()
}

/// Computes the truth by a full scan of the file, and checks that every complete line is JSON.
fn scan(bytes: &[u8], truth: &Truth) -> Truth {
    let mut seen = Truth { lines: 0, prompt_tokens: 0, compactions: 0, ..truth.clone() };
    for line in bytes.split_inclusive(|byte| *byte == b'\n').filter(|l| l.ends_with(b"\n")) {
        let record: Value = serde_json::from_slice(line).unwrap();
        let (message, usage) = (&record["message"], &record["message"]["usage"]);
        seen.lines += 1;
        seen.compactions += u64::from(record["subtype"] == "compact_boundary");
        if usage.is_object() && message["model"] == *truth.model && record["isSidechain"] == false {
            seen.prompt_tokens = tokens(usage, "input_tokens")
                + tokens(usage, "cache_read_input_tokens")
                + tokens(usage, "cache_creation_input_tokens");
            seen.output_tokens = tokens(usage, "output_tokens");
        }
    }
    seen.bytes = bytes.len() as u64;
    seen
}

#[track_caller]
fn check(options: &GeneratorOptions) -> Truth {
    let (bytes, truth) = generate(options);
    assert_eq!(generate(options).0, bytes, "the same options give the same bytes");
    assert_eq!(scan(&bytes, &truth), truth);
    if let Some(wanted) = options.prompt_tokens {
        assert_eq!(truth.prompt_tokens, wanted);
    }
    truth
}

#[test]
fn truth_matches_a_full_scan() {
    for layout in [Layout::Separate, Layout::Inline] {
        let truth =
            check(&GeneratorOptions { size: 6_000_000, layout, ..GeneratorOptions::default() });
        assert!(truth.compactions > 0);
        assert!((6_000_000..6_900_000).contains(&truth.bytes));
    }
}

#[test]
fn the_last_reading_has_the_requested_size() {
    for size in [100_000, 1_000_000, 5_000_000] {
        for prompt_tokens in [9_000, 94_000, 160_000].map(Some) {
            check(&GeneratorOptions { size, prompt_tokens, ..GeneratorOptions::default() });
        }
    }
}

#[test]
fn a_trap_ends_inside_a_sub_agent_with_a_torn_line() {
    for layout in [Layout::Separate, Layout::Inline] {
        let ending = Ending::Trap(300);
        let options = GeneratorOptions {
            layout,
            ending,
            prompt_tokens: Some(94_000),
            ..GeneratorOptions::default()
        };
        check(&options);
        let (bytes, truth) = generate(&options);
        assert!(!bytes.ends_with(b"\n"));
        let lines: Vec<_> = bytes.split(|byte| *byte == b'\n').collect();
        let side = |line: &&&[u8]| line.windows(18).any(|w| w == br#""isSidechain":true"#);
        let after = lines[..truth.lines as usize - 1].iter().rev().take_while(side).count();
        assert!((300..305).contains(&after), "{after} sidechain records");
    }
}
