//! What a process may do to the machine, as its package declares it.

use serde::{Deserialize, Serialize};

use super::risk::words;

/// One declared effect on the operating system (manifest §12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum OsEffect {
    #[serde(rename = "network")]
    Network,
    #[serde(rename = "filesystem.read")]
    FilesystemRead,
    #[serde(rename = "filesystem.write")]
    FilesystemWrite,
    #[serde(rename = "process.spawn")]
    ProcessSpawn,
    #[serde(rename = "clipboard")]
    Clipboard,
    #[serde(rename = "browser")]
    Browser,
}

words!(OsEffect {
    Network => "network",
    FilesystemRead => "filesystem.read",
    FilesystemWrite => "filesystem.write",
    ProcessSpawn => "process.spawn",
    Clipboard => "clipboard",
    Browser => "browser",
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_spelt_as_serde_spells_them() {
        for word in OsEffect::WORDS {
            let effect = OsEffect::from_word(word).expect("a word");
            assert_eq!(serde_json::to_value(effect).expect("a word"), *word);
        }
    }
}
