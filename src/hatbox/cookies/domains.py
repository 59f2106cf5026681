"""Hosts and domain matching (RFC 6265bis, 5.1.2 and 5.1.3). Pure text: knows nothing of cookies or public suffixes.

A canonical host is what a browser's URL would show: lower case, punycode, IPv4 in four decimal parts, IPv6 in brackets.
"""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final

__all__ = ["LONGEST_SPELLING", "canonical_host", "domain_matches", "is_ip", "is_trustworthy_host"]

# Forbidden in domains by the URL standard. Percent signs must be decoded before.
_FORBIDDEN: Final = re.compile(r"[\x00-\x20\x22#%/:<>?@\[\\\]^`{|}\x7f]")
_NUMBER: Final = re.compile(r"[0-9]+|0[xX][0-9a-fA-F]*")
_PLAIN: Final = re.compile(r"(?:[a-z0-9_-]+\.)+[a-z][a-z0-9-]*")
_MAX_HOST_LENGTH: Final = 253 + 1  # with the dot of the root
LONGEST_SPELLING: Final = 1024
"""Characters of a host before it is made canonical, which may shorten it. Punycode takes quadratic time."""


def canonical_host(host: str) -> str:
    """The canonical spelling of a host; empty if no URL can have it."""
    return _canonical_host(host) if len(host) <= LONGEST_SPELLING else ""


@lru_cache(maxsize=16384)
def _canonical_host(host: str) -> str:
    if _PLAIN.fullmatch(host):
        return host if len(host) <= _MAX_HOST_LENGTH else ""
    if ":" in host:
        return _ipv6(host)
    host = _punycode(host) if not host.isascii() else host.lower()
    if not host or len(host) > _MAX_HOST_LENGTH or host.startswith(".") or ".." in host or _FORBIDDEN.search(host):
        return ""
    return _ipv4(host) if _ends_in_number(host) else host


def domain_matches(host: str, domain: str) -> bool:
    """Whether a canonical host is the domain or a subdomain. An IP address has no parent domains."""
    return host == domain or (host.endswith(domain) and host[-len(domain) - 1] == "." and not is_ip(host))


def is_ip(host: str) -> bool:
    """Whether a canonical host is an IP address: a name does not end in a number."""
    return host.startswith("[") or (host[-1:].isdigit() and _ends_in_number(host))


def is_trustworthy_host(host: str) -> bool:
    """Whether a canonical host is this machine, so that http to it counts as secure."""
    return (
        host in ("localhost", "localhost.", "[::1]")
        or host.endswith((".localhost", ".localhost."))
        or (host.startswith("127.") and is_ip(host))
    )


def _ipv6(host: str) -> str:
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    try:
        return f"[{IPv6Address(bare).compressed}]"
    except AddressValueError:
        return ""


def _ends_in_number(host: str) -> bool:
    return _NUMBER.fullmatch(host.removesuffix(".").rpartition(".")[2]) is not None


def _ipv4(host: str) -> str:
    """An IPv4 address as browsers parse it: one to four decimal, octal or hexadecimal parts."""
    parts = host.removesuffix(".").split(".")
    numbers = [_number(part) for part in parts]
    if len(numbers) > 4 or None in numbers:
        return ""
    *firsts, last = (number or 0 for number in numbers)
    if any(number > 255 for number in firsts) or last >= 256 ** (5 - len(numbers)):
        return ""
    address = last + sum(number << 8 * (3 - place) for place, number in enumerate(firsts))
    return str(IPv4Address(address))


def _number(part: str) -> int | None:
    base = 16 if part[:2] in ("0x", "0X") else 8 if part.startswith("0") else 10
    digits = part[2:] if base == 16 else part
    if not _NUMBER.fullmatch(part) or len(digits) > 40:
        return None
    try:
        return int(digits or "0", base)
    except ValueError:  # an eight or a nine after a leading zero
        return None


def _punycode(host: str) -> str:
    """UTS 46 mapping, not transitional, as browsers do. The standard library knows only the IDNA of 2003 (ß is ss)."""
    import idna  # large tables, rarely needed

    try:
        labels = idna.uts46_remap(host, std3_rules=False, transitional=False).split(".")
        return ".".join(
            label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii") for label in labels
        )
    except (idna.IDNAError, UnicodeError):
        return ""
