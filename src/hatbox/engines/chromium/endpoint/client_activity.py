"""What one client does that people want to know: which pages it sees and controls, and cookies. Pure.

Only hosts are compared. The reader of the outputs records the host of a URL, and no path.
"""

from __future__ import annotations

from typing import Any, Final

from hatbox.engines.chromium.endpoint.client_targets import ClientTargets
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


_ACTING: Final = (
    "DOM.set",
    "Fetch.continue",
    "Fetch.fulfill",
    "Input.",
    "Runtime.call",
    "Runtime.evaluate",
    "Runtime.run",
)
_LOADING: Final = ("Page.navigate", "Page.reload", "Page.setDocumentContent")


class ClientActivity:
    """The hosts of the pages that one client is attached to."""

    def __init__(self) -> None:
        self._hosts: dict[str, str] = {}  # by target id: those recorded last
        self._controlled: set[str] = set()

    def command(self, method: str, page_id: str, targets: ClientTargets) -> list[ClientAction]:
        """The client sends a command, to a page if `page_id` is not empty."""
        if (action := _COOKIES.get(method)) is not None:
            return [ClientAction(action)]
        if page_id in self._controlled or page_id not in self._hosts or not method.startswith(_ACTING + _LOADING):
            return []
        self._controlled.add(page_id)
        url = targets.url_of(page_id)
        return [ClientAction(CONTROL, url)] if _host_of(url) and not method.startswith(_LOADING) else []

    def attached(self, info: dict[str, Any]) -> list[ClientAction]:
        """The client is attached to a target."""
        if info["type"] != "page":
            return []
        self._hosts.setdefault(info["targetId"], "")
        return self._at(info["targetId"], info["url"], ATTACH)

    def changed(self, info: dict[str, Any]) -> list[ClientAction]:
        """A target has another URL, or another title."""
        target_id = info["targetId"]
        if target_id not in self._hosts:
            return []
        return self._at(target_id, info["url"], LOAD if target_id in self._controlled else ATTACH)

    def loads(self, target_id: str, url: str) -> list[ClientAction]:
        """The client loads a URL in a page."""
        self._hosts[target_id] = host = _host_of(url)
        self._controlled.add(target_id)
        return [ClientAction(LOAD, url)] if host else []

    def removed(self, target_id: str) -> None:
        """A target is closed."""
        self._hosts.pop(target_id, None)
        self._controlled.discard(target_id)

    def _at(self, target_id: str, url: str, action: str) -> list[ClientAction]:
        host = _host_of(url)
        if not host or host == self._hosts[target_id]:
            return []
        self._hosts[target_id] = host
        return [ClientAction(action, url)]


def _host_of(url: str) -> str:
    parsed = parse_url(url) if url.startswith(("http://", "https://")) else None
    return "" if parsed is None else parsed.host
