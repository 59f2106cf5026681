"""Path matching (RFC 6265bis, 5.1.4). Pure text: knows nothing of cookies or URLs."""

from __future__ import annotations

__all__ = ["default_path", "path_matches"]


def default_path(request_path: str) -> str:
    """The path of a cookie that names none: the request's directory."""
    if not request_path.startswith("/"):
        return "/"
    return request_path[: request_path.rindex("/")] or "/"


def path_matches(request_path: str, cookie_path: str) -> bool:
    """Whether a request lies at or below a cookie's path, with a `/` where the path ends."""
    if not request_path.startswith(cookie_path):
        return False
    end = len(cookie_path)
    return len(request_path) == end or cookie_path.endswith("/") or request_path[end] == "/"
