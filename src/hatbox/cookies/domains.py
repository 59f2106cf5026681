"""Domains of cookies, and their matching (RFC 6265bis, 5.1.3). Pure text: knows no cookies and no public suffixes."""

from __future__ import annotations

from hatbox.urls.hosts import canonical_host, is_ip

__all__ = ["domain_matches", "parse_domain"]


def domain_matches(host: str, domain: str) -> bool:
    """Whether a canonical host is the domain or a subdomain of it. An IP address matches only itself."""
    return host == domain or (host.endswith(domain) and host[-len(domain) - 1] == "." and not is_ip(host))


def parse_domain(text: str, *, shared: bool) -> tuple[str, bool]:
    """The domain of a cookie and whether it is host-only, from the spelling of another program.

    An invalid domain is returned unchanged, and rejected when the cookie is stored.
    """
    bare = text.removeprefix(".")
    domain = canonical_host(bare) or bare
    return domain, not shared or is_ip(domain)  # an IP address has no subdomains
