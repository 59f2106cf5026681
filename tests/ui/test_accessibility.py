"""axe-core finds no violation on any screen, menu, dialog and message of the page, in light and dark.

The start page of windows is checked too. A phone shows each screen without scrolling sideways, also with a name of 60
letters.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any, Literal

from playwright.async_api import FilePayload, Page

from docs.screenshots.sample_profile import fill, start_extension
from hatbox.engines.chromium.start_page.start_page import page_source
from hatbox.identity.glyphs import identity_glyph
from tests.extensions.runtime.lab import needs_deno
from tests.ui.manager import Manager
from tests.ui.screens import SCREENS, WORK, overflows, show

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
# On a wide window these screens are checked with more in them, as one of STATES.
WITH_STATES = {"rules", "extensions", f"identity/{WORK}/cookies"}
# In the other theme only colors differ, and only these rules read colors.
COLOR_RULES = ["color-contrast", "link-in-text-block"]

# What the engine gives to the start page of a window.
START_PAGE: dict[str, Any] = {
    "identity": {
        "color": "#ff9f00",
        "ink": "#111113",
        "glyph": identity_glyph("briefcase"),
        "name": "Work",
        "title": "Work · New Tab",
        "line": "Everything in this window is Work.",
        "tabsOf": "Tabs of Work",
        "goTo": "Go to an address as Work",
    },
    "buttons": [
        {
            "key": "one",
            "title": "Container switcher",
            "badge": "Work",
            "badgeColor": "rgb(55 173 255)",
            "isEnabled": True,
        },
        {
            "key": "two",
            "title": "Other",
            "badge": "",
            "icon": "data:image/gif;base64,R0lGODlhAQABAAAAACw=",
            "isEnabled": True,
        },
    ],
    "tabs": {
        "shown": [{"key": 1, "title": "Team inbox", "place": "mail.example", "pinned": True, "note": "Not loaded"}],
        "more": 3,
    },
    "signedIn": {
        "line": "Signed in on 1 site.",
        "shown": [{"host": "mail.example", "since": "since 4 Oct"}],
        "more": 0,
    },
    "rules": {"shown": [{"text": "*.forge.example", "note": "Asks: Work or Banking"}], "more": 0},
    "settings": [["Locale", "system"]],
}

Step = Callable[[Page], Awaitable[object]]


async def open_cookies(page: Page) -> None:
    """The table of a site, with one value shown."""
    await show(page, f"identity/{WORK}/cookies")
    await page.locator("main [aria-expanded=false]").first.click()
    await page.get_by_role("button", name="Show the value of session").first.click()
    await page.locator("main [aria-pressed=true]").first.wait_for()


async def try_address(page: Page) -> None:
    """The verdict of the tester."""
    await show(page, "rules")
    await page.get_by_role("textbox", name="Where does this address open?").fill("https://forge.example/lumen/site")
    await page.get_by_text("Opens in Lumen Studio").wait_for()


async def open_extension(page: Page) -> None:
    """A running extension with its permissions, its console and a badge."""
    await show(page, "extensions")
    card = page.get_by_role("region", name="Container switcher")
    await card.get_by_text("Permissions:").click()
    await card.get_by_text("Log", exact=True).click()
    await card.get_by_text("ready, 9 containers").wait_for()


async def press_on_card(page: Page, key: str, result: str) -> None:
    """Press a key on the first card, and wait for what it opens."""
    await show(page, "identities")
    await page.locator("main [data-part=link]").first.focus()
    await page.keyboard.press(key)
    await page.locator(result).first.wait_for()


async def open_menu(page: Page) -> None:
    """The menu of a card."""
    await show(page, "identities")
    await page.locator("main [role=listitem] [data-part=menu]").first.click()
    await page.get_by_role("menu").wait_for()


async def show_problem(page: Page) -> None:
    """An error beside its cause."""
    await show(page, "tabs")
    await page.evaluate(
        """async () => {
          const {problem} = await import("./layers.js");
          problem(document.querySelector("main button"), "The tab is gone.");
        }"""
    )
    await page.get_by_text("The tab is gone.").wait_for()


async def preview_restore(page: Page) -> None:
    """The dialog that says what a restore would change."""
    await show(page, "trash")
    await page.get_by_role("button", name="Restore from ").first.click()
    await page.locator("dialog .plain-list").wait_for()


async def import_rules(page: Page) -> None:
    """The report of an import of which something was left out."""
    await show(page, "rules")
    await page.get_by_role("button", name="Import").click()
    await page.get_by_role("menuitem", name="From a file of Containerise…").click()
    await page.get_by_label("Text to import").fill("a.example , Nobody\n")
    await page.get_by_role("dialog").get_by_role("button", name="Import").click()
    await page.get_by_text("1 identity does not exist").wait_for()


async def pick_identity(page: Page) -> None:
    """The list of identities of a rule, with what Enter picks."""
    await show(page, "rules")
    await page.get_by_role("button", name="Identity: ").click()
    await page.keyboard.type("work")
    await page.locator(".picker .first").wait_for()


async def show_removed(page: Page) -> None:
    """An identity that does not exist any more."""
    await show(page, "identity/firefox-container-999/tabs")
    await page.get_by_role("heading", name="This identity is gone").wait_for()


async def share_identity(page: Page) -> None:
    """The dialog that asks for the passphrase of a file, with an error."""
    await open_menu(page)
    await page.get_by_role("menuitem", name="Share as a file").click()
    await page.keyboard.press("Enter")
    await page.get_by_text("Write a passphrase").wait_for()


async def import_identities(page: Page) -> None:
    """What a file of another program contains."""
    await show(page, "identities")
    await page.get_by_role("button", name="Import identities").click()
    async with page.expect_file_chooser() as chooser:
        await page.get_by_role("menuitem", name="From a file").click()
    content = b'{"version": 5, "identities": [{"userContextId": 9, "name": "Dog", "icon": "pet", "color": "blue"}]}'
    file = FilePayload(name="containers.json", mimeType="application/json", buffer=content)
    await (await chooser.value).set_files(file)
    await page.locator("dialog .import-choice").wait_for()


STATES: dict[str, Step] = {
    "share": share_identity,
    "import identities": import_identities,
    "import report": import_rules,
    "picker": pick_identity,
    "gone": show_removed,
    "open cookies": open_cookies,
    "verdict": try_address,
    "running extension": open_extension,
    "new identity": lambda page: press_on_card(page, "n", "dialog[open]"),
    "shortcuts": lambda page: press_on_card(page, "?", "dialog[open]"),
    "editor": lambda page: press_on_card(page, "e", ".editor"),
    "menu": open_menu,
    "problem": show_problem,
    "toast": lambda page: press_on_card(page, "h", ".toast"),
    "restore": preview_restore,  # that hidden identity would change back
}


async def violations(page: Page, *, only: list[str] | None = None, within: str = "html") -> list[str]:
    """What axe-core finds on the page as it is now."""
    options = {"resultTypes": ["violations"], **({"runOnly": only} if only else {})}
    found: list[dict[str, Any]] = await page.evaluate(
        "([within, options]) => axe.run(within, options).then(({violations}) => violations)", [within, options]
    )
    return [f"{each['id']}: {node['html'][:200]} {node['failureSummary']}" for each in found for node in each["nodes"]]


async def use_theme(page: Page, theme: Literal["light", "dark"]) -> None:
    """Change the theme of the system, and wait until all colors have changed."""
    await page.emulate_media(color_scheme=theme)
    await page.evaluate(
        """async () => {
          const drawn = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
          do await drawn();
          while (document.getAnimations().some(({playState}) => playState === "running"));
          await drawn();
        }"""
    )


@needs_deno
async def test_every_screen_is_accessible_in_light_and_dark(manager: Manager, manager_page: Page) -> None:
    page = manager_page
    await fill(manager.profile)
    for number in range(4):  # so many that the picker has a search
        await manager.profile.identities.create(f"Account {number}")
    await start_extension(manager.profile)
    await page.locator("main [role=listitem]").first.wait_for()
    await page.evaluate(AXE)
    found: dict[str, list[str]] = {}

    themes: list[Literal["light", "dark"]] = ["light", "dark"]

    async def check(state: str) -> None:
        """In the present theme, and then in the other, which stays: a change of the theme takes half a second."""
        present, other = themes
        found[f"{state}, {present}"] = await violations(page)
        await use_theme(page, other)
        found[f"{state}, {other}"] = await violations(page, only=COLOR_RULES)
        themes.reverse()

    await page.set_viewport_size({"width": 1440, "height": 800})
    for screen in SCREENS:
        if screen not in WITH_STATES:
            await show(page, screen)
            await check(screen)
    for state, reach in STATES.items():
        await reach(page)
        await check(state)
        await page.keyboard.press("Escape")
    await page.set_viewport_size({"width": 360, "height": 740})
    await manager.profile.identities.update("Work", name="W" * 60)
    for screen in SCREENS:
        await show(page, screen)
        found[f"{screen}, 360"] = [*await violations(page), *await overflows(page)]
    await show(page, "trash")
    await manager.server.stop()
    await page.get_by_text("Reconnecting to Hatbox").first.wait_for()
    await page.get_by_role("button", name="Back up now").click()
    await page.get_by_text("Waiting for Hatbox.").first.wait_for()
    await check("reconnecting, 360")
    await manager.server.start()
    assert {state: each for state, each in found.items() if each} == {}


async def test_the_start_page_of_a_window_is_accessible_in_light_and_dark(manager_page: Page) -> None:
    page = await manager_page.context.new_page()
    await page.set_viewport_size({"width": 1440, "height": 800})
    await page.evaluate(AXE)
    source = page_source().replace('mode: "closed"', 'mode: "open"')  # axe-core reads no closed shadow root
    await page.evaluate(f"content => {source}(() => {{}}).draw(content)", START_PAGE)
    found = await violations(page, within="x-start")
    await use_theme(page, "dark")
    assert [*found, *await violations(page, only=COLOR_RULES, within="x-start")] == []
    await page.set_viewport_size({"width": 360, "height": 740})
    assert await page.evaluate("document.documentElement.scrollWidth") == 360
