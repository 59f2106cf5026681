"""Grant: which identities, which hosts, which actions, until when. Pure."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from hatbox.store.processes import ProcessId
from hatbox.urls.match_patterns import host_permissions
from hatbox.urls.protected_pages import is_protected_page
from hatbox.urls.url import parse_url

__all__ = ["ACTIONS", "DEFAULT_ACTIONS", "DEFAULT_DURATION", "Grant"]

ACTIONS: Final = {
    "fetch": "send requests as the identity",
    "pages": "open and use pages",
    "cookies": "see which cookies exist, without their values",
    "cookieValues": "read and write cookies with their values",
    "tabs": "see, open and close tabs",
    "settings": "change settings of the identity",
}
"""The actions that a grant can allow, with what they mean."""

DEFAULT_ACTIONS: Final = frozenset({"fetch"})
"""What a grant allows if nothing else was requested."""

DEFAULT_DURATION: Final = 8 * 3600.0
"""How long a grant is valid if nothing else was requested, in seconds."""

_DEFAULT_PORTS: Final = {"http": ":80", "https": ":443"}
_PORT: Final = re.compile(r":[0-9]+(?=/\*$)")


class Grant(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A capability. Does not contain the token. Times are in seconds since 1970."""

    id: str
    """Names the grant in lists and in the activity log. It is no secret."""
    purpose: str
    identities: tuple[str, ...]
    """The cookieStoreIds. Empty if all of them were removed: then the grant allows nothing."""
    hosts: tuple[str, ...] | None
    """Match patterns of the hosts, some with a port; None for no limit."""
    actions: frozenset[str]
    """See ACTIONS."""
    created: float
    expires: float | None
    """None: until it is revoked."""
    revoked: float | None
    program: str
    """The program that created it."""
    machine: str
    process: ProcessId | None = None
    """The process with which it ends; None if it does not depend on one."""

    def has_ended(self, time: float) -> bool:
        """Whether it is revoked or expired at this time, or has no identity left."""
        return self.revoked is not None or not self.identities or (self.expires is not None and time >= self.expires)

    def allows(self, action: str) -> bool:
        """Whether it allows an action."""
        return action in self.actions

    def allows_identity(self, cookie_store_id: str) -> bool:
        """Whether it includes an identity."""
        return cookie_store_id in self.identities

    def allows_url(self, url: str) -> bool:
        """Whether it allows a URL: http or https, with a host that it includes. Every other URL is refused.

        So is the manager page.

        The URL is read as browsers do. This is the only check of URLs: for the API, HTTP clients and agents.
        """
        parsed = parse_url(url)
        if parsed is None or parsed.scheme not in _DEFAULT_PORTS or is_protected_page(parsed):
            return False
        if self.hosts is None:
            return True
        # In a pattern with a port, the port is a part of the host.
        with_port = parsed.host + (parsed.port_suffix or _DEFAULT_PORTS[parsed.scheme])
        permissions = host_permissions(self.hosts)
        return permissions.allow_url(parsed.scheme, parsed.host) or permissions.allow_url(parsed.scheme, with_port)

    def pattern_of(self, host: str) -> str:
        """How the grant names a host, as in `*.site.example`; empty if it does not."""
        for pattern in self.hosts or ():
            any_port = host_permissions((_PORT.sub("", pattern),))
            if any(any_port.allow_url(scheme, host) for scheme in _DEFAULT_PORTS):
                return pattern.partition("://")[2].removesuffix("/*")
        return ""

    def allows_cookie(self, domain: str, *, host_only: bool, secure: bool) -> bool:
        """Whether a host that it includes with all ports can read a cookie: cookies have no ports."""
        if self.hosts is None:
            return True
        return host_permissions(self.hosts).allow_cookie(domain, host_only=host_only, secure=secure)
