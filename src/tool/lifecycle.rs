//! The words of a package's life in a home: where it came from, what it may, where a value applies (lifecycle §2).

use thiserror::Error;

/// A word that is none of its set.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{}` is none of {}", crate::base::text::visible(.found), crate::base::text::listed(.words.iter().copied()))]
pub(crate) struct UnknownWord {
    pub(crate) found: String,
    pub(crate) words: &'static [&'static str],
}

/// A closed set of words as stores, manifests and reports spell them.
macro_rules! word_set {
    ($(#[$doc:meta])* $type:ident { $($(#[$variant_doc:meta])* $variant:ident => $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) enum $type {
            $($(#[$variant_doc])* $variant),+
        }

        impl $type {
            pub(crate) const WORDS: &'static [&'static str] = &[$($word),+];

            pub(crate) const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, out: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                out.write_str(self.as_str())
            }
        }

        impl ::std::str::FromStr for $type {
            type Err = $crate::tool::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::tool::UnknownWord { found: text.to_owned(), words: Self::WORDS }),
                }
            }
        }
    };
}

pub(crate) use word_set;

word_set!(
    /// How a version came into the home.
    Source {
        ManagedProject => "managed-project",
        LocalDirectory => "local-directory",
        LocalArchive => "local-archive",
        Registry => "registry",
        Remote => "remote",
        McpImport => "mcp-import",
    }
);

word_set!(
    /// Whether a person vouches for a package.
    Trust {
        TrustedLocal => "trusted-local",
        Verified => "verified",
        /// Never enabled, whatever is installed later.
        Blocked => "blocked",
    }
);

word_set!(
    /// What a permission is about.
    PermissionKind {
        /// Something the process does by itself. Declared and consented to.
        OsEffect => "os-effect",
        /// Something the host does for the process.
        SparkCapability => "spark-capability",
    }
);

word_set!(
    /// What a person decided about a permission.
    PermissionState { Pending => "pending", Granted => "granted", Denied => "denied" }
);

word_set!(
    /// Where a configured value applies (lifecycle §7). Later ones win over earlier ones.
    Scope {
        Package => "package",
        Tool => "tool",
        Project => "project",
        Agent => "agent",
        Workflow => "workflow",
        Session => "session",
    }
);

/// Where a version came from, so that a later one can be told to be of the same source (design §4, consent on update).
///
/// Two equal origins are the same; an archive's is made unique, because an archive is never the same origin.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Origin(String);

impl Origin {
    /// Returns the origin of a folder, by its canonical path.
    pub(crate) fn folder(canonical: &str) -> Self {
        Self(format!("folder:{canonical}"))
    }

    /// Returns an origin as it was stored.
    pub(crate) fn stored(text: String) -> Self {
        Self(text)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// A permission that a version asks for, and what was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Permission {
    pub(crate) kind: PermissionKind,
    pub(crate) name: String,
    /// Without it the version can't be enabled.
    pub(crate) required: bool,
    pub(crate) state: PermissionState,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_are_written() {
        for word in Source::WORDS {
            assert_eq!(word.parse::<Source>().map(Source::as_str), Ok(*word));
        }
        let error = "Granted".parse::<PermissionState>().expect_err("case counts");
        assert_eq!(error.to_string(), "`Granted` is none of `pending`, `granted` and `denied`");
    }

    #[test]
    fn scopes_are_ordered_as_they_win() {
        assert!(Scope::Package < Scope::Tool && Scope::Workflow < Scope::Session);
    }
}
