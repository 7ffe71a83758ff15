//! What a call may do to the world, and how many may run at once because of it.

use serde::{Deserialize, Serialize};

/// How much a person should think before a call (manifest §9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Risk {
    Read,
    LowWrite,
    HighWrite,
    Destructive,
}

/// What a call does (manifest §9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Effect {
    Read,
    Create,
    Update,
    Delete,
    Send,
    Publish,
}

/// Whether a call may be repeated (manifest §9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Idempotency {
    Safe,
    Keyed,
    Unsafe,
}

/// The three together, as a tool declares them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Safety {
    pub(crate) risk: Risk,
    pub(crate) effect: Effect,
    pub(crate) idempotency: Idempotency,
}

/// How calls of a tool are scheduled. "Writes and parallel" can't be expressed (design §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Concurrency {
    Parallel,
    /// One at a time for this tool.
    OnePerTool,
    /// One at a time for the whole package.
    OnePerPackage,
}

impl Safety {
    pub(crate) fn concurrency(self) -> Concurrency {
        match (self.effect, self.idempotency) {
            (Effect::Read, Idempotency::Safe) => Concurrency::Parallel,
            (Effect::Read, Idempotency::Keyed | Idempotency::Unsafe) => Concurrency::OnePerTool,
            (Effect::Create | Effect::Update | Effect::Delete | Effect::Send | Effect::Publish, _) => Concurrency::OnePerPackage,
        }
    }

    /// Says that a call runs without being asked about (design §3, consent to a call).
    pub(crate) fn runs_unasked(self) -> bool {
        self.risk == Risk::Read
    }
}

/// A closed set of words as manifests and reports spell them.
macro_rules! words {
    ($type:ident { $($variant:ident => $word:literal),+ $(,)? }) => {
        impl $type {
            pub(crate) const WORDS: &'static [&'static str] = &[$($word),+];

            pub(crate) const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            pub(crate) fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str(self.as_str())
            }
        }
    };
}

words!(Risk { Read => "read", LowWrite => "low-write", HighWrite => "high-write", Destructive => "destructive" });
words!(Effect { Read => "read", Create => "create", Update => "update", Delete => "delete", Send => "send", Publish => "publish" });
words!(Idempotency { Safe => "safe", Keyed => "keyed", Unsafe => "unsafe" });

pub(super) use words;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_safe_reads_run_side_by_side() {
        for effect in [Effect::Read, Effect::Create, Effect::Update, Effect::Delete, Effect::Send, Effect::Publish] {
            for idempotency in [Idempotency::Safe, Idempotency::Keyed, Idempotency::Unsafe] {
                let concurrency = Safety { risk: Risk::LowWrite, effect, idempotency }.concurrency();
                let expected = match (effect, idempotency) {
                    (Effect::Read, Idempotency::Safe) => Concurrency::Parallel,
                    (Effect::Read, _) => Concurrency::OnePerTool,
                    _ => Concurrency::OnePerPackage,
                };
                assert_eq!(concurrency, expected);
            }
        }
    }

    #[test]
    fn words_are_spelt_as_serde_spells_them() {
        for risk in [Risk::Read, Risk::LowWrite, Risk::HighWrite, Risk::Destructive] {
            assert_eq!(serde_json::to_value(risk).expect("a word"), risk.as_str());
        }
        assert_eq!(Effect::WORDS.len(), 6);
        assert_eq!(Idempotency::WORDS, ["safe", "keyed", "unsafe"]);
    }
}
