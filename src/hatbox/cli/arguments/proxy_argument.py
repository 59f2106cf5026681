"""The proxy of one request, as curl spells it with -x. Pure text."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from hatbox.cli.arguments.parameters import bad_parameter
from hatbox.cli.terminal.terminal_text import without_passwords

__all__ = ["parse_proxy_argument"]

_SCHEMES: Final = ("http", "https", "socks5", "socks5h")
_DIRECT: Final = "direct"
_DEFAULT_PORT: Final = 1080  # of curl


def parse_proxy_argument(given: str) -> str:
    """The proxy as a URL with its port, or `direct` for no proxy. Raises BadParameter."""
    if given in ("", _DIRECT):
        return _DIRECT
    url = given if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", given) else f"http://{given}"
    try:
        parts = urlsplit(url)
        port = parts.port or _DEFAULT_PORT
        if parts.scheme in _SCHEMES and parts.hostname and parts.path in ("", "/") and not parts.query:
            user = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
            host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
            return (
                f"{parts.scheme.removesuffix('h') if parts.scheme == 'socks5h' else parts.scheme}://{user}{host}:{port}"
            )
    except ValueError:  # invalid port or IP address
        pass
    problem = f"invalid proxy: {without_passwords(url)}. Use HOST:PORT, or a URL: {', '.join(_SCHEMES)}; direct is none"
    raise bad_parameter(problem, param_hint="--proxy")
