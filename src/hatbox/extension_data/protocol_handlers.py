"""The URL schemes that running extensions handle (protocol_handlers of manifests), such as `ext+container`.

Transaction functions. A link is opened by the page that the manifest names, with the link in place of the first `%s`.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from hatbox.extension_data import run_records
from hatbox.javascript.text import well_formed
from hatbox.store.base import Transaction
from hatbox.urls.url import Url, parse_url

__all__ = ["MAX_LINK_LENGTH", "handled_url", "is_handled_scheme"]

MAX_LINK_LENGTH: Final = 65_536
"""Longer links are not handled."""

_OWN_SCHEMES: Final = frozenset({"http", "https", "about", "moz-extension"})
_IN_PATH: Final = "".join(map(chr, range(0x20, 0x7F)))
_IN_QUERY: Final = _IN_PATH.translate(str.maketrans("", "", ' "<>'))
_IN_FRAGMENT: Final = _IN_QUERY.translate(str.maketrans("", "", "`"))
_UNESCAPED: Final = "-_.!~*'()"  # by encodeURIComponent(), besides letters and digits


def is_handled_scheme(scheme: str) -> bool:
    """Whether extensions may handle a scheme at all: then it costs a query to find out."""
    return scheme not in _OWN_SCHEMES


def handled_url(transaction: Transaction, link: str) -> str | None:
    """The page that opens a link: of the running extension that started first; None if no extension handles it."""
    parsed = parse_url(link) if len(link) <= MAX_LINK_LENGTH else None
    if parsed is None or not is_handled_scheme(parsed.scheme):
        return None
    for running in run_records.get_all(transaction):
        for handler in running.manifest.get("protocol_handlers") or ():
            if (template := _template(handler, parsed.scheme)) is not None:
                return template.replace("%s", quote(_serialized(parsed), safe=_UNESCAPED), 1)
    return None


def _serialized(link: Url) -> str:
    """The link as the URL standard serializes it: other characters are percent-encoded in each part."""
    path, mark, fragment = well_formed(link.path).partition("#")
    path, question_mark, query = path.partition("?")
    query, fragment = quote(query, safe=_IN_QUERY), quote(fragment, safe=_IN_FRAGMENT)
    return f"{link.scheme}:{quote(path, safe=_IN_PATH)}{question_mark}{query}{mark}{fragment}"


def _template(handler: Any, scheme: str) -> str | None:
    """The template of a handler in a stored manifest, if it is for this scheme."""
    match handler:
        case {"protocol": str(protocol), "uriTemplate": str(template)} if protocol == scheme:
            return template
    return None
