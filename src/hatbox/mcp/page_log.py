"""The console messages and the requests of the document of a tab, for an agent that looks for an error.

Shows no headers, no queries and no bodies, and of URLs of hosts that the agent may not use only the origin: a page
cannot read where a request was redirected to.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from typing import Final

from playwright.async_api import ConsoleMessage, Page, Request, Response

from hatbox.mcp.tool_output import bounded, untrusted
from hatbox.urls.url import parse_url

__all__ = ["PageLog"]

_MAX_MESSAGES: Final = 200
_MAX_REQUESTS: Final = 300
_MAX_MESSAGE: Final = 4_000
_MAX_ADDRESS: Final = 300
_URL: Final = re.compile(r"(?:https?|wss?):[^\s'\"<>]*")
_ERRORS: Final = ("error", "assert")


class PageLog:
    """Is empty again when another document is requested.

    `hide` removes passwords and cookies from a text. `is_allowed` says whether the agent may use a URL.
    """

    def __init__(self, page: Page, hide: Callable[[str], str], is_allowed: Callable[[str], bool]) -> None:
        self._page = page
        self._hide = hide
        self._is_allowed = is_allowed
        self._messages: deque[tuple[str, str]] = deque(maxlen=_MAX_MESSAGES)
        self._requests: dict[Request, str] = {}  # with their results
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self._add("error", str(error)))
        page.on("request", self._on_request)
        page.on("response", self._on_response)
        page.on("requestfailed", lambda each: self._set_result(each, f"failed: {each.failure}"))

    def console(self, *, only_errors: bool) -> str:
        """The messages, the oldest first."""
        found = [(kind, text) for kind, text in self._messages if not only_errors or kind in _ERRORS]
        lines = [f"[{kind}] {self._hide(text)}" for kind, text in found]
        return untrusted(bounded("\n".join(lines))) if lines else "The console is empty."

    def requests(self) -> str:
        """Method, type, address, status and size of each request, the oldest first."""
        lines = [
            f"{each.method} {each.resource_type} {self._address(each.url)}: {result}"
            for each, result in self._requests.items()
        ]
        return untrusted(bounded("\n".join(lines))) if lines else "The page has sent no requests."

    def clear(self) -> None:
        """Forget the document."""
        self._messages.clear()
        self._requests.clear()

    def _on_console(self, message: ConsoleMessage) -> None:
        self._add(message.type, message.text)

    def _add(self, kind: str, text: str) -> None:
        # A part of a long text could end in a part of a password, which is not found.
        shown = self._hide(text) if len(text) <= _MAX_MESSAGE else f"[{len(text)} characters are omitted]"
        self._messages.append((kind, _URL.sub(lambda found: self._address(found[0]), shown)))

    def _on_request(self, request: Request) -> None:
        is_document = request.is_navigation_request() and request.redirected_from is None
        if is_document and request.frame == self._page.main_frame:
            self.clear()
        if len(self._requests) == _MAX_REQUESTS:
            del self._requests[next(iter(self._requests))]
        self._requests[request] = "no response"

    def _on_response(self, response: Response) -> None:
        size = response.headers.get("content-length", "")
        shown = f"{response.status}{f', {size} bytes' if size.isdecimal() else ''}"
        self._set_result(response.request, shown if self._is_allowed(response.url) else "a response")

    def _set_result(self, request: Request, result: str) -> None:
        if request in self._requests:
            self._requests[request] = result

    def _address(self, url: str) -> str:
        """The URL without its query, which may contain secrets."""
        parsed = parse_url(url)
        if parsed is None or parsed.scheme not in ("http", "https", "ws", "wss"):
            return f"{url.partition(':')[0][:20]}:"
        origin = f"{parsed.scheme}://{parsed.host}{parsed.port_suffix}"
        if not self._is_allowed(url.replace("ws", "http", 1) if parsed.scheme.startswith("ws") else url):
            return f"{origin}/…"
        path = self._hide(f"{origin}{parsed.path}")
        shown = path if len(path) <= _MAX_ADDRESS else f"{origin}/…"  # a part could end in a part of a cookie
        return shown + ("?…" if parsed.query else "")
