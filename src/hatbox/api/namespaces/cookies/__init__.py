"""The namespace cookies. Only names and order live here: what the functions do is in `rules`."""

from __future__ import annotations

import asyncio
from typing import Any

from hatbox.api.caller import Caller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.cookies import cookie_functions as rules
from hatbox.api.namespaces.cookies.cookie_views import CookieChangeView, change_info
from hatbox.api.services import Services
from hatbox.cookies.cookie_stores import CookieChange
from hatbox.identities.ids import DEFAULT_STORE, store_user_context_id
from hatbox.schema import NamespaceSchema
from hatbox.urls.match_patterns import HostPermissions

__all__ = ["implement"]


def implement(surface: NamespaceSchema, services: Services) -> Namespace:
    """The implementation of a surface on the cookie stores of a profile."""
    return _Cookies(surface, services)


class _Cookies(Namespace):
    passes_caller = True

    def __init__(self, surface: NamespaceSchema, services: Services) -> None:
        self._stores = services.cookies
        super().__init__(surface, services.store, {"onChanged": EventBinding(services.cookies.on_changed, _told)})

    def get(self, caller: Caller, details: rules.Details) -> asyncio.Future[Any]:
        return self._read("get", rules.get, details, *self._begin(caller, details))

    def get_all(self, caller: Caller, details: rules.Details) -> asyncio.Future[Any]:
        return self._read("getAll", rules.get_all, details, *self._begin(caller, details))

    def set(self, caller: Caller, details: rules.Details) -> asyncio.Future[Any]:
        return self._write("set", rules.set_cookie, details, *self._begin(caller, details))

    def remove(self, caller: Caller, details: rules.Details) -> asyncio.Future[Any]:
        return self._write("remove", rules.remove, details, *self._begin(caller, details))

    def get_all_cookie_stores(self, _: Caller) -> asyncio.Future[Any]:
        return self._read("getAllCookieStores", rules.get_all_cookie_stores)

    def _begin(self, caller: Caller, details: rules.Details) -> tuple[HostPermissions, float]:
        number = store_user_context_id(details["storeId"] or DEFAULT_STORE)
        return caller.hosts, self._stores.prepare_row_access(number or 0)


def _told(caller: Caller, change: CookieChange) -> tuple[CookieChangeView] | None:
    cookie = change.cookie
    if not caller.hosts.allow_cookie(cookie.domain, host_only=cookie.host_only, secure=cookie.secure):
        return None
    return (change_info(change),)
