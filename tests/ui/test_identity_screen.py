"""The detail of one identity in a real Chromium: header, tabs, settings, removal."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import expect

from hatbox.errors import InputWouldBeLost
from hatbox.profile import Profile
from tests.ui.manager import Manager
from tests.waiting import until_awaited

if TYPE_CHECKING:
    from playwright.async_api import Page

WORK = "firefox-container-2"
_SAVE_AND_TYPE = """() => {
  const save = document.querySelector("form [type=submit]");
  save.click();
  for (const [id, text] of [["set-userAgent", "Second/2"], ["set-timezone", "UTC"]]) {
    document.getElementById(id).value = text;
    document.getElementById(id).dispatchEvent(new Event("input"));
  }
  return save.getAttribute("aria-disabled");
}"""


async def test_one_identity_is_shown_changed_and_removed_with_an_undo(manager: Manager, manager_page: Page) -> None:
    profile, page = manager.profile, manager_page
    await (await profile.cookie_store("Work")).receive(["sid=1; HttpOnly", "lang=de"], "https://forge.example/")
    await page.set_viewport_size({"width": 1440, "height": 900})
    await page.goto(f"{manager.url}#/identity/{WORK}/settings")
    heading = page.locator("h1")
    await expect(heading).to_have_text("Work")
    await expect(page).to_have_title("Work · Hatbox")
    await expect(page.locator(".detail-head .meta")).to_contain_text("Signed in on 1 site")
    await expect(page.get_by_role("tab", name="Cookies")).to_have_text("Cookies2")

    # A change by another program is shown at once, and moves no focus.
    await page.get_by_label("User agent").focus()
    hostile = "<img src=x onerror=alert(1)>"
    await profile.identities.update("Work", name=hostile)
    await expect(heading).to_have_text(hostile)
    await expect(page.locator(".peers a[aria-current]")).to_contain_text(hostile)
    assert await page.evaluate("document.activeElement.id") == "set-userAgent"
    await expect(page.locator(".peers a[tabindex='0']")).to_have_text(hostile)  # one stop on the way to the detail
    assert await page.locator(".peers a[tabindex='-1']").count() == 3

    # Arrow keys move between the tabs; what was typed stays.
    await page.get_by_label("User agent").fill("Tester/1")
    await page.get_by_role("tab", name="Settings").focus()
    await page.keyboard.press("ArrowLeft")
    await expect(page.get_by_role("tab", name="Rules")).to_be_focused()
    await expect(page).to_have_url(re.compile("/rules$"))
    await page.keyboard.press("ArrowRight")
    await expect(page.get_by_label("User agent")).to_have_value("Tester/1")

    # Removing leads to the list, and Undo brings everything back.
    await page.get_by_label("More actions").click()
    await page.get_by_role("menuitem", name="Remove").click()
    await expect(page).to_have_url(re.compile("#/identities$"))
    assert [each.cookie_store_id for each in await profile.trash.list()] == [WORK]
    await page.get_by_role("button", name="Undo").click()
    await until_awaited(lambda: _exists(manager))
    await page.goto(f"{manager.url}#/identity/{WORK}/tabs")
    await expect(heading).to_have_text(hostile)

    # A user who has left the page before the answer came stays where they are.
    await page.get_by_label("More actions").click()
    await page.get_by_role("menuitem", name="Remove").evaluate("each => { each.click(); location.hash = '#/rules'; }")
    await expect(page.locator(".toast")).to_contain_text("moved to the trash.")
    await expect(page).to_have_url(re.compile("#/rules$"))
    await page.get_by_role("button", name="Undo").click()
    await until_awaited(lambda: _exists(manager))
    await page.goto(f"{manager.url}#/identity/{WORK}/tabs")
    await expect(heading).to_have_text(hostile)

    # Removed elsewhere while it is shown.
    await profile.identities.remove(WORK)
    await expect(page.get_by_role("heading", name="This identity is gone")).to_be_visible()
    await expect(page.locator("main")).to_contain_text("What you typed in Settings was not saved.")
    await profile.trash.restore(WORK)
    await page.get_by_role("tab", name="Settings").click()
    await expect(page.get_by_label("User agent")).to_have_value("Tester/1")
    await profile.identities.remove(WORK)

    # Without a trash, Undo would not work: the page asks first.
    await profile.set_settings(trash_days=0)
    await page.goto(f"{manager.url}#/identity/firefox-container-1/tabs")
    await page.get_by_label("More actions").click()
    await page.get_by_role("menuitem", name="Remove").click()
    await page.get_by_role("dialog").get_by_role("button", name="Keep it").click()
    await expect(heading).to_have_text("Personal")
    await page.get_by_label("More actions").click()
    await page.get_by_role("menuitem", name="Remove").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete forever").click()
    await expect(page).to_have_url(re.compile("#/identities$"))
    assert [each.name for each in await profile.identities.query()] == ["Banking", "Shopping"]


async def _exists(manager: Manager) -> bool:
    return WORK in [each.cookie_store_id for each in await manager.profile.identities.query()]


async def test_wrong_settings_are_explained_under_their_fields_and_nothing_is_lost(
    manager: Manager, manager_page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile, page = manager.profile, manager_page
    await profile.identities.set_settings("Work", locale="de-DE")
    await page.goto(f"{manager.url}#/identity/{WORK}/settings")
    await page.get_by_label("Proxy").fill("socks5://127.0.0.1")
    await page.get_by_label("Time zone").fill("Europe/Berlim")
    await page.get_by_label("User agent").fill(" Tester/1 ")
    await page.get_by_role("button", name="Save settings").click()
    await expect(page.locator("#set-proxy-error")).to_have_text(
        "Write it as socks5://127.0.0.1:9050. The port is needed."
    )
    await expect(page.locator("#set-timezone-error")).to_contain_text("There is no time zone Europe/Berlim.")
    await expect(page.get_by_label("Proxy")).to_be_focused()
    await expect(page.get_by_label("Proxy")).to_have_attribute("aria-invalid", "true")
    assert (await profile.identities.settings("Work")).user_agent is None

    await page.get_by_label("Proxy").fill("direct")
    await page.get_by_label("Time zone").fill("europe/berlin")
    await page.get_by_role("button", name="Save settings").click()
    await expect(page.locator(".toast")).to_contain_text("Settings of Work saved. New requests use them now.")
    await expect(page.get_by_label("Time zone")).to_have_value("Europe/Berlin")
    await expect(page.get_by_role("tab", name="Settings")).to_have_text("Settings4")
    saved = await profile.identities.settings("Work")
    assert (saved.proxy, saved.user_agent, saved.locale) == ("direct", "Tester/1", "de-DE")

    await page.get_by_role("button", name="Undo").click()
    await expect(page.get_by_role("tab", name="Settings")).to_have_text("Settings1")
    assert (await profile.identities.settings("Work")).proxy is None
    await expect(page.get_by_label("Proxy")).to_have_value("")

    # What is typed while the answer is under way is not part of it, and stays.
    await page.get_by_label("User agent").fill("First/1")
    assert await page.evaluate(_SAVE_AND_TYPE) == "true"
    await expect(page.get_by_role("button", name="Save settings")).to_be_enabled()
    saved = await profile.identities.settings("Work")
    assert (saved.user_agent, saved.timezone) == ("First/1", None)
    await expect(page.get_by_label("User agent")).to_have_value("Second/2")
    await expect(page.get_by_label("Time zone")).to_have_value("UTC")
    await page.get_by_role("button", name="Discard").click()
    await expect(page.get_by_label("User agent")).to_have_value("First/1")

    # The answer arrives when the screen has been left, and a later form has another text that was not saved.
    may_answer = asyncio.Event()
    with monkeypatch.context() as patch:
        patch.setattr(Profile, "change_identity_settings", _slow(Profile.change_identity_settings, may_answer))
        await page.get_by_role("button", name="Dismiss").click()
        await page.get_by_label("User agent").fill("Third/3")
        await page.get_by_role("button", name="Save settings").click()
        await page.get_by_role("tab", name="Cookies").click()
        await page.get_by_role("tab", name="Settings").click()
        await page.get_by_label("Locale").fill("en-GB")
        await page.get_by_role("tab", name="Cookies").click()
        may_answer.set()
        await expect(page.locator(".toast")).to_contain_text("Settings of Work saved.")
    await page.get_by_role("tab", name="Settings").click()
    await expect(page.get_by_label("Locale")).to_have_value("en-GB")
    await expect(page.get_by_label("User agent")).to_have_value("Third/3")
    await page.get_by_role("button", name="Discard").click()
    await expect(page.get_by_label("User agent")).to_have_value("Third/3")

    # A browser that would lose typed text: the user decides.
    monkeypatch.setattr(Profile, "change_identity_settings", _careful(Profile.change_identity_settings))
    await page.get_by_label("Locale").fill("fr")
    await page.get_by_role("button", name="Save settings").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("Tab 7: a text field")
    await dialog.get_by_role("button", name="Keep the text").click()
    assert (await profile.identities.settings("Work")).locale == "de-DE"
    await expect(page.get_by_label("Locale")).to_have_value("fr")
    await page.get_by_role("button", name="Save settings").click()
    await dialog.get_by_role("button", name="Save settings").click()
    await expect(page.locator(".toast")).to_contain_text("Settings of Work saved.")
    assert (await profile.identities.settings("Work")).locale == "fr"
    await page.get_by_role("button", name="Undo").click()  # which never loses text without a question
    await expect(page.get_by_role("alert")).to_contain_text("Text that was typed in a page of Work would be lost.")
    assert (await profile.identities.settings("Work")).locale == "fr"


def _slow(change: Callable[..., Any], may_answer: asyncio.Event) -> Callable[..., Any]:
    """A change of settings that waits."""

    async def waiting(*arguments: Any, **named: Any) -> Any:
        await may_answer.wait()
        return await change(*arguments, **named)

    return waiting


def _careful(change: Callable[..., Any]) -> Callable[..., Any]:
    """A change of settings that an open browser refuses, unless it is forced."""

    async def refused(self: Profile, identity: Any, *, force: bool = False, **changed: Any) -> Any:
        if not force:
            raise InputWouldBeLost("Work", {7: ["a text field"]})
        return await change(self, identity, force=force, **changed)

    return refused
