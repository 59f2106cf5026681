"""What a caller may wish for a new tab: a URL, a cookie store. The words are Firefox's."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urljoin, urlsplit

from hatbox.api.namespaces.tabs.tab_access import TabAccess
from hatbox.errors import ApiError
from hatbox.identities.ids import DEFAULT_STORE, store_user_context_id
from hatbox.store.base import Transaction
from hatbox.tabs.tab_model import is_blank
from hatbox.urls.url import parse_url

__all__ = ["resolve_cookie_store", "resolve_tab_url"]

_PRIVATE_STORE: Final = "firefox-private"
_CONTAINER: Final = "firefox-container-"
_EXTENSION: Final = "moz-extension"
_ITS_SCHEME: Final = re.compile(r"\s*moz-extension:", re.IGNORECASE)


def resolve_tab_url(text: str, asker: TabAccess) -> str:
    """A URL that a tab may load, as browsers write it: a page of the web, one of the caller's own, or the blank one."""
    url = parse_url(text)
    if url is not None and (url.scheme in ("http", "https") or is_blank(url.text)):
        return url.text
    own = _own_page(text, asker.page) if url is None or url.scheme == _EXTENSION else None
    if own is None:
        raise ApiError(f"Illegal URL: {text}")
    return own


def _own_page(text: str, page: str) -> str | None:
    """The page of an extension that a URL means, as seen from its page `page`; None if it means nothing in it."""
    if not page.startswith(f"{_EXTENSION}:"):
        return None
    # As if it were one of the web, which has the same parts.
    here = "https:" + page.partition(":")[2]
    try:
        there = parse_url(_ITS_SCHEME.sub("https:", text) if _ITS_SCHEME.match(text) else urljoin(here, text.strip()))
    except ValueError:  # brackets that hold no address
        return None
    if there is None or f"{there.host}{there.port_suffix}" != urlsplit(here).netloc:
        return None
    return there._replace(scheme=_EXTENSION).text


def resolve_cookie_store(transaction: Transaction, cookie_store_id: str | None, asker: TabAccess) -> str:
    """The cookie store that a caller wishes for a new tab, the default one if it does not say."""
    if not cookie_store_id:
        return DEFAULT_STORE
    if not asker.has_cookies_permission:
        raise ApiError(f"No permission for cookieStoreId: {cookie_store_id}")
    if cookie_store_id == DEFAULT_STORE:
        return DEFAULT_STORE
    if cookie_store_id == _PRIVATE_STORE:
        raise ApiError("Illegal to set private cookieStoreId in a non-private window")
    if not cookie_store_id.startswith(_CONTAINER):
        raise ApiError(f"Illegal cookieStoreId: {cookie_store_id}")
    number = store_user_context_id(cookie_store_id)
    if number is None or transaction.identities.get(number) is None:
        raise ApiError(f"No cookie store exists with ID {cookie_store_id}")
    return cookie_store_id
