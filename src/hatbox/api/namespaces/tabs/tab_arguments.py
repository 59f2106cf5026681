"""Arguments for new tabs: URL and cookieStoreId. Error messages match Firefox."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urljoin, urlsplit

from hatbox.api.namespaces.tabs.tab_access import TabAccess
from hatbox.errors import ApiError
from hatbox.extension_data.protocol_handlers import handled_url, is_handled_scheme
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, user_context_id_of
from hatbox.store.base import Transaction
from hatbox.tabs.tab_model import is_blank
from hatbox.urls.protected_pages import is_protected_page
from hatbox.urls.url import parse_url

__all__ = ["resolve_cookie_store", "resolve_tab_url"]

_PRIVATE_STORE: Final = "firefox-private"
_CONTAINER: Final = "firefox-container-"
_EXTENSION: Final = "moz-extension"
_EXTENSION_SCHEME: Final = re.compile(r"\s*moz-extension:", re.IGNORECASE)


def resolve_tab_url(text: str, access: TabAccess, transaction: Transaction | None = None) -> str:
    """Resolve a URL that a tab may load. Raises ApiError.

    Allowed are http, https, a page of the extension, about:blank and, with `transaction`, links that a running
    extension handles. Not the manager page: a server on another port would get its cookie.
    """
    url = parse_url(text)
    if url is not None and (url.scheme in ("http", "https") or is_blank(url.text)) and not is_protected_page(url):
        return url.text
    if transaction is not None and url is not None and is_handled_scheme(url.scheme):
        handler = handled_url(transaction, text)
        if handler is not None:
            return handler
    own = _own_page(text, access.page) if url is None or url.scheme == _EXTENSION else None
    if own is None:
        raise ApiError(f"Illegal URL: {text}")
    return own


def _own_page(text: str, page: str) -> str | None:
    """Resolve a URL relative to the extension page `page`; None if it is not in the extension."""
    if not page.startswith(f"{_EXTENSION}:"):
        return None
    # As https, because urljoin() does not know the scheme moz-extension.
    base = "https:" + page.partition(":")[2]
    is_absolute = _EXTENSION_SCHEME.match(text)
    try:
        url = parse_url(_EXTENSION_SCHEME.sub("https:", text) if is_absolute else urljoin(base, text.strip()))
    except ValueError:  # invalid IPv6 brackets
        return None
    if url is None or f"{url.host}{url.port_suffix}" != urlsplit(base).netloc:
        return None
    return url._replace(scheme=_EXTENSION).text


def resolve_cookie_store(transaction: Transaction, cookie_store_id: str | None, access: TabAccess) -> str | None:
    """The cookie store that the caller names for a new tab; None without an argument. Raises ApiError."""
    if not cookie_store_id:
        return None
    if not access.has_cookies_permission:
        raise ApiError(f"No permission for cookieStoreId: {cookie_store_id}")
    if cookie_store_id == DEFAULT_COOKIE_STORE_ID:
        return DEFAULT_COOKIE_STORE_ID
    if cookie_store_id == _PRIVATE_STORE:
        raise ApiError("Illegal to set private cookieStoreId in a non-private window")
    if not cookie_store_id.startswith(_CONTAINER):
        raise ApiError(f"Illegal cookieStoreId: {cookie_store_id}")
    user_context_id = user_context_id_of(cookie_store_id)
    if user_context_id is None or transaction.identities.get(user_context_id) is None:
        raise ApiError(f"No cookie store exists with ID {cookie_store_id}")
    return cookie_store_id
