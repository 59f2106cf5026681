"""The namespace cookies."""

from __future__ import annotations

import asyncio
from typing import Any

from hatbox.api.caller import Caller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.cookies import cookie_functions
from hatbox.api.namespaces.cookies.cookie_functions import Details
from hatbox.api.namespaces.cookies.cookie_views import CookieChangeView, change_info
from hatbox.api.services import Services
from hatbox.cookies.cookie_stores import CookieChange
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, user_context_id_of
from hatbox.schema import NamespaceSchema
from hatbox.urls.match_patterns import HostPermissions
from hatbox.urls.protected_pages import is_protected_cookie

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the cookie stores of a profile."""
    return _Cookies(schema, services)


class _Cookies(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        self._stores = services.cookies
        events = {"onChanged": EventBinding(services.cookies.on_changed, _changed_args)}
        super().__init__(schema, services.store, events)

    def get(self, caller: Caller, details: Details) -> asyncio.Future[Any]:
        return self._read("get", cookie_functions.get, details, *self._access(caller, details))

    def get_all(self, caller: Caller, details: Details) -> asyncio.Future[Any]:
        return self._read("getAll", cookie_functions.get_all, details, *self._access(caller, details))

    def set(self, caller: Caller, details: Details) -> asyncio.Future[Any]:
        return self._write("set", cookie_functions.set_cookie, details, *self._access(caller, details))

    def remove(self, caller: Caller, details: Details) -> asyncio.Future[Any]:
        return self._write("remove", cookie_functions.remove, details, *self._access(caller, details))

    def get_all_cookie_stores(self, _: Caller) -> asyncio.Future[Any]:
        return self._read("getAllCookieStores", cookie_functions.get_all_cookie_stores)

    def _access(self, caller: Caller, details: Details) -> tuple[HostPermissions, float]:
        user_context_id = user_context_id_of(details["storeId"] or DEFAULT_COOKIE_STORE_ID)
        return caller.hosts, self._stores.prepare_row_access(user_context_id or 0)


def _changed_args(caller: Caller, change: CookieChange) -> tuple[CookieChangeView] | None:
    cookie = change.cookie
    if is_protected_cookie(cookie.name, cookie.domain):
        return None
    if not caller.hosts.allow_cookie(cookie.domain, host_only=cookie.host_only, secure=cookie.secure):
        return None
    return (change_info(change),)
