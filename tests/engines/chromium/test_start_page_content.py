"""What the start page of a window contains: its own identity as text, and nothing of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hatbox
from hatbox.cookies.cookie_sites import CookieSite
from hatbox.engines.chromium.start_page.page_content import one_line, read_content
from hatbox.engines.chromium.start_page.start_page import (
    MAX_ADDRESS,
    ChosenTab,
    TypedAddress,
    _read_sites,
    decode_message,
    navigate_blank,
    page_source,
    signed_in_sites,
)
from hatbox.engines.chromium.start_page.typed_verdict import typed_verdict
from hatbox.engines.navigation_rules import CheckedNavigation, NavigationRules
from hatbox.errors import InvalidIdentity
from hatbox.identity.ids import user_context_id_of
from hatbox.identity.palette import COLORS
from hatbox.tabs.opening import open_tab
from tests.store.in_loop import in_loop

WORK, PERSONAL = "firefox-container-2", "firefox-container-1"
NOW = 1_770_000_000.0  # 2 Feb 2026


async def content(profile: hatbox.Profile, store: str = WORK, tab_id: int = 0) -> dict[str, Any]:
    return msgspec.structs.asdict(await profile.tabs.read(lambda each: read_content(each, store, tab_id)))


@in_loop
async def test_it_has_the_tabs_rules_and_settings_of_its_identity_only(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        own = await profile.tabs.open("Work")
        await profile.tabs.open("Work", "https://mail.example/team/inbox?token=1#top")
        await profile.tabs.open("Work")
        await profile.tabs.open("Personal", "https://private.example/")
        await profile.rules.add("*.forge.example", "Work")
        await profile.rules.add("shop.example", ["Work", "Personal"], ask=True)
        await profile.rules.add("private.example", "Personal")
        await profile.identities.set_settings("Work", proxy="socks5://user:hunter2@127.0.0.1:9050", locale="de-DE")
        shown = await content(profile, tab_id=own.id)
        assert shown["identity"]["name"] == "Work"
        assert shown["identity"]["color"] == "#ff9f00"
        assert [(each["title"], each["place"]) for each in shown["tabs"]["shown"]] == [
            ("mail.example/team/inbox?token=1#top", "mail.example/team/inbox"),
            ("New Tab", ""),
        ]
        assert [each["text"] for each in shown["rules"]["shown"]] == ["*.forge.example", "shop.example"]
        assert ("Proxy", "socks5://127.0.0.1:9050") in shown["settings"]
        text = msgspec.json.encode(shown).decode()
        for secret in ("private.example", "Personal", "hunter2"):
            assert secret not in text, secret


@in_loop
async def test_the_default_store_is_no_identity_and_a_removed_one_is_an_error(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        shown = await content(profile, "firefox-default")
        assert shown["identity"]["name"] == "No identity"
        assert shown["identity"]["color"] is None
        await profile.identities.remove(WORK)
        with pytest.raises(InvalidIdentity):
            await content(profile)


@in_loop
async def test_thousands_of_tabs_and_rules_are_cut(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:

        def fill(transaction: Any) -> None:
            for number in range(300):
                open_tab(transaction, f"https://s{number}.example/", cookie_store_id=WORK, active=False)

        await profile.tabs.write(fill)
        tabs = (await content(profile))["tabs"]
        assert len(tabs["shown"]) + tabs["more"] == 300
        assert len(tabs["shown"]) == 100


def test_white_is_written_on_violet_only() -> None:
    from hatbox.engines.chromium.start_page.page_content import face_of
    from hatbox.identity.model import ContextualIdentity

    inks = {each.color: face_of(ContextualIdentity("A", "tree", each.color, WORK)).ink for each in COLORS}
    assert {color for color, ink in inks.items() if ink == "#ffffff"} == {"violet"}


@given(st.text(max_size=2_000))
def test_any_text_is_one_short_line(text: str) -> None:
    shown = one_line(text, 50)
    assert len(shown) <= 50
    assert shown.isprintable()


# ------------------------------------------------------------------------------------------------------------ signed in


def site(host: str, since: float | None = NOW - 86_400) -> CookieSite:
    return CookieSite(host, 1, since, NOW)


def test_sites_are_listed_by_name_without_values() -> None:
    shown = signed_in_sites([site("b.example"), site("a.example"), site("c.example", None)], NOW)
    assert shown["line"] == "Signed in on 2 sites."
    assert [each["host"] for each in shown["shown"]] == ["a.example", "b.example"]
    assert signed_in_sites([], NOW)["line"] == "Signed in nowhere."
    many = signed_in_sites([site(f"s{number}.example") for number in range(500)], NOW)
    assert (len(many["shown"]), many["more"]) == (20, 480)


@in_loop
async def test_hosts_of_one_site_are_one_site_as_on_the_card_of_the_identity(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        identity = await profile.identities.create("Signed in")
        store = await profile.cookie_store(identity)
        for host in ("site.example", "accounts.site.example"):
            await store.receive(["sid=secret; HttpOnly"], f"https://{host}/")
        number = user_context_id_of(identity.cookie_store_id) or 0
        shown = await profile.store.read(lambda each: _read_sites(each, number, profile.store.time()))
        assert [each["host"] for each in shown["shown"]] == ["site.example"]
        [card] = await profile.browser(["hatbox"]).hatbox.identities.summaries([identity.cookie_store_id])
        assert card["hosts"] == ["site.example"]
        assert "secret" not in str(shown)


# ----------------------------------------------------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    ("typed", "title", "action"),
    [
        ("forge.example", "Opens here, as Work", "stay"),
        ("https://unknown.example/", "Opens here, as Work", "stay"),
        ("mail.example", "Opens in Personal instead", "reopened"),
        ("shop.example", "Asks: Personal or Banking", "blocked"),
    ],
)
@in_loop
async def test_an_address_opens_where_the_page_says(tmp_path: Path, typed: str, title: str, action: str) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile, profile.http_engine():
        await profile.rules.add("forge.example", "Work")
        await profile.rules.add("mail.example", "Personal")
        await profile.rules.add("shop.example", ["Personal", "Banking"], ask=True)
        tab = await profile.tabs.open("Work")
        store = profile.store
        rules = NavigationRules(store, profile.rules)
        verdict = await typed_verdict(store, rules, WORK, typed)
        assert verdict["title"] == title
        url = typed if typed.startswith("https") else f"https://{typed}/"
        navigation = CheckedNavigation(tab_id=tab.id, cookie_store_id=WORK, url=url, navigation_id=2)
        assert (await rules.check(navigation)).action == action


@in_loop
async def test_a_limited_identity_opens_nothing_else(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        await profile.rules.add("bank.example", "Work", limit=True)
        await profile.rules.add("mail.example", "Personal")
        rules = NavigationRules(profile.store, profile.rules)
        titles = [
            (await typed_verdict(profile.store, rules, WORK, each))["title"]
            for each in ("bank.example", "news.example", "mail.example")
        ]
        assert titles == [
            "Opens here, as Work",
            "Work opens only addresses that have a rule",
            "Work opens only addresses of its own rules",
        ]
        nowhere = await typed_verdict(profile.store, rules, "firefox-default", "news.example")
        assert nowhere["title"] == "Opens here, in no identity"


@pytest.mark.parametrize(
    "typed", ["two words", "javascript:alert(1)", "about:config", "http://", "/etc/passwd", "a\x00b"]
)
@in_loop
async def test_what_is_no_address_is_an_error_with_an_example(tmp_path: Path, typed: str) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        verdict = await typed_verdict(profile.store, NavigationRules(profile.store, profile.rules), WORK, typed)
        assert verdict["error"].startswith("This is not an address: ")
        assert verdict["error"].endswith(" Try forge.example or https://forge.example/")


@in_loop
async def test_rules_apply_to_the_first_address_of_a_tab_that_an_extension_opened(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        blank = await profile.tabs.write(lambda each: open_tab(each, cookie_store_id=WORK))
        await profile.tabs.write(lambda each: navigate_blank(each, blank.id, "https://mail.example/"))
        tab = await profile.tabs.get(blank.id)
        assert tab.pending_url == "https://mail.example/"
        assert tab.navigation_id > 1  # the first navigation stays in the identity that was named for the tab


# ------------------------------------------------------------------------------------------------------------- messages


def test_messages_are_checked() -> None:
    assert decode_message('{"kind": "activate", "key": 3}') == ChosenTab(3)
    address = TypedAddress(1, "x", is_entered=True)
    assert decode_message('{"kind": "address", "number": 1, "text": "x", "isEntered": true}') == address
    for wrong in (
        '{"kind": "activate", "key": "3"}',
        '{"kind": "remove", "key": 3}',
        '{"kind": "address", "number": 1, "text": "%s", "isEntered": true}' % ("x" * (MAX_ADDRESS + 1)),
        "[]",
    ):
        with pytest.raises(msgspec.ValidationError):
            decode_message(wrong)


def test_the_script_of_the_page_is_small_and_contains_no_markup() -> None:
    source = page_source()
    assert len(source) < 40_000
    for forbidden in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "DOMParser", "eval("):
        assert forbidden not in source
