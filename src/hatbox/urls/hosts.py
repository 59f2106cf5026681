"""Canonical hosts (WHATWG URL, "host parsing"): lower case, punycode, IPv4 in four decimal parts, IPv6 in brackets.

Pure text: knows nothing of cookies or public suffixes.
"""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

__all__ = [
    "MAX_HOST_INPUT",
    "canonical_host",
    "is_ip",
    "is_private_address",
    "is_private_host",
    "is_trustworthy_host",
]

# Forbidden domain code points. The URL parser decodes percent signs first.
_FORBIDDEN: Final = re.compile(r"[\x00-\x20\x22#%/:<>?@\[\\\]^`{|}\x7f]")
_NUMBER: Final = re.compile(r"[0-9]+|0[xX][0-9a-fA-F]*")
_PLAIN: Final = re.compile(r"(?:[a-z0-9_-]+\.)+[a-z][a-z0-9-]*")
_MAX_HOST: Final = 253 + 1  # with the dot of the root zone
_PRIVATE_NAMES: Final = (".localhost", ".local", ".internal", ".home.arpa")
"""Reserved for the local machine, multicast DNS, private networks and home networks (RFC 6761, 6762, 8375)."""
_PUBLIC_IPV6: Final = IPv6Network("2000::/3")
_RESERVED: Final = tuple(map(ip_network, ("192.0.0.0/24", "2001::/23", "2001:db8::/32", "3fff::/20")))
"""Inside of public networks, for protocols and documentation. Python's own list depends on its version."""
_TRANSLATED: Final = IPv6Network("64:ff9b::/96")  # NAT64 (RFC 6052): the last 32 bits are an IPv4 address
MAX_HOST_INPUT: Final = 1024
"""Maximum characters of a host before canonicalization, which may shorten it. Punycode takes quadratic time."""


def canonical_host(host: str) -> str:
    """The canonical form of a host, or an empty string if the host is invalid."""
    return _canonical_host(host) if len(host) <= MAX_HOST_INPUT else ""


@lru_cache(maxsize=16384)
def _canonical_host(host: str) -> str:
    if _PLAIN.fullmatch(host):
        return host if len(host) <= _MAX_HOST else ""
    if ":" in host:
        return _ipv6(host)
    host = _punycode(host) if not host.isascii() else host.lower()
    if not host or len(host) > _MAX_HOST or host.startswith(".") or ".." in host or _FORBIDDEN.search(host):
        return ""
    return _ipv4(host) if _ends_in_number(host) else host


def is_ip(host: str) -> bool:
    """Whether a canonical host is an IP address. A domain name may not end in a number."""
    return host.startswith("[") or (host[-1:].isdigit() and _ends_in_number(host))


def is_trustworthy_host(host: str) -> bool:
    """Whether a canonical host is the local machine, so that http to it is potentially trustworthy."""
    return (
        host in ("localhost", "localhost.", "[::1]")
        or host.endswith((".localhost", ".localhost."))
        or (host.startswith("127.") and is_ip(host))
    )


def is_private_host(host: str) -> bool:
    """Whether a canonical host is this machine or in a private network, as far as its text says.

    So are names without a dot: the public DNS has none, and a resolver adds the domain of its network.
    """
    if is_ip(host):
        return is_private_address(host.strip("[]"))
    name = host.removesuffix(".")
    return "." not in name or name.endswith(_PRIVATE_NAMES)


def is_private_address(address: str) -> bool:
    """Whether an IP address is not a public one: loopback, link-local, private, or reserved."""
    parsed = ip_address(address.partition("%")[0])
    if isinstance(parsed, IPv6Address):
        embedded = parsed.ipv4_mapped or parsed.sixtofour
        if parsed in _TRANSLATED:
            embedded = IPv4Address(int(parsed) & 0xFFFFFFFF)
        if embedded is None:
            return parsed not in _PUBLIC_IPV6 or any(parsed in each for each in _RESERVED)
        parsed = embedded
    return not parsed.is_global or parsed.is_multicast or any(parsed in each for each in _RESERVED)


def _ipv6(host: str) -> str:
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    try:
        return f"[{IPv6Address(bare).compressed}]"
    except AddressValueError:
        return ""


def _ends_in_number(host: str) -> bool:
    return _NUMBER.fullmatch(host.removesuffix(".").rpartition(".")[2]) is not None


def _ipv4(host: str) -> str:
    """Parse an IPv4 address: one to four decimal, octal or hexadecimal parts. The last fills the remaining bytes."""
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
    except ValueError:  # 8 or 9 in an octal number
        return None


def _punycode(host: str) -> str:
    """UTS 46 non-transitional mapping. The standard library has only IDNA 2003, which maps ß to ss."""
    import idna  # imported late: its tables are large and rarely needed

    try:
        labels = idna.uts46_remap(host, std3_rules=False, transitional=False).split(".")
        return ".".join(
            label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii") for label in labels
        )
    except (idna.IDNAError, UnicodeError):
        return ""
