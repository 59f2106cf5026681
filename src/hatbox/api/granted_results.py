"""Filters of what grantees get: results of calls, and arguments of listeners. Nothing of other identities or hosts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from hatbox.errors import PermissionDenied
from hatbox.grants.grant import Grant

__all__ = [
    "changed_cookie",
    "changed_identity",
    "changed_tab",
    "closed_tab",
    "created_tab",
    "nothing",
    "of_closed_tab",
    "of_cookie",
    "of_identity",
    "of_tab",
    "one_cookie",
    "one_identity",
    "one_tab",
    "removed_cookie",
    "several_cookies",
    "several_identities",
    "several_stores",
    "several_tabs",
    "unchanged",
]

Value: TypeAlias = dict[str, Any]
Arguments: TypeAlias = Sequence[Any] | None
"""The arguments of a listener; None to skip it."""

_NO_TAB = _NO_INDEX = -1


def unchanged(_: Grant, result: Any) -> Any:
    """A result that is the same for all callers."""
    return result


def nothing(_: Grant, __: Any) -> None:
    """For functions without a result."""


# ── Identities ──


def one_identity(grant: Grant, result: Value) -> Value:
    """A contextual identity."""
    if not grant.allows_identity(result["cookieStoreId"]):
        raise PermissionDenied("The grant does not include this identity any more.")
    return result


def several_identities(grant: Grant, result: list[Value]) -> list[Value]:
    """The identities of the grant."""
    return [each for each in result if grant.allows_identity(each["cookieStoreId"])]


def changed_identity(grant: Grant, _: Any, arguments: Sequence[Any]) -> Arguments:
    """(changeInfo)"""
    return arguments if grant.allows_identity(arguments[0]["contextualIdentity"]["cookieStoreId"]) else None


def of_identity(_: Any, arguments: Sequence[Any]) -> tuple[str, str]:
    """The identity of changed_identity."""
    return arguments[0]["contextualIdentity"]["cookieStoreId"], ""


# ── Cookies ──


def one_cookie(grant: Grant, result: Value | None) -> Value | None:
    """A cookie, without its value if the grant does not include values."""
    return _cookie(grant, result) if result is not None else None


def several_cookies(grant: Grant, result: list[Value]) -> list[Value]:
    """The cookies that the grant includes."""
    return [found for each in result if (found := _cookie(grant, each)) is not None]


def removed_cookie(grant: Grant, result: Value | None) -> Value | None:
    """The details of a removed cookie."""
    return result if result is not None and grant.allows_identity(result["storeId"]) else None


def changed_cookie(grant: Grant, _: Any, arguments: Sequence[Any]) -> Arguments:
    """(changeInfo)"""
    cookie = _cookie(grant, arguments[0]["cookie"])
    return None if cookie is None else [{**arguments[0], "cookie": cookie}]


def of_cookie(_: Any, arguments: Sequence[Any]) -> tuple[str, str]:
    """The identity and host of changed_cookie."""
    cookie = arguments[0]["cookie"]
    return cookie["storeId"], cookie["domain"].removeprefix(".")


def several_stores(grant: Grant, result: list[Value]) -> list[Value]:
    """The cookie stores of the grant, with their tabs if it includes tabs."""
    return [
        each if grant.allows("tabs") else {**each, "tabIds": []} for each in result if grant.allows_identity(each["id"])
    ]


def _cookie(grant: Grant, cookie: Value) -> Value | None:
    """A cookie as the grantee sees it; None if its identity, host or top-level site is not in the grant."""
    domain = cookie["domain"].removeprefix(".")
    if not grant.allows_identity(cookie["storeId"]) or not grant.allows_cookie(
        domain, host_only=cookie["hostOnly"], secure=cookie["secure"]
    ):
        return None
    site = (cookie.get("partitionKey") or {}).get("topLevelSite")
    if site and not grant.allows_site(site):
        return None
    return cookie if grant.allows("cookieValues") else {**cookie, "value": ""}


# ── Tabs ──


def one_tab(grant: Grant, result: Value) -> Value:
    """A tab."""
    found = _tab(grant, result)
    if found is None:
        raise PermissionDenied("The grant does not include the identity of this tab any more.")
    return found


def several_tabs(grant: Grant, result: list[Value]) -> list[Value]:
    """The tabs of the grant."""
    return [found for each in result if (found := _tab(grant, each)) is not None]


def created_tab(grant: Grant, _: Any, arguments: Sequence[Any]) -> Arguments:
    """(tab)"""
    tab = _tab(grant, arguments[0])
    return None if tab is None else [tab]


def changed_tab(grant: Grant, _: Any, arguments: Sequence[Any]) -> Arguments:
    """(tabId, changeInfo, tab)"""
    tab_id, info, tab = arguments
    tab = _tab(grant, tab)
    shown = {name: value for name, value in info.items() if name != "openerTabId"}
    if "mutedInfo" in shown:
        shown["mutedInfo"] = {"muted": shown["mutedInfo"]["muted"]}
    return [tab_id, shown, tab] if tab is not None and shown else None


def closed_tab(grant: Grant, payload: Any, arguments: Sequence[Any]) -> Arguments:
    """(tabId, removeInfo)"""
    return arguments if grant.allows_identity(payload.tab.cookie_store_id) else None


def of_tab(_: Any, arguments: Sequence[Any]) -> tuple[str, str]:
    """The identity and the URL of created_tab and changed_tab. The URL is empty if the grantee does not see it."""
    return arguments[-1]["cookieStoreId"], arguments[-1].get("url", "")


def of_closed_tab(payload: Any, _: Sequence[Any]) -> tuple[str, str]:
    """The identity of closed_tab."""
    return payload.tab.cookie_store_id, ""


def _tab(grant: Grant, tab: Value) -> Value | None:
    """A tab as the grantee sees it; None if it is of another identity.

    The caller's host permissions have decided about URL, title and icon. Position, opener and successor refer to tabs
    of other identities, and mutedInfo to extensions.
    """
    if not grant.allows_identity(tab["cookieStoreId"]):
        return None
    shown = {**tab, "index": _NO_INDEX, "successorTabId": _NO_TAB, "mutedInfo": {"muted": tab["mutedInfo"]["muted"]}}
    shown.pop("openerTabId", None)
    return shown
