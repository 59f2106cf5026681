"""Domain matching (RFC 6265bis, 5.1.3). Pure text: knows nothing of cookies or public suffixes."""

from __future__ import annotations

from hatbox.urls.hosts import is_ip

__all__ = ["domain_matches"]


def domain_matches(host: str, domain: str) -> bool:
    """Whether a canonical host is the domain or a subdomain of it. An IP address matches only itself."""
    return host == domain or (host.endswith(domain) and host[-len(domain) - 1] == "." and not is_ip(host))
