"""Grant: which identities, which hosts, which actions, until when. Pure."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from hatbox.store.processes import ProcessId
from hatbox.urls.hosts import is_private_host
from hatbox.urls.match_patterns import ALL_URLS, HostPermissions, host_permissions
from hatbox.urls.protected_pages import is_protected_page
from hatbox.urls.url import Url, parse_url

__all__ = ["ACTIONS", "ALL_PUBLIC", "DEFAULT_ACTIONS", "DEFAULT_DURATION", "Grant"]

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

ALL_PUBLIC: Final = "*://*/*"
"""Among the hosts of a grant: all hosts, but none of this machine and of private networks, which have to be named."""

_DEFAULT_PORTS: Final = {"http": ":80", "https": ":443"}
_WRAPPERS: Final = re.compile(r"^(?:[\x00-\x20]*(?:view-source|blob|filesystem):)+", re.IGNORECASE)
_PORT: Final = re.compile(r":[0-9]+(?=/\*$)")


class Grant(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A capability. Does not contain the token. Times are in seconds since 1970."""

    id: str
    """Names the grant in lists and in the activity log. It is no secret."""
    purpose: str
    identities: tuple[str, ...]
    """The cookieStoreIds. Empty if all of them were removed: then the grant allows nothing."""
    hosts: tuple[str, ...] | None
    """Match patterns of the hosts, some with a port. None: ALL_PUBLIC. `<all_urls>`: all, also private ones."""
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

        So is the manager page, and a host of this machine or of a private network that the grant does not name.

        The URL is read as browsers do. This is the only check of URLs: for the API, HTTP clients and agents.
        """
        parsed = parse_url(url)
        if parsed is None or parsed.scheme not in _DEFAULT_PORTS or is_protected_page(parsed):
            return False
        return (not self.is_limited and not is_private_host(parsed.host)) or self._names(parsed)

    def names(self, host: str, port: int) -> bool:
        """Whether it names a host, which may then have an address of a private network."""
        authority = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        urls = (parse_url(f"{scheme}://{authority}/") for scheme in _DEFAULT_PORTS)
        return any(url is not None and self._names(url) for url in urls)

    def shows_url(self, url: str) -> bool:
        """Whether its program may know the page of a tab. Without a limit of hosts also one that is not of the web."""
        parsed = parse_url(url)
        if parsed is None or self.is_limited:
            return self.allows_url(url)
        page = parse_url(_WRAPPERS.sub("", parsed.text))
        if page is None or page.scheme in _DEFAULT_PORTS:
            return page is not None and self.allows_url(page.text)
        return not page.host or not is_private_host(page.host) or self.allows_private_networks or self._names(page)

    @property
    def is_limited(self) -> bool:
        """Whether it allows some hosts only."""
        return self.hosts is not None and ALL_PUBLIC not in self.hosts and ALL_URLS not in self.hosts

    @property
    def allows_private_networks(self) -> bool:
        """Whether it has no limit at all."""
        return self.hosts is not None and ALL_URLS in self.hosts

    @property
    def cookie_hosts(self) -> tuple[str, ...]:
        """The match patterns of the hosts whose cookies it includes. Cookies have no ports: a named port is ignored."""
        return tuple(_PORT.sub("", each) for each in self.hosts or ()) if self.is_limited else (ALL_URLS,)

    @property
    def hosts_text(self) -> str:
        """The hosts, for messages."""
        if self.hosts is None or self.hosts == (ALL_PUBLIC,):
            return f"{self.shown_hosts}, with http or https. Hosts of private networks have to be named"
        return self.shown_hosts

    @property
    def shown_hosts(self) -> str:
        """The hosts, for lists."""
        return ", ".join("all public hosts" if each == ALL_PUBLIC else each for each in self.hosts or (ALL_PUBLIC,))

    @property
    def _named_hosts(self) -> tuple[str, ...]:
        return tuple(each for each in self.hosts or () if each != ALL_PUBLIC)

    def _names(self, url: Url) -> bool:
        # In a pattern with a port, the port is a part of the host.
        with_port = url.host + (url.port_suffix or _DEFAULT_PORTS.get(url.scheme, ""))
        permissions = host_permissions(self._named_hosts)
        return permissions.allow_url(url.scheme, url.host) or permissions.allow_url(url.scheme, with_port)

    def pattern_of(self, host: str) -> str:
        """How the grant names a host, as in `*.site.example`; empty if it does not."""
        for pattern in self.hosts or ():
            if pattern in (ALL_PUBLIC, ALL_URLS):
                continue
            any_port = host_permissions((_PORT.sub("", pattern),))
            if any(any_port.allow_url(scheme, host) for scheme in _DEFAULT_PORTS):
                return pattern.partition("://")[2].removesuffix("/*")
        return ""

    def allows_cookie(self, domain: str, *, host_only: bool, secure: bool) -> bool:
        """Whether a host that it includes can read a cookie, from any of its ports."""
        if not self.is_limited and not is_private_host(domain):
            return True
        return self._named_cookie_hosts.allow_cookie(domain, host_only=host_only, secure=secure)

    def allows_site(self, site: str) -> bool:
        """Whether it includes the top-level site of partitioned cookies, such as `https://site.example`."""
        url = parse_url(site)
        if url is None or url.scheme not in _DEFAULT_PORTS:
            return False
        public = not self.is_limited and not is_private_host(url.host)
        return public or self._named_cookie_hosts.allow_url(url.scheme, url.host)

    @property
    def _named_cookie_hosts(self) -> HostPermissions:
        return host_permissions(tuple(_PORT.sub("", each) for each in self._named_hosts))
