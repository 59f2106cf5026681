"""menus without any script: what is kept, refused and told. What Firefox answers is compared in tests/conformance."""

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


async def kept(profile: Profile) -> dict[MenuItemId, MenuItem]:
    return await profile._store.read(lambda transaction: menu_items.get_all(transaction, ID))


# ------------------------------------------------------------------------------------------------------------ refusals


def test_without_the_permission_there_are_no_menus(tmp_path: Path) -> None:
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


def test_what_is_refused_leaves_nothing_behind(tmp_path: Path) -> None:
    async def use(profile: Profile, browser: Browser) -> None:
        await browser.menus.create({"id": "a", "title": "A"})
        await browser.menus.create({"id": "b", "parentId": "a"})
        before = await kept(profile)
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
            with pytest.raises(ApiError) as refused:
                await call
            assert str(refused.value) == words
        assert await kept(profile) == before

    in_profile(tmp_path, use)


def test_python_is_told_to_listen_in_the_place_of_onclick(tmp_path: Path) -> None:
    async def use(_: Profile, browser: Browser) -> None:
        with pytest.raises(ApiError, match=r"Add a listener to menus\.onClicked"):
            await browser.menus.create({"id": "a", "onclick": print})

    in_profile(tmp_path, use)


# --------------------------------------------------------------------------------------------------------------- rules


def test_ids_that_are_made_are_numbers_and_never_those_that_scripts_make(tmp_path: Path) -> None:
    async def use(profile: Profile, browser: Browser) -> None:
        assert [await browser.menus.create({}) for _ in range(2)] == [-1, -2]
        assert await browser.menus.create({"id": "\0" + "1"}) == 1  # what members/menus.js sends
        assert await browser.menus.create({"id": "1"}) == "1"
        assert list(await kept(profile)) == [-1, -2, 1, "1"]

    in_profile(tmp_path, use)


def test_one_below_another_has_its_contexts_unless_it_names_some(tmp_path: Path) -> None:
    async def use(profile: Profile, browser: Browser) -> None:
        await browser.menus.create({"id": "a", "contexts": ["tab", "link"]})
        await browser.menus.create({"id": "b", "parentId": "a"})
        await browser.menus.create({"id": "c", "parentId": "a", "contexts": ["page"]})
        await browser.menus.update("a", {"contexts": ["image"]})
        assert [item.contexts for item in (await kept(profile)).values()] == [("image",), ("tab", "link"), ("page",)]

    in_profile(tmp_path, use)


def test_update_changes_what_is_given_and_no_more(tmp_path: Path) -> None:
    async def use(profile: Profile, browser: Browser) -> None:
        await browser.menus.create(
            {"id": "a", "title": "A", "type": "checkbox", "checked": True, "icons": {"16": "a.png"}}
        )
        await browser.menus.update("a", {"title": None, "checked": False, "enabled": False})
        expected = MenuItem(id="a", title="A", type="checkbox", enabled=False, icons={"16": "a.png"})
        assert await kept(profile) == {"a": expected}
        await browser.menus.update("a", {"icons": {}})
        assert (await kept(profile))["a"].icons is None

    in_profile(tmp_path, use)


def test_remove_takes_all_that_is_below(tmp_path: Path) -> None:
    async def use(profile: Profile, browser: Browser) -> None:
        for properties in ({"id": "a"}, {"id": "b", "parentId": "a"}, {"id": "c", "parentId": "b"}, {"id": "d"}):
            await browser.menus.create(properties)
        await browser.menus.remove("a")
        assert list(await kept(profile)) == ["d"]
        other = browser_of(profile, PERSISTENT, MENUS, extension_id="other@example.org")
        await other.menus.create({"id": "a"})
        await browser.menus.removeAll()
        assert await kept(profile) == {}
        await other.menus.update("a", {"title": "still there"})

    in_profile(tmp_path, use)


def test_half_a_pair_of_surrogates_is_no_title(tmp_path: Path) -> None:
    async def use(profile: Profile, browser: Browser) -> None:
        await browser.menus.create({"id": "a", "title": "x\ud800"})
        assert (await kept(profile))["a"].title == "x�"

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

    class Transaction:
        extensions = Extensions()

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
        **dict.fromkeys(("id", "window_id", "index", "navigation_id", "last_accessed"), 1),
        **dict.fromkeys(("cookie_store_id", "pending_url", "title", "icon", "muted_by", "content_type", "error"), ""),
        **dict.fromkeys(("active", "pinned", "hidden", "muted", "discardable", "loading", "started"), False),
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
def test_an_item_is_shown_where_it_says(item: MenuItem, visible_in: list[MenuContext]) -> None:
    every = [IN_PAGE, ON_LINK, ON_TAB, ON_BUTTON]
    assert [context for context in every if is_item_visible(context, item)] == [
        context for context in every if context in visible_in
    ]


def test_what_is_below_something_hidden_is_not_shown() -> None:
    every = {
        item.id: item for item in (MenuItem(id="a", visible=False), MenuItem(id="b", parent="a"), MenuItem(id="c"))
    }
    assert [item.id for item in visible_items(IN_PAGE, every)] == ["c"]


# ------------------------------------------------------------------------------------------------------------- clicks


def test_of_radio_items_only_those_that_stand_together_are_unchecked(tmp_path: Path) -> None:
    async def use(profile: Profile, browser: Browser) -> None:
        for name, kind in (("a", "radio"), ("b", "radio"), ("-", "separator"), ("c", "radio"), ("d", "radio")):
            await browser.menus.create({"id": name, "type": kind, "checked": kind == "radio"})
        context = MenuContext(tab=await tab_at(profile))
        for name in ("d", "a"):
            item = (await kept(profile))[name]
            await profile._store.write(partial(menu_clicks.click_item, extension=ID, item=item, context=context))
        assert {name for name, item in (await kept(profile)).items() if item.checked} == {"a", "d"}

    in_profile(tmp_path, use)


def test_only_the_extension_whose_item_it_is_hears_of_a_click(tmp_path: Path) -> None:
    async def use(profile: Profile, browser: Browser) -> None:
        heard: list[Any] = []
        other = browser_of(profile, PERSISTENT, MENUS, extension_id="other@example.org")
        browser.menus.onClicked.addListener(lambda info, tab: heard.append(("own", info, tab.get("url"))))
        other.menus.onClicked.addListener(lambda *_: heard.append("other"))
        context = MenuContext(tab=await tab_at(profile), link_url="https://link.example/", link_text="text")
        await profile._store.write(lambda each: menu_clicks.click_item(each, ID, MenuItem(id="a", parent="p"), context))
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
        assert heard == [("own", info, None)]

    in_profile(tmp_path, use)


def test_only_who_may_see_the_page_is_told_of_it_when_a_menu_opens(tmp_path: Path) -> None:
    async def use(profile: Profile, _: Browser) -> None:
        heard: list[Any] = []
        context = MenuContext(tab=await tab_at(profile), selection_text="secret")
        for permission in ("tabs", "https://site.example/*", "https://other.example/*"):
            browser = browser_of(profile, PERSISTENT, MENUS, permission, extension_id=permission)

            def listener(info: Any, tab: Any, name: str = permission) -> None:
                heard.append((name, info.get("selectionText"), info.get("pageUrl"), tab.get("url")))

            browser.menus.onShown.addListener(listener)
        await profile._store.write(lambda each: menu_clicks.record_shown(each, ID, context))
        assert heard == [
            ("tabs", None, None, PAGE),
            ("https://site.example/*", "secret", PAGE, PAGE),
            ("https://other.example/*", None, None, None),
        ]

    in_profile(tmp_path, use)


def test_the_menu_of_a_button_is_told_to_its_own_extension_only(tmp_path: Path) -> None:
    async def use(profile: Profile, browser: Browser) -> None:
        heard: list[str] = []
        for name, each in (
            ("own", browser),
            ("other", browser_of(profile, PERSISTENT, MENUS, extension_id="o@x")),
        ):
            each.menus.onShown.addListener(lambda *_, name=name: heard.append(f"{name} shown"))
            each.menus.onHidden.addListener(lambda name=name: heard.append(f"{name} hidden"))
        context = MenuContext(tab=await tab_at(profile), ui_context="browser_action")
        await profile._store.write(lambda each: menu_clicks.record_shown(each, ID, context))
        await profile._store.write(lambda each: menu_clicks.record_hidden(each, ID, context))
        assert heard == ["own shown", "own hidden"]

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
        await profile._store.write(
            lambda each: menu_clicks.click_item(each, ID, MenuItem(id="a"), MenuContext(tab=tab))
        )
        assert seen == [PAGE]
        assert await url() == PAGE
        await profile.tabs.navigate(tab.id, "https://site.example/next")
        assert await url() == PAGE
        await pressing.arrive(profile, await profile.tabs.get(tab.id))
        assert await url() is None

    in_profile(tmp_path, use)
