"""The Identities screen in Chromium: every action, with the keyboard and the pointer; live, and with 10,000."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hatbox.cookies import Cookie
from hatbox.cookies.cookie_rows import add_rows, row_of
from hatbox.identities import changes
from hatbox.identity.ids import user_context_id_of
from tests.ui.identities_page import IdentitiesPage
from tests.ui.keyboard_walk import press_until
from tests.ui.manager import Manager, open_page
from tests.ui.served_process import profile_argument
from tests.waiting import in_time, until_awaited

if TYPE_CHECKING:
    from playwright.async_api import Page

DEFAULT = ("Personal", "Work", "Banking", "Shopping")
HOSTILE = "<img src=x onerror=\"document.title = 'broken in'\">"


def signed_in(host: str) -> Cookie:
    return Cookie(name="sid", value="1", domain=host, http_only=True, created=5.0)


async def stored(manager: Manager) -> list[tuple[str, str, bool]]:
    return [(each.name, each.color, each.hidden) for each in await manager.profile.identities.query()]


async def hatbox(profile: str, *arguments: str) -> None:
    """Run the command in a process of its own."""
    command = [sys.executable, "-m", "hatbox", "--profile", profile, *arguments]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL)
    assert await in_time(process.wait(), f"hatbox {arguments[0]} has not ended") == 0


async def test_identities_of_another_program_are_shown_and_imported_from_a_file(
    manager: Manager, manager_page: Page, tmp_path: Path
) -> None:
    page, screen, dialog = manager_page, IdentitiesPage(manager_page), manager_page.locator("dialog")
    names = ("Garden", HOSTILE)
    entries = [
        {"userContextId": 11 + place, "public": True, "icon": "tree", "color": "red", "name": name}
        for place, name in enumerate(names)
    ]
    (tmp_path / "containers.json").write_text(json.dumps({"version": 5, "identities": entries}))
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8\xff" * 100)
    (tmp_path / "work.hatbox").write_bytes(b"hatbox archive 2")
    for name, problem in (
        ("photo.jpg", "photo.jpg is not a text file."),
        ("work.hatbox", "Choose it under “Trash, backups”."),
        ("containers.json", ""),
    ):
        await page.get_by_role("button", name="Import identities").click()
        async with page.expect_file_chooser() as chooser:
            await page.get_by_role("menuitem", name="From a file").click()
        await (await chooser.value).set_files(tmp_path / name)
        if problem:
            await page.get_by_role("alert").filter(has_text=problem).wait_for()
            await page.keyboard.press("Escape")
    await dialog.get_by_role("checkbox", name=HOSTILE).uncheck()
    await dialog.get_by_role("button", name="Import").click()
    await screen.wait_for_toast("1 identity created, 0 cookies imported.")
    await screen.wait_for_names(*DEFAULT, "Garden")
    await page.get_by_role("button", name="Undo").click()
    await screen.wait_for_names(*DEFAULT)


async def test_a_temporary_identity_needs_no_name_and_says_when_it_ends(manager: Manager, manager_page: Page) -> None:
    screen, keys = IdentitiesPage(manager_page), manager_page.keyboard
    await screen.wait_for_names(*DEFAULT)
    await keys.press("n")
    await manager_page.get_by_role("checkbox", name="Temporary").check()
    await keys.press("Enter")
    created = f"Temporary {len(DEFAULT) + 2}"  # 5 is never given out
    await screen.wait_for_names(*DEFAULT, created)
    await screen.card(created).get_by_role("link").click()
    meta = manager_page.locator(".detail-head .meta")
    await meta.get_by_text("it is deleted with its last tab").wait_for()
    await meta.get_by_text("Created ").wait_for()
    await keys.press("Control+z")
    await manager_page.get_by_text("This identity is gone").wait_for()
    assert await manager.profile.trash.list() == []


async def test_everything_can_be_done_with_the_keyboard_and_undone(manager: Manager, manager_page: Page) -> None:
    screen, keys = IdentitiesPage(manager_page), manager_page.keyboard
    await screen.wait_for_names(*DEFAULT)
    # create: the error of an empty name is beside the field, a name that exists is a note
    await keys.press("n")
    name = manager_page.get_by_role("textbox", name="Name")
    await name.press("Enter")
    await manager_page.get_by_text("Give it a name, for example Work.").wait_for()
    await name.fill("Work")
    await manager_page.get_by_text("There is already one called Work").wait_for()
    await name.fill("Travel")
    await name.press("Enter")
    await screen.wait_for_names(*DEFAULT, "Travel")
    await screen.wait_for_focus("Travel. No tabs open. Signed in nowhere")
    # rename, recolor, choose an icon
    await keys.press("e")
    await name.fill("Trips")
    for chosen in ("blue", "fingerprint"):
        await press_until(manager_page, "Tab", chosen)
        await keys.press("ArrowRight")
    await keys.press("Enter")
    await screen.wait_for_toast("Trips saved.")
    assert (await stored(manager))[-1] == ("Trips", "cyan", False)
    await screen.wait_for_icon("Trips", "briefcase")
    assert (await manager.profile.identities.resolve("Trips")).icon == "briefcase"
    # move: at once, and with the handle
    await screen.focus("Trips")
    await keys.press("Alt+Home")
    await screen.wait_for_names("Trips", *DEFAULT)
    await screen.wait_for_announcement("Trips, place 1 of 5")
    await screen.focus("Work", "grip")
    await keys.press(" ")
    await screen.wait_for_announcement("Work lifted, place 3 of 5. Arrow keys move it")
    await manager.profile.tabs.open("Personal", "https://news.example/")
    await screen.card("Personal").get_by_text("1 tab").wait_for()  # a change elsewhere does not end the move
    await keys.press("ArrowRight")
    await screen.wait_for_announcement("Place 4 of 5")
    await keys.press("Escape")
    await screen.wait_for_announcement("Move cancelled")
    await keys.press(" ")
    await keys.press("End")
    await keys.press(" ")
    await screen.wait_for_announcement("Work dropped at place 5 of 5")
    await screen.wait_for_focus("Move Work")
    await screen.wait_for_names("Trips", "Personal", "Banking", "Shopping", "Work")
    # hide, then remove: the neighbour gets the focus
    await screen.focus("Banking")
    await keys.press("h")
    await screen.wait_for_toast("Banking is hidden.")
    await screen.wait_for_focus("Banking, hidden. No tabs.")
    await keys.press("Delete")
    await screen.wait_for_toast("Banking moved to the trash. It stays there for 30 days.")
    await screen.wait_for_focus("Shopping")
    names = ["Trips", "Personal", "Shopping", "Work"]
    await until_awaited(lambda: equal(stored_names(manager), names))
    # undo all of it, the last first
    await keys.press("Control+z")
    await screen.wait_for_names("Trips", "Personal", "Banking", "Shopping", "Work")
    for _ in range(4):
        await keys.press("Control+z")
    await screen.wait_for_names(*DEFAULT, "Travel")
    await keys.press("Control+z")
    await screen.wait_for_names(*DEFAULT)
    assert [each[0] for each in await stored(manager)] == list(DEFAULT)
    assert not any(hidden for _, _, hidden in await stored(manager))


async def test_ctrl_z_undoes_nothing_behind_a_dialog_an_editor_or_a_menu(manager: Manager, manager_page: Page) -> None:
    screen, keys = IdentitiesPage(manager_page), manager_page.keyboard
    await screen.wait_for_names(*DEFAULT)
    for name in ("Personal", "Work", "Banking"):
        await screen.focus(name)
        await keys.press("h")
        await screen.wait_for_toast(f"{name} is hidden.")
    await keys.press("?")
    await keys.press("Control+z")
    await keys.press("Escape")
    await screen.focus("Shopping")
    await keys.press("e")
    await manager_page.get_by_role("radio", name="red").focus()
    await keys.press("Control+z")
    await keys.press("Escape")
    await screen.card("Shopping").locator("[data-part=menu]").click()
    await keys.press("Control+z")
    await keys.press("Escape")
    await screen.wait_for_focus("Actions for Shopping")
    await screen.focus("Shopping")
    await keys.press("h")
    await screen.wait_for_toast("Shopping is hidden.")  # answered after an undo would have been
    assert await stored_hidden(manager) == [True] * 4
    await keys.press("Control+z")  # while a message is shown
    await until_awaited(lambda: equal(stored_hidden(manager), [True, True, True, False]))


async def stored_hidden(manager: Manager) -> list[bool]:
    return [hidden for _, _, hidden in await stored(manager)]


async def stored_names(manager: Manager) -> list[str]:
    return [name for name, _, _ in await stored(manager)]


async def equal(actual: Any, expected: Any) -> bool:
    return bool(await actual == expected)


async def test_the_pointer_drags_cards_and_opens_menus(manager: Manager, manager_page: Page) -> None:
    screen = IdentitiesPage(manager_page)
    await screen.wait_for_names(*DEFAULT)
    await screen.card("Personal").hover()
    await screen.card("Personal").locator("[data-part=grip]").hover()
    await manager_page.mouse.down()
    box = await screen.card("Banking").bounding_box()
    assert box is not None
    await manager_page.mouse.move(box["x"] + box["width"] - 40, box["y"] + 30, steps=4)
    await manager_page.locator(".ghost").wait_for(state="attached")
    await manager_page.mouse.up()
    await screen.wait_for_names("Work", "Banking", "Personal", "Shopping")
    await until_awaited(lambda: equal(stored_names(manager), ["Work", "Banking", "Personal", "Shopping"]))
    # the menu; a clone stands beside the original
    await screen.choose("Work", "Clone")
    await screen.wait_for_toast("Work cloned as Work 2, cookies and settings included.")
    await screen.wait_for_names("Work", "Work 2", "Banking", "Personal", "Shopping")
    await manager_page.get_by_role("button", name="Undo").click()
    await screen.wait_for_names("Work", "Banking", "Personal", "Shopping")
    await screen.choose("Work", "Hide")
    await screen.wait_for_toast("Work is hidden.")
    # color and icon
    await screen.choose("Banking", "Edit name, color, icon")
    for value in ("pink", "tree"):
        await manager_page.locator(f".editor label[title={value}]").click()
    await manager_page.get_by_role("button", name="Save").click()
    await screen.wait_for_icon("Banking", "tree")
    await screen.wait_for_toast("Banking saved.")
    edited = await manager.profile.identities.resolve("Banking")
    assert (edited.name, edited.color, edited.icon) == ("Banking", "pink", "tree")
    # search and filter: no handles, because the order would lie
    await manager_page.get_by_role("button", name="Hidden").click()
    await screen.wait_for_names("Work")
    assert await manager_page.locator(".grip:visible").count() == 0
    await manager_page.get_by_role("searchbox").fill("nothing")
    await manager_page.get_by_role("button", name="Clear search").click()
    await screen.wait_for_names("Work", "Banking", "Personal", "Shopping")
    # sites and tabs are found too
    await manager.profile.tabs.open("Banking", "https://forge.example/board")
    await manager_page.get_by_role("searchbox").fill("forge.example/b")
    await screen.wait_for_names("Banking")
    await manager_page.get_by_role("searchbox").press("Escape")
    # the view is remembered
    await manager_page.get_by_role("button", name="Rows").click()
    await manager_page.reload()
    await screen.wait_for_names("Work", "Banking", "Personal", "Shopping")
    assert await manager_page.locator(".vgrid.rows").count() == 1
    # back from an identity: its card has the focus
    await screen.focus("Personal")
    await manager_page.keyboard.press("Enter")
    await manager_page.get_by_role("heading", name="Personal", level=1).wait_for()
    await manager_page.go_back()
    await screen.wait_for_focus("Personal. ")
    # the shortcuts
    await manager_page.keyboard.press("?")
    await manager_page.get_by_role("heading", name="Keyboard shortcuts").wait_for()


async def test_changes_of_other_programs_appear_in_place_on_every_page(
    manager: Manager, manager_page: Page, tmp_path: Path
) -> None:
    screen, profile = IdentitiesPage(manager_page), profile_argument(tmp_path / "profile.db")
    async with open_page(manager, viewport={"width": 360, "height": 740}) as second:
        phone = IdentitiesPage(second)
        await screen.wait_for_names(*DEFAULT)
        await phone.wait_for_names(*DEFAULT)
        await screen.focus("Work", "menu")
        await hatbox(profile, "update", "Work", "--name", HOSTILE)
        await hatbox(profile, "create", "Travel", "--color", "cyan")
        for each in (screen, phone):
            await each.wait_for_names("Personal", HOSTILE, "Banking", "Shopping", "Travel")
        await screen.wait_for_focus(f"Actions for {HOSTILE}")  # the same element
        assert await manager_page.locator("img").count() == 0
        assert await manager_page.title() == "Identities · Hatbox"
        # a change on one page is on the other
        await phone.choose("Banking", "Remove")
        await screen.wait_for_names("Personal", HOSTILE, "Shopping", "Travel")
        await second.get_by_role("button", name="Undo").click()
        await screen.wait_for_names("Personal", HOSTILE, "Banking", "Shopping", "Travel")
        assert await second.evaluate("document.documentElement.scrollWidth <= innerWidth")
        # the identity that is being edited is removed: the error is beside the name, and nothing is lost
        await screen.choose("Travel", "Edit name, color, icon")
        name = manager_page.get_by_role("textbox", name="Name")
        await name.fill("Trips")
        await manager.profile.identities.remove("Travel")
        await screen.wait_for_names("Personal", HOSTILE, "Banking", "Shopping")
        await name.press("Enter")
        await manager_page.locator(".editor .error").wait_for()
        assert await name.input_value() == "Trips"


async def test_ten_thousand_identities_are_few_elements(manager: Manager, manager_page: Page) -> None:
    def create(transaction: Any) -> None:
        for number in range(10_000):
            created = changes.create(transaction, f"Account {number:05}", "red", "tree")
            host = "all.example" if number % 4 else f"site-{number:05}.example"
            number_of_store = user_context_id_of(created.cookie_store_id)
            assert number_of_store is not None
            add_rows(transaction, number_of_store, [row_of(signed_in(host))], record=False)

    screen, keys = IdentitiesPage(manager_page), manager_page.keyboard
    await screen.wait_for_names(*DEFAULT)
    await screen.focus("Personal")
    await manager.profile.store.write(create)
    await manager_page.get_by_text("10,004 identities").wait_for()
    await keys.press("End")
    await screen.wait_for_focus("Account 09999")
    count = await manager_page.locator(".card").count()
    assert 0 < count < 80
    last = await manager_page.locator(".card").last.get_attribute("aria-posinset")
    assert last == "10004"
    await manager_page.get_by_role("searchbox").fill("account 0777")
    await manager_page.get_by_text("10 of 10,004").wait_for()
    await manager_page.get_by_role("searchbox").press("Escape")
    await screen.card("Personal").wait_for()
    await manager.profile.identities.update("Personal", name="First")
    await screen.card("First").wait_for()
    # sites: one has most of them
    await manager_page.goto(f"{manager.url}#/sites")
    sites, chips = manager_page.locator(".siterow"), manager_page.locator(".siterow .chip")
    await sites.first.get_by_text("7,500 identities").wait_for()
    assert 0 < await sites.count() < 80
    assert await chips.count() < 400
    await manager_page.get_by_role("searchbox").fill("account 07777")
    await chips.first.get_by_text("Account 07777").wait_for()
    assert await sites.count() == 1
    await manager_page.get_by_role("button", name="7,4").click()
    assert await manager_page.locator(".site-rest .chip").count() == 200
    await manager_page.keyboard.press("Escape")
    await manager_page.get_by_role("searchbox").fill("site-0777")
    await sites.first.get_by_text("site-07772.example").wait_for()
    assert await sites.count() == 2
    # the picker
    await manager_page.goto(f"{manager.url}#/rules")
    await manager_page.get_by_role("button", name="Identity: First").click()
    picks = manager_page.locator(".picker .picks button")
    await manager_page.get_by_text("9,944 more. Type a part of the name.").wait_for()
    assert await picks.count() == 60
    await keys.type("account 0777")
    await picks.nth(10).wait_for(state="detached")
    assert await picks.all_text_contents() == [f"Account 0777{number}" for number in range(10)]
    await keys.press("Escape")


async def test_a_change_without_a_connection_is_shown_and_sent_once(manager: Manager, manager_page: Page) -> None:
    screen = IdentitiesPage(manager_page)
    sockets: list[Any] = []
    is_lost = False

    async def relay(socket: Any) -> None:
        if is_lost:
            await socket.close()
        else:
            socket.connect_to_server()
            sockets.append(socket)

    await manager_page.route_web_socket("**", relay)
    await manager_page.reload()
    await screen.wait_for_names(*DEFAULT)
    await screen.focus("Personal")
    await manager_page.keyboard.press("e")
    await manager_page.get_by_role("textbox", name="Name").fill("Private")
    await manager_page.keyboard.press("Enter")
    await screen.wait_for_toast("Private saved.")
    is_lost = True
    await sockets[-1].close()
    await manager_page.locator(".banner", has_text="Reconnecting to Hatbox.").wait_for()
    # Undo is for the change that waits, not for the one before it
    await screen.focus("Private")
    await manager_page.keyboard.press("h")
    await screen.wait_for_focus("Private, hidden.")
    await manager_page.keyboard.press("Control+z")
    await screen.wait_for_toast("This change still waits.")
    await screen.focus("Work")
    await manager_page.keyboard.press("h")
    await screen.wait_for_focus("Work, hidden.")
    await screen.focus("Shopping")
    await manager_page.keyboard.press("Delete")
    await screen.wait_for_names("Private", "Work", "Banking")
    await screen.wait_for_focus("Banking.")
    assert [hidden for _, _, hidden in await stored(manager)] == [False] * 4
    await manager_page.keyboard.press("n")
    await manager_page.get_by_role("textbox", name="Name").fill("Travel")
    await manager_page.keyboard.press("Enter")
    await manager_page.locator("dialog").wait_for(state="detached")
    await manager_page.locator(".banner", has_text="4 changes wait.").wait_for()
    await screen.focus("Banking")
    await manager_page.keyboard.press("e")
    await manager_page.get_by_role("textbox", name="Name").fill("Bank")
    await manager_page.keyboard.press("Enter")
    await screen.wait_for_names("Private", "Work", "Bank")
    await manager.profile.identities.remove("Banking")
    await manager_page.get_by_role("button", name="Try now").click()
    is_lost = False  # after the click: the page tries by itself too, and the button goes
    await manager_page.locator(".banner").wait_for(state="detached")
    await manager_page.locator(".problem", has_text="Bank was not saved.").wait_for()  # removed meanwhile
    await screen.wait_for_names("Private", "Work", "Travel")
    expected = [("Private", "blue", False), ("Work", "orange", True), ("Travel", "blue", False)]
    await until_awaited(lambda: equal(stored(manager), expected))
    await manager_page.keyboard.press("Escape")
    await manager_page.locator(".problem").wait_for(state="detached")
    await manager_page.get_by_text("Shopping moved to the trash.").first.wait_for()  # the last of the three answers
    for _ in range(3):  # create, remove, hide: in whichever order their answers came
        await manager_page.keyboard.press("Control+z")
    await screen.wait_for_names("Private", "Work", "Shopping")
