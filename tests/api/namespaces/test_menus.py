"""The namespace menus without scripts. tests/conformance compares results with Firefox."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox import ApiError, Profile
from hatbox.api.browser import Browser
from hatbox.api.namespaces.menus import menu_functions
from hatbox.extension_data import menu_clicks, menu_items
from hatbox.extension_data.menu_contexts import MenuContext, is_item_visible, visible_items
from hatbox.extension_data.menu_items import MenuItem, MenuItemId
from hatbox.tabs.tab_model import Tab
from tests.api import ui_actions as pressing
from tests.api.ui_actions import EVENT_PAGE, ID, PAGE, PERSISTENT, browser_of, tab_at

MENUS = "menus"


def in_profile(
    tmp_path: Path, use: Callable[[Profile, Browser], Awaitable[None]], manifest: dict[str, Any] = PERSISTENT
) -> None:
    pressing.in_profile(tmp_path, lambda profile: use(profile, browser_of(profile, manifest, MENUS)))


async def stored_items(profile: Profile) -> dict[MenuItemId, MenuItem]:
    return await profile.store.read(lambda transaction: menu_items.get_all(transaction, ID))


# ------------------------------------------------------------------------------------------------------------ refusals


def test_menus_are_undefined_without_the_permission(tmp_path: Path) -> None:
    async def use(profile: Profile, _: Browser) -> None:
        for permission, there, absent in (
            ("menus", "menus", "contextMenus"),
            ("contextMenus", "contextMenus", "menus"),
        ):
            browser = browser_of(profile, PERSISTENT, permission)
            assert hasattr(browser, there)
            assert not hasattr(browser, absent)

    in_profile(tmp_path, use)


def test_an_id_is_taken_once_and_an_event_page_must_give_one(tmp_path: Path) -> None:
    async def use(profile: Profile, browser: Browser) -> None:
        assert await browser.menus.create({"id": "a"}) == "a"
        with pytest.raises(ApiError, match=r"^ID already exists: a$"):
            await browser.menus.create({"id": "a"})
        page = browser_of(profile, EVENT_PAGE, MENUS)
        with pytest.raises(ApiError, match=r"^The menu id a already exists in menus\.create\.$"):
            await page.menus.create({"id": "a"})
        for properties in ({}, {"id": ""}):
            with pytest.raises(ApiError, match=r"requires an id for non-persistent background scripts\.$"):
                await page.menus.create(properties)

    in_profile(tmp_path, use)


def test_a_rejected_call_changes_nothing(tmp_path: Path) -> None:
    async def use(profile: Profile, browser: Browser) -> None:
        await browser.menus.create({"id": "a", "title": "A"})
        await browser.menus.create({"id": "b", "parentId": "a"})
        before = await stored_items(profile)
        for call, words in (
            (browser.menus.create({"id": "c", "parentId": "none"}), "Cannot find menu item with id none"),
            (browser.menus.create({"id": "c", "documentUrlPatterns": ["foo"]}), "Invalid url pattern: foo"),
            (browser.menus.update("a", {"title": "B", "targetUrlPatterns": ["foo"]}), "Invalid url pattern: foo"),
            (browser.menus.update("a", {"title": "B", "parentId": "none"}), "Cannot find menu item with id none"),
            (
                browser.menus.update("a", {"parentId": "b"}),
                "MenuItem cannot be an ancestor (or self) of its new parent.",
            ),
            (browser.menus.remove("none"), "Cannot find menu item with id none"),
        ):
            with pytest.raises(ApiError) as raised:
                await call
            assert str(raised.value) == words
        assert await stored_items(profile) == before

    in_profile(tmp_path, use)


def test_python_gets_a_hint_to_use_on_clicked_instead_of_onclick(tmp_path: Path) -> None:
    async def use(_: Profile, browser: Browser) -> None:
        with pytest.raises(ApiError, match=r"Add a listener to menus\.onClicked"):
            await browser.menus.create({"id": "a", "onclick": print})

    in_profile(tmp_path, use)


# ------------------------------------------------------------------------------------------------------- functions


def test_ids_that_are_made_are_numbers_and_never_those_that_scripts_make(tmp_path: Path) -> None:
    async def use(profile: Profile, browser: Browser) -> None:
        assert [await browser.menus.create({}) for _ in range(2)] == [-1, -2]
        assert await browser.menus.create({"id": "\0" + "1"}) == 1  # what members/menus.js sends
        assert await browser.menus.create({"id": "1"}) == "1"
        assert list(await stored_items(profile)) == [-1, -2, 1, "1"]

    in_profile(tmp_path, use)


def test_one_below_another_has_its_contexts_unless_it_names_some(tmp_path: Path) -> None:
    async def use(profile: Profile, browser: Browser) -> None:
        await browser.menus.create({"id": "a", "contexts": ["tab", "link"]})
        await browser.menus.create({"id": "b", "parentId": "a"})
        await browser.menus.create({"id": "c", "parentId": "a", "contexts": ["page"]})
        await browser.menus.update("a", {"contexts": ["image"]})
        contexts = [item.contexts for item in (await stored_items(profile)).values()]
        assert contexts == [("image",), ("tab", "link"), ("page",)]

    in_profile(tmp_path, use)


def test_update_changes_what_is_given_and_no_more(tmp_path: Path) -> None:
    async def use(profile: Profile, browser: Browser) -> None:
        await browser.menus.create(
            {"id": "a", "title": "A", "type": "checkbox", "checked": True, "icons": {"16": "a.png"}}
        )
        await browser.menus.update("a", {"title": None, "checked": False, "enabled": False})
        expected = MenuItem(id="a", title="A", type="checkbox", enabled=False, icons={"16": "a.png"})
        assert await stored_items(profile) == {"a": expected}
        await browser.menus.update("a", {"icons": {}})
        assert (await stored_items(profile))["a"].icons is None

    in_profile(tmp_path, use)


def test_remove_takes_all_that_is_below(tmp_path: Path) -> None:
    async def use(profile: Profile, browser: Browser) -> None:
        for properties in ({"id": "a"}, {"id": "b", "parentId": "a"}, {"id": "c", "parentId": "b"}, {"id": "d"}):
            await browser.menus.create(properties)
        await browser.menus.remove("a")
        assert list(await stored_items(profile)) == ["d"]
        other = browser_of(profile, PERSISTENT, MENUS, extension_id="other@example.org")
        await other.menus.create({"id": "a"})
        await browser.menus.removeAll()
        assert await stored_items(profile) == {}
        await other.menus.update("a", {"title": "still there"})

    in_profile(tmp_path, use)


def test_half_a_pair_of_surrogates_is_no_title(tmp_path: Path) -> None:
    async def use(profile: Profile, browser: Browser) -> None:
        await browser.menus.create({"id": "a", "title": "x\ud800"})
        assert (await stored_items(profile))["a"].title == "x�"

    in_profile(tmp_path, use)


TREES = st.lists(
    st.tuples(st.sampled_from(["create", "move", "remove"]), st.integers(0, 5), st.none() | st.integers(0, 5))
)


@given(TREES)
def test_the_tree_has_no_circles_and_no_orphans(steps: list[tuple[str, int, int | None]]) -> None:
    table: dict[str, bytes] = {}

    class Extensions:
        def get(self, _: str, __: str, key: str) -> bytes | None:
            return table.get(key)

        def find(self, *_: str) -> list[tuple[str, str, bytes]]:
            return [(ID, key, value) for key, value in table.items()]

        def put(self, _: str, __: str, key: str, value: bytes) -> None:
            table[key] = value

        def delete(self, _: str, __: str, key: str) -> None:
            table.pop(key, None)

    class Changes:
        def append(self, _: str, __: bytes) -> None:
            pass

    class Transaction:
        extensions = Extensions()
        changes = Changes()

    transaction: Any = Transaction()
    nothing = dict.fromkeys(("id", "icons", "parentId", "contexts", "documentUrlPatterns", "targetUrlPatterns"))
    for step, number, parent in steps:
        parent_id = None if parent is None else str(parent)
        try:
            if step == "create":
                wanted = {**nothing, "id": str(number), "parentId": parent_id}
                menu_functions.create(transaction, ID, wanted, event_page=False)
            elif step == "move":
                menu_functions.update(transaction, ID, str(number), {**nothing, "parentId": parent_id})
            else:
                menu_functions.remove(transaction, ID, str(number))
        except ApiError:
            continue
    every = menu_items.get_all(transaction, ID)
    assert sorted(item.id for item in menu_items.descendants(every, None)) == sorted(every)


# --------------------------------------------------------------------------------------------------- where it is shown

TAB = msgspec.convert(
    {
        **dict.fromkeys(("id", "window_id", "index", "navigation", "last_accessed"), 1),
        **dict.fromkeys(("cookie_store_id", "target", "title", "icon", "muted_by", "content_type", "error"), ""),
        **dict.fromkeys(("active", "pinned", "hidden", "muted", "discardable", "loading", "begun"), False),
        **dict.fromkeys(("opener_id", "successor_id", "http_status")),
        "url": PAGE,
    },
    Tab,
)
IN_PAGE = MenuContext(tab=TAB)
ON_LINK = MenuContext(tab=TAB, link_url="https://link.example/x", link_text="x")
ON_TAB = MenuContext(tab=TAB, ui_context="tab")
ON_BUTTON = MenuContext(tab=TAB, ui_context="browser_action")


@pytest.mark.parametrize(
    ("context", "contexts"),
    [
        (IN_PAGE, ("page", "all")),
        (ON_LINK, ("link", "all")),
        (ON_TAB, ("tab",)),
        (ON_BUTTON, ("browser_action", "all")),
        (MenuContext(tab=TAB, ui_context="tools_menu"), ("tools_menu",)),
        (
            MenuContext(tab=TAB, selection_text="x", link_url="x", src_url="y", media_type="image"),
            ("image", "link", "selection", "all"),
        ),
        (MenuContext(tab=TAB, editable=True, password=True), ("editable", "password", "all")),
    ],
)
def test_contexts_are_what_the_menu_is_opened_on(context: MenuContext, contexts: tuple[str, ...]) -> None:
    assert context.contexts == contexts


@pytest.mark.parametrize(
    ("item", "visible_in"),
    [
        (MenuItem(id="a"), [IN_PAGE, ON_LINK, ON_BUTTON]),
        (MenuItem(id="a", contexts=("page",)), [IN_PAGE]),
        (MenuItem(id="a", contexts=("tab", "link")), [ON_TAB, ON_LINK]),
        (MenuItem(id="a", visible=False), []),
        (MenuItem(id="a", view_types=("tab",)), [IN_PAGE, ON_LINK]),
        (MenuItem(id="a", view_types=("popup",)), []),
        (MenuItem(id="a", document_url_patterns=("https://site.example/*",)), [IN_PAGE, ON_LINK, ON_BUTTON]),
        (MenuItem(id="a", document_url_patterns=("https://other.example/*",)), []),
        (MenuItem(id="a", target_url_patterns=("https://link.example/*",)), [ON_LINK]),
        (MenuItem(id="a", target_url_patterns=("https://site.example/*",)), []),
    ],
)
def test_an_item_is_visible_in_its_contexts(item: MenuItem, visible_in: list[MenuContext]) -> None:
    every = [IN_PAGE, ON_LINK, ON_TAB, ON_BUTTON]
    assert [context for context in every if is_item_visible(context, item)] == [
        context for context in every if context in visible_in
    ]


def test_descendants_of_hidden_items_are_not_visible() -> None:
    every = {
        item.id: item for item in (MenuItem(id="a", visible=False), MenuItem(id="b", parent="a"), MenuItem(id="c"))
    }
    assert [item.id for item in visible_items(IN_PAGE, every)] == ["c"]


# ------------------------------------------------------------------------------------------------------------- clicks


def test_only_adjacent_radio_items_are_unchecked(tmp_path: Path) -> None:
    async def use(profile: Profile, browser: Browser) -> None:
        for name, kind in (("a", "radio"), ("b", "radio"), ("-", "separator"), ("c", "radio"), ("d", "radio")):
            await browser.menus.create({"id": name, "type": kind, "checked": kind == "radio"})
        context = MenuContext(tab=await tab_at(profile))
        for name in ("d", "a"):
            item = (await stored_items(profile))[name]
            await profile.store.write(partial(menu_clicks.click_item, extension=ID, item=item, context=context))
        assert {name for name, item in (await stored_items(profile)).items() if item.checked} == {"a", "d"}

    in_profile(tmp_path, use)


def test_only_the_extension_of_an_item_receives_its_clicks(tmp_path: Path) -> None:
    async def use(profile: Profile, browser: Browser) -> None:
        received: list[Any] = []
        other = browser_of(profile, PERSISTENT, MENUS, extension_id="other@example.org")
        browser.menus.onClicked.addListener(lambda info, tab: received.append(("own", info, tab.get("url"))))
        other.menus.onClicked.addListener(lambda *_: received.append("other"))
        context = MenuContext(tab=await tab_at(profile), link_url="https://link.example/", link_text="text")
        await profile.store.write(lambda each: menu_clicks.click_item(each, ID, MenuItem(id="a", parent="p"), context))
        info = {
            "menuItemId": "a",
            "parentMenuItemId": "p",
            "viewType": "tab",
            "frameId": 0,
            "editable": False,
            "linkText": "text",
            "linkUrl": "https://link.example/",
            "pageUrl": PAGE,
            "modifiers": [],
            "button": 0,
        }
        assert received == [("own", info, None)]

    in_profile(tmp_path, use)


def test_on_shown_has_page_details_only_with_host_access(tmp_path: Path) -> None:
    async def use(profile: Profile, _: Browser) -> None:
        received: list[Any] = []
        context = MenuContext(tab=await tab_at(profile), selection_text="secret")
        for permission in ("tabs", "https://site.example/*", "https://other.example/*"):
            browser = browser_of(profile, PERSISTENT, MENUS, permission, extension_id=permission)

            def listener(info: Any, tab: Any, name: str = permission) -> None:
                received.append((name, info.get("selectionText"), info.get("pageUrl"), tab.get("url")))

            browser.menus.onShown.addListener(listener)
        await profile.store.write(lambda each: menu_clicks.record_shown(each, ID, context))
        assert received == [
            ("tabs", None, None, PAGE),
            ("https://site.example/*", "secret", PAGE, PAGE),
            ("https://other.example/*", None, None, None),
        ]

    in_profile(tmp_path, use)


def test_events_of_an_action_menu_go_to_its_extension_only(tmp_path: Path) -> None:
    async def use(profile: Profile, browser: Browser) -> None:
        received: list[str] = []
        for name, each in (
            ("own", browser),
            ("other", browser_of(profile, PERSISTENT, MENUS, extension_id="o@x")),
        ):
            each.menus.onShown.addListener(lambda *_, name=name: received.append(f"{name} shown"))
            each.menus.onHidden.addListener(lambda name=name: received.append(f"{name} hidden"))
        context = MenuContext(tab=await tab_at(profile), ui_context="browser_action")
        await profile.store.write(lambda each: menu_clicks.record_shown(each, ID, context))
        await profile.store.write(lambda each: menu_clicks.record_hidden(each, ID, context))
        assert received == ["own shown", "own hidden"]

    in_profile(tmp_path, use)


def test_with_active_tab_a_click_shows_the_tab_until_it_has_another_page(tmp_path: Path) -> None:
    async def use(profile: Profile, _: Browser) -> None:
        seen: list[str | None] = []
        browser = browser_of(profile, PERSISTENT, MENUS, "activeTab")
        browser.menus.onClicked.addListener(lambda _, tab: seen.append(tab.get("url")))
        tab = await tab_at(profile)

        async def url() -> str | None:
            return (await browser.tabs.get(tab.id)).get("url")

        assert await url() is None
        await profile.store.write(lambda each: menu_clicks.click_item(each, ID, MenuItem(id="a"), MenuContext(tab=tab)))
        assert seen == [PAGE]
        assert await url() == PAGE
        await profile.tabs.navigate(tab.id, "https://site.example/next")
        assert await url() == PAGE
        await pressing.arrive(profile, await profile.tabs.get(tab.id))
        assert await url() is None

    in_profile(tmp_path, use)
