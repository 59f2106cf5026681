"""The search of the Identities screen: names, sites and ids, without case and accents."""

from __future__ import annotations

import json

import pytest

from tests.ui.static_modules import value_of

pytestmark = pytest.mark.deno

IDENTITIES = """const all = [
    {cookieStoreId: "firefox-container-1", name: "Café", hosts: ["mail.example"], hidden: false},
    {cookieStoreId: "firefox-container-12", name: "WORK", hosts: ["forge.example"], hidden: true},
];"""


def test_a_search_finds_names_sites_and_ids() -> None:
    searches = {
        ("", "all"): ["Café", "WORK"],
        ("cafe", "all"): ["Café"],
        (" work ", "all"): ["WORK"],
        ("Forge", "all"): ["WORK"],
        ("12", "all"): ["WORK"],
        ("firefox-container-1", "all"): ["Café"],
        ("", "hidden"): ["WORK"],
        ("", "shown"): ["Café"],
        ("work", "shown"): [],
    }
    body = f"return {json.dumps(list(searches))}.map((each) => matching(all, ...each).map(({{name}}) => name));"
    assert value_of("identity_search.js", "matching", IDENTITIES + body) == list(searches.values())
