//! Is it an absolute URL? Judged as browsers judge, because that is what the format always meant by the word.
//!
//! Nothing is fetched and nothing normalised: the one parser for requests is `net`'s.

/// Why a text is not an absolute URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UrlFault(&'static str);

impl std::fmt::Display for UrlFault {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.0)
    }
}

/// Returns the scheme of an absolute URL, in lower case.
pub(super) fn check(text: &str) -> Result<String, UrlFault> {
    let text = text.trim_matches(|c: char| c <= ' ');
    let Some((scheme, rest)) = text.split_once(':') else { return Err(UrlFault("it has no scheme")) };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    if !is_scheme {
        return Err(UrlFault("it has no scheme"));
    }
    let scheme = scheme.to_ascii_lowercase();
    if matches!(scheme.as_str(), "http" | "https" | "ws" | "wss" | "ftp") {
        check_authority(rest)?;
    }
    Ok(scheme)
}

fn check_authority(rest: &str) -> Result<(), UrlFault> {
    let rest = rest.trim_start_matches(['/', '\\']);
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let host_and_port = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, port) = if host_and_port.starts_with('[') {
        let Some(end) = host_and_port.find(']') else { return Err(UrlFault("the `[` of its address isn't closed")) };
        check_ipv6(&host_and_port[1..end])?;
        (&host_and_port[..=end], host_and_port[end + 1..].strip_prefix(':').or((end + 1 < host_and_port.len()).then_some("x")))
    } else {
        match host_and_port.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (host_and_port, None),
        }
    };
    if host.is_empty() {
        return Err(UrlFault("it has no host"));
    }
    let is_forbidden = |c: char| c <= ' ' || c == '\u{7f}' || "<>^|".contains(c);
    if host.contains(is_forbidden) {
        return Err(UrlFault("its host holds a character that no host has"));
    }
    let is_port = |port: &str| port.is_empty() || (port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok());
    if port.is_some_and(|port| !is_port(port)) {
        return Err(UrlFault("its port is not a number up to 65535"));
    }
    Ok(())
}

fn check_ipv6(address: &str) -> Result<(), UrlFault> {
    match address.parse::<core::net::Ipv6Addr>() {
        Ok(_) => Ok(()),
        Err(_) => Err(UrlFault("its address is not an IPv6 address")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Manifest §4: any absolute URL is one, whatever its scheme.
    #[test]
    fn absolute_urls_are_told_from_other_text() {
        for (text, scheme) in [
            ("https://example.com/a?b#c", Some("https")),
            ("HTTP://user:pw@host:8080", Some("http")),
            ("http://[::1]:80/", Some("http")),
            ("http://münchen.example/", Some("http")),
            ("ftp://host", Some("ftp")),
            ("file:///etc/passwd", Some("file")),
            ("mailto:a@b", Some("mailto")),
            ("javascript:alert(1)", Some("javascript")),
            ("example.com", None),
            ("/path", None),
            ("//host/path", None),
            ("", None),
            ("https://", None),
            ("https:///", None),
            ("https://a b/", None),
            ("http://host:99999/", None),
            ("http://host:x/", None),
            ("http://[::1", None),
            ("http://[nope]/", None),
            ("http://[::1]x/", None),
            ("1http://x", None),
        ] {
            assert_eq!(check(text).ok().as_deref(), scheme, "{text}");
        }
    }
}
