//! The one door to random identifiers.

/// Returns a new random UUID (version 4), lower-case, 36 characters.
#[expect(clippy::disallowed_methods, reason = "the door to random ids")]
pub(crate) fn random() -> String {
    uuid::Uuid::new_v4().to_string()
}
