//! Names of environment variables that decide what a process is, instead of telling it something (design §4).

/// How far a name reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hijack {
    /// Refused in a manifest.
    Refused,
    /// A warning in a manifest, never set by an agent, named at consent.
    Risky,
}

/// Names of interpreters, loaders, git, TLS and proxies that the rules by ending don't catch. Each makes its program
/// load code, read other configuration or trust other peers.
const RISKY: &[&str] = &[
    "ALL_PROXY",
    "AWS_CA_BUNDLE",
    "BASHOPTS",
    "BUNDLE_GEMFILE",
    "CLASSPATH",
    "CURL_CA_BUNDLE",
    "CURL_HOME",
    "DOTNET_ADDITIONAL_DEPS",
    "DOTNET_SHARED_STORE",
    "DOTNET_STARTUP_HOOKS",
    "FTP_PROXY",
    "GCONV_PATH",
    "GEM_HOME",
    "GEM_PATH",
    "HOSTALIASES",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "JAVA_HOME",
    "JULIA_LOAD_PATH",
    "LOCPATH",
    "LUA_CPATH",
    "LUA_INIT",
    "LUA_PATH",
    "NODE_EXTRA_CA_CERTS",
    "NODE_PATH",
    "NODE_TLS_REJECT_UNAUTHORIZED",
    "NO_PROXY",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "OPENSSL_MODULES",
    "PERL5DB",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "PROMPT_COMMAND",
    "PS4",
    "PYTHONBREAKPOINT",
    "PYTHONEXECUTABLE",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONPLATLIBDIR",
    "PYTHONUSERBASE",
    "PYTHONWARNINGS",
    "REQUESTS_CA_BUNDLE",
    "R_PROFILE",
    "SHELLOPTS",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TCLLIBPATH",
    "ZDOTDIR",
];

impl Hijack {
    /// Judges a variable's name; `None` for an ordinary one.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let is_refused = matches!(name, "PATH" | "NODE_OPTIONS" | "PYTHONSTARTUP" | "PYTHONPATH" | "BASH_ENV" | "ENV" | "IFS")
            || ["LD_", "DYLD_", "SPARK_TOOL_"].iter().any(|prefix| name.starts_with(prefix));
        if is_refused {
            return Some(Self::Refused);
        }
        let is_risky = ["_OPTIONS", "OPT", "LIB", "_PROXY", "_CA_BUNDLE"].iter().any(|ending| name.ends_with(ending))
            || ["GIT_", "CORECLR_", "COR_", "NPM_CONFIG_"].iter().any(|prefix| name.starts_with(prefix))
            || RISKY.binary_search(&name).is_ok();
        is_risky.then_some(Self::Risky)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Design §4.
    #[test]
    fn names_that_take_over_a_process_are_told_from_ordinary_ones() {
        for name in [
            "PATH",
            "LD_PRELOAD",
            "DYLD_INSERT_LIBRARIES",
            "NODE_OPTIONS",
            "PYTHONSTARTUP",
            "PYTHONPATH",
            "BASH_ENV",
            "ENV",
            "IFS",
            "SPARK_TOOL_HOME",
        ] {
            assert_eq!(Hijack::of(name), Some(Hijack::Refused), "{name}");
        }
        for name in [
            "JAVA_TOOL_OPTIONS",
            "RUBYOPT",
            "PERL5LIB",
            "CLASSPATH",
            "DOTNET_STARTUP_HOOKS",
            "GIT_SSH_COMMAND",
            "OPENSSL_CONF",
            "HTTPS_PROXY",
            "SSL_CERT_FILE",
            "NODE_PATH",
        ] {
            assert_eq!(Hijack::of(name), Some(Hijack::Risky), "{name}");
        }
        for name in ["API_KEY", "ACME_PATH", "DATA_PATH", "MY_ENV", "OPTION", "LIBRARY", "PATHS", "GITHUB_TOKEN", "PROXY_URL"] {
            assert_eq!(Hijack::of(name), None, "{name}");
        }
        assert!(RISKY.is_sorted());
    }
}
