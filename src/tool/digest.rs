//! The identity of a package's content.

use std::fmt;
use std::str::FromStr;

use data_encoding::HEXLOWER;
use thiserror::Error;

/// `tree-v1:` and 64 hex digits: SHA-256 over all files of a package (design §4, digest).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Digest([u8; 32]);

/// Why a text is not a digest.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("a digest is `tree-v1:` and 64 digits of 0-9 and a-f")]
pub(crate) struct DigestError;

impl Digest {
    const PREFIX: &'static str = "tree-v1:";

    pub(crate) const fn tree_v1(hash: [u8; 32]) -> Self {
        Self(hash)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", Self::PREFIX, HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let hex = text.strip_prefix(Self::PREFIX).ok_or(DigestError)?;
        let bytes = HEXLOWER.decode(hex.as_bytes()).map_err(|_| DigestError)?;
        bytes.try_into().map(Self).map_err(|_| DigestError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_read_as_it_is_written() {
        let digest = Digest::tree_v1([0xa5; 32]);
        assert_eq!(digest.to_string().parse(), Ok(digest));
        for bad in ["", "tree-v1:", "tree-v2:00", &digest.to_string().to_uppercase(), &digest.to_string()[..71]] {
            assert_eq!(bad.parse::<Digest>(), Err(DigestError), "{bad}");
        }
    }
}
