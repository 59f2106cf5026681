"""What one client does that people want to know: which pages it sees and controls, and cookies. Pure.

Only hosts are compared. The reader of the outputs records the host of a URL, and no path.
"""

from __future__ import annotations

from typing import Any, Final

from hatbox.engines.chromium.endpoint.messages import ClientAction
from hatbox.urls.url import parse_url

__all__ = ["ATTACH", "CHANGE_COOKIES", "CONNECT", "CONTROL", "LOAD", "READ_COOKIES", "ClientActivity"]

CONNECT: Final = "endpoint.connect"
"""The action of a program that connects."""
ATTACH: Final = "endpoint.attach"
"""The client can read a page."""
CONTROL: Final = "endpoint.control"
"""The client runs a script in a page, or enters something, for the first time."""
LOAD: Final = "endpoint.load"
"""The client loads a page, or a page that it controls loads another one."""
READ_COOKIES: Final = "endpoint.readCookies"
CHANGE_COOKIES: Final = "endpoint.changeCookies"

_COOKIES: Final = {
    "Network.clearBrowserCookies": CHANGE_COOKIES,
    "Network.deleteCookies": CHANGE_COOKIES,
    "Network.getAllCookies": READ_COOKIES,
    "Network.getCookies": READ_COOKIES,
    "Network.setCookie": CHANGE_COOKIES,
    "Network.setCookies": CHANGE_COOKIES,
    "Storage.clearCookies": CHANGE_COOKIES,
    "Storage.getCookies": READ_COOKIES,
    "Storage.setCookies": CHANGE_COOKIES,
}


class ClientActivity:
    """The hosts of the pages that one client is attached to."""

    def __init__(self) -> None:
        self._hosts: dict[str, str] = {}  # by target id: those recorded last

    def command(self, method: str) -> list[ClientAction]:
        """The client sends a command."""
        action = _COOKIES.get(method)
        return [] if action is None else [ClientAction(action)]

    def attached(self, info: dict[str, Any]) -> list[ClientAction]:
        """The client is attached to a target."""
        if info["type"] != "page":
            return []
        self._hosts.setdefault(info["targetId"], "")
        return self._at(info["targetId"], info["url"], ATTACH)

    def changed(self, info: dict[str, Any], *, is_driven: bool) -> list[ClientAction]:
        """A target has another URL, or another title."""
        if info["targetId"] not in self._hosts:
            return []
        return self._at(info["targetId"], info["url"], LOAD if is_driven else ATTACH)

    def loads(self, target_id: str, url: str) -> list[ClientAction]:
        """The client loads a URL in a page."""
        self._hosts[target_id] = host = _host_of(url)
        return [ClientAction(LOAD, url)] if host else []

    def controls(self, target_id: str, url: str) -> list[ClientAction]:
        """The client acts in a page, for the first time."""
        self._hosts.setdefault(target_id, "")
        return [ClientAction(CONTROL, url)] if _host_of(url) else []

    def removed(self, target_id: str) -> None:
        """A target is closed."""
        self._hosts.pop(target_id, None)

    def _at(self, target_id: str, url: str, action: str) -> list[ClientAction]:
        host = _host_of(url)
        if not host or host == self._hosts[target_id]:
            return []
        self._hosts[target_id] = host
        return [ClientAction(action, url)]


def _host_of(url: str) -> str:
    parsed = parse_url(url) if url.startswith(("http://", "https://")) else None
    return "" if parsed is None else parsed.host
