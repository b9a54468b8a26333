//! Checkpoints: any file can be classified, and a written checkpoint is read back unchanged.

use plimsoll_extract::checkpoint::{
    self, CheckpointParts, Meta, SealOrigin, SealedHeader, SealingKey,
};

pub(crate) fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let key = SealingKey::new([7; SealingKey::LEN]);
    let verdict = checkpoint::check(text, Some(&key));
    assert_ne!(verdict.origin, SealOrigin::Own, "nobody else has the key");
    assert!(SealedHeader::parse(text, &key).is_none());
    let Ok(CheckpointParts { front_matter, body }) = checkpoint::split(text) else { return };
    check_sections(body);
    let Ok(meta) = checkpoint::parse(front_matter) else { return };
    let whole_second = Meta { created: meta.created / 1000 * 1000, ..meta };
    check_round_trip(&whole_second, body);
    check_seal(&key, whole_second, body);
}

fn check_sections(body: &str) {
    let sections = checkpoint::sections(body);
    assert!(sections.iter().all(|(name, text)| body.contains(name) && body.contains(text)));
    let _ = checkpoint::summary(body);
    assert_eq!(checkpoint::diff(body, body), [], "nothing differs from itself");
}

fn check_round_trip(meta: &Meta, body: &str) {
    let written = checkpoint::render(meta, body);
    let parts = checkpoint::split(&written).unwrap();
    assert_eq!(checkpoint::parse(parts.front_matter).as_ref(), Ok(meta));
    assert_eq!(parts.body, body);
}

/// Seals a checkpoint, then changes a byte, which must break the seal.
fn check_seal(key: &SealingKey, meta: Meta, body: &str) {
    let (meta, sealed) = key.seal(meta, body);
    let verdict = checkpoint::check(&sealed, Some(key));
    assert_eq!((verdict.origin, verdict.meta.as_ref()), (SealOrigin::Own, Some(&meta)));
    assert_eq!(
        SealedHeader::parse(&sealed, key).map(|glance| glance.iteration()),
        Some(meta.iteration)
    );
    let at = body.len() * 31 % sealed.len();
    let mut forged = sealed.into_bytes();
    forged[at] ^= 1;
    if let Ok(forged) = String::from_utf8(forged) {
        assert!(
            !checkpoint::check(&forged, Some(key)).is_own_and_valid(),
            "byte {at} of {forged:?}"
        );
    }
}
