"""GrantedCall: one call of a grantee while it is checked, and the refusals. Knows no function by name."""

from __future__ import annotations

from typing import Any, NoReturn

from hatbox.errors import ArgumentError, PermissionDenied
from hatbox.grants.grant import Grant
from hatbox.urls.url import parse_url

__all__ = ["GrantedCall"]


class GrantedCall:
    """The normalised arguments of a call, which checks may replace, and what the activity log records of it."""

    def __init__(self, grant: Grant, path: str) -> None:
        self.grant = grant
        self.path = path
        self.values: list[Any] = []
        self.identity: str | None = grant.identities[0] if len(grant.identities) == 1 else None
        """The identity that it concerns; None for several."""
        self.url = ""
        """The URL that it concerns, of which the activity log records the host."""
        self.tab_ids: list[int] = []
        """Tabs that it uses: they must belong to the grant."""
        self.opens_url = False
        """Whether a tab loads `url`: then the rules of the profile are checked."""
        self.is_recorded = False
        """Whether its outcome is in the activity log."""

    def details(self, position: int, options: frozenset[str]) -> dict[str, Any]:
        """A copy of the options of the call, which replaces them. Refuses those that are not in `options`."""
        found = dict(self.values[position] or {})
        for name, value in found.items():
            if value is not None and name not in options:
                allowed = ", ".join(sorted(options))
                raise PermissionDenied(f"{self.path}: a grant does not allow {name}. Allowed are: {allowed}.")
        self.values[position] = found
        return found

    def require_identity(self, cookie_store_id: Any, argument: str) -> str:
        """The identity of an argument. Without the argument, the only one of the grant."""
        identities = self.grant.identities
        if cookie_store_id is None:
            if len(identities) > 1:
                raise ArgumentError(f"{self.path}: {argument} is required. The grant has {', '.join(identities)}.")
            cookie_store_id = identities[0]
        if type(cookie_store_id) is not str or cookie_store_id not in identities:
            self._refuse(argument, cookie_store_id, ", ".join(identities))
        self.identity = cookie_store_id
        return cookie_store_id

    def require_url(self, url: str, argument: str) -> str:
        """Check the host of a URL. Returns it as it was read, so that nothing else reads it in another way."""
        parsed = parse_url(url)
        self.url = "" if parsed is None else parsed.text
        if parsed is None or not self.grant.allows_url(url):
            self._refuse(argument, url, self.grant.hosts_text)
        return parsed.text

    def require_site(self, site: str, argument: str) -> None:
        """Check the host of the top-level site of partitioned cookies."""
        if not self.grant.allows_site(site):
            self.url = site
            self._refuse(argument, site, self.grant.hosts_text)
        self.url = self.url or site

    def _refuse(self, argument: str, value: Any, allowed: str) -> NoReturn:
        shown = ascii(value)[:200]
        raise PermissionDenied(
            f"{self.path}: the grant {self.grant.id} does not include {argument} {shown}. Allowed: {allowed}. "
            "For more, request another grant: hatbox grant create"
        )
