"""The functions and events that grantees may use, as a table. Everything else is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from hatbox.api import granted_arguments as arguments
from hatbox.api import granted_results as results
from hatbox.api.granted_call import GrantedCall
from hatbox.grants.grant import Grant

__all__ = ["GRANTED_EVENTS", "GRANTED_FUNCTIONS", "GRANTED_SCHEMAS", "GrantedEvent", "GrantedFunction"]


class GrantedFunction(NamedTuple):
    """A function that grantees may call."""

    actions: frozenset[str]
    """The grant needs one of them; none needed if it is empty."""
    check_arguments: Callable[[GrantedCall], None]
    """Raises PermissionDenied or ArgumentError."""
    filter_result: Callable[[Grant, Any], Any]


class GrantedEvent(NamedTuple):
    """An event that grantees may observe."""

    actions: frozenset[str]
    filter_arguments: Callable[[Grant, Any, Sequence[Any]], Sequence[Any] | None]
    """Gets the payload and the arguments of the listener. None skips the listener."""
    concerns: Callable[[Any, Sequence[Any]], tuple[str, str]]
    """The identity and the host or URL that the activity log records, from the payload and the arguments."""


_ANY: Final = frozenset[str]()
_SEE_COOKIES: Final = frozenset({"cookies", "cookieValues"})
_WRITE_COOKIES: Final = frozenset({"cookieValues"})
_TABS: Final = frozenset({"tabs"})
_SETTINGS: Final = frozenset({"settings"})

GRANTED_SCHEMAS: Final = frozenset({"contextual_identities_firefox.json", "cookies.json", "tabs.json"})
"""The schema files whose namespaces exist for grantees."""

GRANTED_FUNCTIONS: Final[Mapping[str, GrantedFunction]] = {
    "contextualIdentities.get": GrantedFunction(_ANY, arguments.identity_argument, results.one_identity),
    "contextualIdentities.query": GrantedFunction(_ANY, arguments.any_arguments, results.several_identities),
    "contextualIdentities.getSupportedColors": GrantedFunction(_ANY, arguments.any_arguments, results.unchanged),
    "contextualIdentities.getSupportedIcons": GrantedFunction(_ANY, arguments.any_arguments, results.unchanged),
    "contextualIdentities.update": GrantedFunction(_SETTINGS, arguments.identity_looks, results.one_identity),
    "cookies.get": GrantedFunction(_SEE_COOKIES, arguments.cookie_of_url, results.one_cookie),
    "cookies.getAll": GrantedFunction(_SEE_COOKIES, arguments.cookie_filter, results.several_cookies),
    "cookies.getAllCookieStores": GrantedFunction(_SEE_COOKIES, arguments.any_arguments, results.several_stores),
    "cookies.set": GrantedFunction(_WRITE_COOKIES, arguments.cookie_of_url, results.one_cookie),
    "cookies.remove": GrantedFunction(_WRITE_COOKIES, arguments.cookie_of_url, results.removed_cookie),
    "tabs.query": GrantedFunction(_TABS, arguments.tab_filter, results.several_tabs),
    "tabs.get": GrantedFunction(_TABS, arguments.tab_argument, results.one_tab),
    "tabs.create": GrantedFunction(_TABS, arguments.new_tab, results.one_tab),
    "tabs.update": GrantedFunction(_TABS, arguments.tab_changes, results.one_tab),
    "tabs.reload": GrantedFunction(_TABS, arguments.tab_reload, results.nothing),
    "tabs.remove": GrantedFunction(_TABS, arguments.tabs_argument, results.nothing),
}

GRANTED_EVENTS: Final[Mapping[str, GrantedEvent]] = {
    "contextualIdentities.onUpdated": GrantedEvent(_ANY, results.changed_identity, results.of_identity),
    "cookies.onChanged": GrantedEvent(_SEE_COOKIES, results.changed_cookie, results.of_cookie),
    "tabs.onCreated": GrantedEvent(_TABS, results.created_tab, results.of_tab),
    "tabs.onUpdated": GrantedEvent(_TABS, results.changed_tab, results.of_tab),
    "tabs.onRemoved": GrantedEvent(_TABS, results.closed_tab, results.of_closed_tab),
}
"""Not the events whose payload is the id of a tab only, such as tabs.onActivated: they do not say whose tab it is."""
