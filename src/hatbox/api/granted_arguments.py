"""Checks of the arguments of grantees. They replace arguments: a call concerns the identities of the grant only.

Options that would reveal or change something of other identities, such as the position of a tab, are refused.
"""

from __future__ import annotations

from typing import Any, Final

from hatbox.api.granted_call import GrantedCall
from hatbox.errors import ArgumentError

__all__ = [
    "any_arguments",
    "cookie_filter",
    "cookie_of_url",
    "identity_argument",
    "identity_looks",
    "new_tab",
    "tab_argument",
    "tab_changes",
    "tab_filter",
    "tab_reload",
    "tabs_argument",
]

_BLANK: Final = "about:blank"
_MAX_TABS: Final = 1000

_LOOKS: Final = frozenset({"color", "icon"})
_COOKIE: Final = frozenset({"url", "name", "storeId", "firstPartyDomain", "partitionKey"})
_NEW_COOKIE: Final = _COOKIE | {"value", "domain", "path", "secure", "httpOnly", "sameSite", "expirationDate"}
_COOKIES: Final = _COOKIE | {"domain", "path", "secure", "session"}
_NEW_TAB: Final = frozenset({"url", "active", "cookieStoreId", "discarded", "title", "muted"})
_TAB_CHANGES: Final = frozenset({"url", "active", "muted", "autoDiscardable", "loadReplace"})
_TAB_STATES: Final = frozenset(
    {"active", "audible", "autoDiscardable", "discarded", "hidden", "muted", "pinned", "status"}
)
_TAB_WINDOWS: Final = frozenset({"currentWindow", "lastFocusedWindow", "windowId", "windowType"})
_TAB_FILTERS: Final = _TAB_STATES | _TAB_WINDOWS | {"cookieStoreId", "title", "url"}


def any_arguments(_: GrantedCall) -> None:
    """For functions whose arguments name nothing: the result is filtered."""


def identity_argument(call: GrantedCall) -> None:
    """(cookieStoreId, …)"""
    call.values[0] = call.require_identity(call.values[0], "cookieStoreId")


def identity_looks(call: GrantedCall) -> None:
    """(cookieStoreId, details): no name, because names select identities in commands."""
    identity_argument(call)
    call.details(1, _LOOKS)


def cookie_of_url(call: GrantedCall) -> None:
    """(details) of one cookie. The host of its URL must be allowed."""
    details = call.details(0, _NEW_COOKIE)
    details["storeId"] = call.require_identity(details["storeId"], "storeId")
    details["url"] = call.require_url(details["url"], "url")
    _check_partition(call, details["partitionKey"])


def cookie_filter(call: GrantedCall) -> None:
    """(details) of many cookies. Only cookies of allowed hosts are found."""
    details = call.details(0, _COOKIES)
    details["storeId"] = call.require_identity(details["storeId"], "storeId")
    if details["url"] is not None:
        details["url"] = call.require_url(details["url"], "url")
    _check_partition(call, details["partitionKey"])


def tab_filter(call: GrantedCall) -> None:
    """(queryInfo): limited to the tabs of the identities."""
    details = call.details(0, _TAB_FILTERS)
    stores = details["cookieStoreId"]
    wanted = call.grant.identities if stores is None else [stores] if isinstance(stores, str) else stores
    details["cookieStoreId"] = [call.require_identity(each, "cookieStoreId") for each in wanted]
    if len(details["cookieStoreId"]) != 1:
        call.identity = None


def tab_argument(call: GrantedCall) -> None:
    """(tabId, …): required, because the active tab may be any."""
    if call.values[0] is None:
        raise ArgumentError(f"{call.path}: tabId is required. List the tabs of the grant with tabs.query.")
    call.tab_ids = [call.values[0]]


def tabs_argument(call: GrantedCall) -> None:
    """(tabIds)"""
    tab_ids = call.values[0]
    call.tab_ids = [tab_ids] if isinstance(tab_ids, int) else list(tab_ids)
    if len(call.tab_ids) > _MAX_TABS:
        raise ArgumentError(f"{call.path}: at most {_MAX_TABS} tabs in one call, not {len(call.tab_ids)}.")
    call.values[0] = list(call.tab_ids)


def tab_changes(call: GrantedCall) -> None:
    """(tabId, updateProperties)"""
    tab_argument(call)
    _check_page(call, call.details(1, _TAB_CHANGES))


def tab_reload(call: GrantedCall) -> None:
    """(tabId, reloadProperties). Rules are checked here: for an engine, a reload stays in its identity."""
    tab_argument(call)
    call.opens_url = True
    if call.values[1] is not None:
        call.details(1, frozenset({"bypassCache"}))


def new_tab(call: GrantedCall) -> None:
    """(createProperties). Without `active`, the new tab does not cover what the user sees."""
    details = call.details(0, _NEW_TAB)
    details["cookieStoreId"] = call.require_identity(details["cookieStoreId"], "cookieStoreId")
    details["active"] = bool(details["active"])
    details["url"] = _BLANK if details["url"] is None else details["url"]  # the default may be an extension's page
    _check_page(call, details)


def _check_page(call: GrantedCall, details: dict[str, Any]) -> None:
    if details["url"] is not None and details["url"] != _BLANK:
        details["url"] = call.require_url(details["url"], "url")
        call.opens_url = True


def _check_partition(call: GrantedCall, partition: dict[str, object] | None) -> None:
    """Check the host of the top-level site. An empty site selects cookies without a partition."""
    site = None if partition is None else partition["topLevelSite"]
    if isinstance(site, str) and site:
        call.require_site(site, "partitionKey.topLevelSite")
