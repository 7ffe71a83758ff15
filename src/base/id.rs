//! The one door to random identifiers.

use super::clock::Timestamp;

/// Returns a new random UUID (version 4), lower-case, 36 characters.
#[expect(clippy::disallowed_methods, reason = "the door to random ids")]
pub(crate) fn random() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// Says whether a text is spelt like an id of ours.
pub(crate) fn is_id(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}

/// Returns a new UUID (version 7), lower-case, 36 characters. Those made later sort later, so an index of them grows at
/// its end alone.
#[expect(clippy::disallowed_methods, reason = "the door to random ids")]
pub(crate) fn ordered(now: Timestamp) -> String {
    let random = uuid::Uuid::new_v4().into_bytes();
    // Bytes 6 and 8 of it have fixed bits.
    let mut ten = [0; 10];
    ten[..6].copy_from_slice(&random[..6]);
    ten[6..].copy_from_slice(&random[9..13]);
    let millis = u64::try_from(now.as_millis()).unwrap_or(0);
    uuid::Builder::from_unix_timestamp_millis(millis, &ten).into_uuid().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_id_sorts_later() {
        let ids: Vec<String> = [1, 2, 1_000, 1_796_058_832_001].map(|millis| ordered(Timestamp::from_millis(millis))).into();
        assert!(ids.is_sorted());
        assert!(ids.iter().all(|id| id.len() == 36 && id.as_bytes()[14] == b'7'));
        assert_ne!(ordered(Timestamp::from_millis(5)), ordered(Timestamp::from_millis(5)));
    }
}
