"""The HTTP side of an endpoint: which requests are allowed, and what their paths name. Pure text."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

__all__ = ["EndpointPath", "is_allowed_host", "is_allowed_origin", "parse_path"]

_DEVTOOLS: Final = "devtools://devtools"
_MAX_TOKEN: Final = 200


class EndpointPath(NamedTuple):
    """What a request is for. The token is a secret: it must not be logged."""

    token: str
    what: Literal["browser", "page", "version", "list"]
    page_id: str = ""

    def __repr__(self) -> str:
        return f"EndpointPath({self.what})"


def parse_path(path: str) -> EndpointPath | None:
    """The parts of a path: /TOKEN, /TOKEN/json/version, /TOKEN/json/list, /TOKEN/page/TARGET."""
    match path.partition("?")[0].strip("/").split("/"):
        case [token, *_] if not token or len(token) > _MAX_TOKEN:
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
    """Whether a Host header names this server. A web page reaches it under a name of its own (DNS rebinding)."""
    return host in (f"127.0.0.1:{port}", f"localhost:{port}")


def is_allowed_origin(origin: str | None) -> bool:
    """Whether an Origin header is absent or that of DevTools. Web pages have others."""
    return origin is None or origin == _DEVTOOLS
