"""Path matching (RFC 6265bis, 5.1.4). Pure text: knows nothing of cookies or URLs."""

from __future__ import annotations

__all__ = ["default_path", "path_matches"]


def default_path(request_path: str) -> str:
    """The default path of a cookie: the directory of the request."""
    if not request_path.startswith("/"):
        return "/"
    return request_path[: request_path.rindex("/")] or "/"


def path_matches(request_path: str, cookie_path: str) -> bool:
    """Whether a request path equals a cookie's path or is below it."""
    if not request_path.startswith(cookie_path):
        return False
    end = len(cookie_path)
    return len(request_path) == end or cookie_path.endswith("/") or request_path[end] == "/"
