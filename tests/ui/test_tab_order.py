"""The order of tabs on the page, their groups and the search."""

from __future__ import annotations

import pytest

from tests.ui.static_modules import value_of

pytestmark = pytest.mark.deno

TABS = """const tab = (id, store, position, title, url = "https://site.example/", windowId = 1, index = 0) =>
  ({id, cookieStoreId: store, position, title, url, windowId, index});
const all = [tab(1, "a", 0, "One"), tab(2, "b", 5, "Two", "https://mail.example/x"), tab(3, "a", 2, "Three"),
  tab(4, "firefox-default", 0, "Four", undefined, 2)];
const names = [{cookieStoreId: "b", name: "Work"}, {cookieStoreId: "a", name: "Home"}, {cookieStoreId: "c", name: "x"}];
const other = {cookieStoreId: "firefox-default", name: "No identity"};
const groups = grouped([...all].sort(byPlace), names, other);
const shown = (groups) => groups.map(({identity, tabs}) => [identity.name, ...tabs.map((tab) => tab.id)]);"""
NAMES = "byPlace, grouped, hostOf, isInPlace, rowsOf, searched, shortAddress"


def test_tabs_are_grouped_by_identity_and_found_by_title_address_and_name() -> None:
    found = value_of(
        "tab_order.js",
        NAMES,
        f"""{TABS} return [shown(groups), shown(searched(groups, " ")), shown(searched(groups, "MAIL")),
        shown(searched(groups, "home three")), shown(searched(groups, "nothing")),
        rowsOf(groups).map((row) => row.key), rowsOf(groups).filter((row) => row.isLast).map((row) => row.tab.id)];""",
    )
    everything = [["Work", 2], ["Home", 1, 3], ["No identity", 4]]
    assert found == [
        everything,
        everything,
        [["Work", 2]],
        [["Home", 3]],
        [],
        ["gb", "t2", "ga", "t1", "t3", "gfirefox-default", "t4"],
        [2, 3, 4],
    ]


def test_a_tab_whose_place_is_not_known_is_noticed() -> None:
    body = f"""{TABS} return [isInPlace({{...all[2], index: 1}}, all), isInPlace({{...all[2], index: 2}}, all),
        isInPlace({{...all[3], index: 0}}, all)];"""
    assert value_of("tab_order.js", NAMES, body) == [True, False, True]


def test_addresses_are_shown_without_their_scheme() -> None:
    urls = '["https://mail.example/inbox", "http://www.a.example:8080/", "about:blank", "data:text/html,x"]'
    assert value_of("tab_order.js", NAMES, f"return {urls}.map((url) => [shortAddress(url), hostOf(url)]);") == [
        ["mail.example/inbox", "mail.example"],
        ["www.a.example:8080/", "a.example"],
        ["", ""],
        ["data:text/html,x", ""],
    ]
