"""Name prefixes (RFC 6265bis 5.4, layered cookies): what a cookie must satisfy to have one.

Compared without case, because servers may do so. A nameless cookie whose value starts with one would look like a
named one in a Cookie header, and is refused whatever it is.
"""

from __future__ import annotations

__all__ = ["satisfies_prefix"]


def satisfies_prefix(
    name: str, value: str, *, secure: bool, http_only: bool, host_only: bool, path_attribute: str | None
) -> bool:
    """Whether a cookie satisfies the prefix of its name. `path_attribute` is the Path of the line, not the default."""
    start = name or value
    if not start.startswith("__"):
        return True
    start = start[:12].lower()
    prefix = next((known for known in _PREFIXES if start.startswith(known)), None)
    if prefix is None:
        return True
    needs_host, needs_http = _PREFIXES[prefix]
    return (
        bool(name)
        and secure
        and (http_only or not needs_http)
        and ((host_only and path_attribute == "/") or not needs_host)
    )


# prefix: (bound to the host, set by HTTP only). The longer one first: it starts like the shorter one.
_PREFIXES = {
    "__host-http-": (True, True),
    "__host-": (True, False),
    "__http-": (False, True),
    "__secure-": (False, False),
}
