"""What a caller may wish for a new tab: a URL, a cookie store. The words are Firefox's."""

from __future__ import annotations

from typing import Final

from hatbox.api.tabs.asker import Asker
from hatbox.api.urls import parse_url
from hatbox.cookie_store_ids import DEFAULT_STORE, store_number
from hatbox.errors import ApiError
from hatbox.store.base import Transaction
from hatbox.tabs.model import BLANK

__all__ = ["legal_url", "wished_store"]

_PRIVATE_STORE: Final = "firefox-private"
_CONTAINER: Final = "firefox-container-"


def legal_url(text: str) -> str:
    """A URL that a tab may load, as browsers write it: a page of the web, or the blank one."""
    url = parse_url(text)
    if url is None or not (url.scheme in ("http", "https") or url.text == BLANK):
        raise ApiError(f"Illegal URL: {text}")
    return url.text


def wished_store(transaction: Transaction, cookie_store_id: str | None, asker: Asker) -> str:
    """The cookie store that a caller wishes for a new tab, the default one if it does not say."""
    if not cookie_store_id:
        return DEFAULT_STORE
    if not asker.chooses_stores:
        raise ApiError(f"No permission for cookieStoreId: {cookie_store_id}")
    if cookie_store_id == DEFAULT_STORE:
        return DEFAULT_STORE
    if cookie_store_id == _PRIVATE_STORE:
        raise ApiError("Illegal to set private cookieStoreId in a non-private window")
    if not cookie_store_id.startswith(_CONTAINER):
        raise ApiError(f"Illegal cookieStoreId: {cookie_store_id}")
    number = store_number(cookie_store_id)
    if number is None or transaction.identities.get(number) is None:
        raise ApiError(f"No cookie store exists with ID {cookie_store_id}")
    return cookie_store_id
