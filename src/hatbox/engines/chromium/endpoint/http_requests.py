"""The HTTP side of an endpoint: which requests are allowed, and what their paths name. Pure text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

__all__ = ["EndpointPath", "is_allowed_host", "is_allowed_origin", "is_of_browser", "parse_path"]

_DEVTOOLS: Final = "devtools://devtools"
_MAX_TOKEN: Final = 200


class EndpointPath(NamedTuple):
    """What a request is for. The token is a secret: it must not be logged. Empty: the client needs none."""

    token: str
    what: Literal["browser", "page", "version", "list"]
    page_id: str = ""

    @property
    def browser(self) -> str:
        """The path of the browser for the same client."""
        return self.token or "devtools/browser/hatbox"

    @property
    def pages(self) -> str:
        """The path of pages for the same client."""
        return f"{self.token}/page" if self.token else "devtools/page"

    def __repr__(self) -> str:
        return f"EndpointPath({self.what})"


def parse_path(path: str, *, needs_token: bool = True) -> EndpointPath | None:
    """The parts of a path: /TOKEN, /TOKEN/json/version, /TOKEN/json/list, /TOKEN/page/TARGET.

    Without `needs_token` also Chromium's: /json/version, /json/list, /devtools/browser/ID, /devtools/page/TARGET.
    """
    parts = path.partition("?")[0].strip("/").split("/")
    if not needs_token:
        match parts:
            case ["json", *_]:
                parts = ["", *parts]
            case ["devtools", "browser", *_]:
                return EndpointPath("", "browser")
            case ["devtools", "page", page_id] if page_id:
                return EndpointPath("", "page", page_id)
    match parts:
        case [token, *rest] if len(token) > _MAX_TOKEN or (not token and (needs_token or not rest)):
            return None
        case [token]:
            return EndpointPath(token, "browser")
        case [token, "json", "version"]:
            return EndpointPath(token, "version")
        case [token, "json"] | [token, "json", "list"]:
            return EndpointPath(token, "list")
        case [token, "page", page_id] if page_id:
            return EndpointPath(token, "page", page_id)
    return None


def is_allowed_host(host: str | None, port: int) -> bool:
    """Whether a Host header names this server. A web page reaches it under a name of its own (DNS rebinding).

    Chromedriver omits the port, as no browser does.
    """
    return host in (f"127.0.0.1:{port}", f"localhost:{port}", "127.0.0.1")


def is_allowed_origin(origin: str | None) -> bool:
    """Whether an Origin header is absent or that of DevTools. Web pages have others."""
    return origin is None or origin == _DEVTOOLS


def is_of_browser(headers: Iterable[str]) -> bool:
    """Whether the names of headers are those of a browser: a page, or an extension without an Origin header."""
    return any(name.lower().startswith("sec-fetch-") for name in headers)
