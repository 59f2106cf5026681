"""A blank tab of the user says whose window it is, shows its tabs and rules, and where an address will open.

A click on the button of an extension is a click on its action.
"""

from __future__ import annotations

import base64
import html
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page

import hatbox
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from tests.engines.chromium.real import with_browser
from tests.engines.chromium.start_page_reader import StartPageReader
from tests.extensions.made import make
from tests.site import Site
from tests.waiting import until_awaited

WORK = "firefox-container-2"
ORANGE, RED, BLUE = (0xFF, 0x9F, 0x00), (0xFF, 0x61, 0x3D), (0, 0, 0xFF)
HOSTILE = "<img src=x onerror=alert(1)>"
BACKGROUND = """
globalThis.clicks = [];
browser.browserAction.onClicked.addListener(tab => clicks.push(tab.id));
browser.browserAction.setBadgeText({text: "7"});
"""
ICON = "<svg xmlns='http://www.w3.org/2000/svg' width='32' height='32'><rect width='32' height='32' fill='#00f'/></svg>"
ACTION: dict[str, Any] = {"browser_action": {"default_title": "Press me", "default_icon": "icon.svg"}}
SPY = """
const say = text => browser.runtime.sendMessage([location.href, text]);
say("ran");
addEventListener("keydown", event => say(event.key), true);
"""
SPYING = """
globalThis.seen = [];
browser.runtime.onMessage.addListener(message => { seen.push(message); });
globalThis.inject = async (tabId) => {
  const details = {code: "document.documentElement.outerHTML", matchAboutBlank: true, allFrames: true};
  try { return await browser.tabs.executeScript(tabId, details); } catch (error) { return String(error); }
};
"""
ALL_URLS: dict[str, Any] = {
    "permissions": ["<all_urls>", "tabs", "activeTab"],
    "content_scripts": [
        {
            "matches": ["<all_urls>"],
            "js": ["spy.js"],
            "match_about_blank": True,
            "all_frames": True,
            "run_at": "document_start",
        }
    ],
}


async def pixel(page: Page, red: int, green: int, blue: int) -> tuple[float, float] | None:
    """A position of this color on a screenshot; None if it has none."""
    probe = """async ([data, ...wanted]) => {
      const image = await createImageBitmap(await (await fetch("data:image/png;base64," + data)).blob());
      const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
      canvas.drawImage(image, 0, 0);
      const {data: pixels, width} = canvas.getImageData(0, 0, image.width, image.height);
      for (let i = 0; i < pixels.length; i += 4)
        if (wanted.every((value, part) => pixels[i + part] === value))
          return [i / 4 % width + 5, Math.floor(i / 4 / width) + 5];
      return null;
    }"""

    shot = base64.b64encode(await page.screenshot()).decode("ascii")
    found = await page.evaluate(probe, [shot, red, green, blue])
    return tuple(found) if found else None


@with_browser
async def test_it_shows_the_identity_and_where_an_address_opens(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser, indicator=True) as runner:
        other = await profile.tabs.open("Work", site.url("/page/1"), active=False)
        await profile.tabs.open("Personal", site.url("/page/2"), active=False)
        await profile.rules.add("*.forge.example", "Work")
        tab = await profile.tabs.open("Work")
        shown = StartPageReader(await runner.page(tab.id))
        await shown.wait_for("Work", "heading")
        assert await pixel(shown.page, *ORANGE)
        assert await shown.page.title() == "Work · New Tab"  # so does the window in the list of windows
        assert "ff9f00" in await shown.page.evaluate("document.querySelector('link[rel=icon]').href")
        assert await shown.page.evaluate("document.activeElement.localName") == "body"  # not the address field
        await shown.wait_for("Page 1", "button")
        text = await shown.text()
        assert "forge.example" in text
        assert "Signed in nowhere." in text
        assert "Personal" not in text
        assert "/page/2" not in text

        await changes_appear(profile, shown, other.id)
        await profile.identities.update(WORK, name="Work", color="orange")
        await the_verdict_is_that_of_the_rules(profile, shown)
        assert await shown.page.title() == "Work · New Tab"
        with monkeypatch.context() as patch:
            await an_expired_sign_in_disappears(profile, shown, patch)
        blank = await profile.tabs.get(tab.id)
        assert (blank.url, blank.display_title, blank.icon) == ("about:blank", "New Tab", "")  # for programs
        await enter_opens_the_address(profile, runner, shown, site)


async def changes_appear(profile: hatbox.Profile, shown: StartPageReader, other: int) -> None:
    """A change by any program appears without a reload. Names and titles are text."""
    await profile.identities.update(WORK, name=HOSTILE, color="red")
    await profile.rules.add(r"regex:^https://tickets\.example/\d+", WORK)
    await profile.tabs.navigate(other, f"data:text/html,<title>{html.escape(HOSTILE)}</title>")
    store = await profile.cookie_store(WORK)
    expires = profile.store.time() + 3600
    await store.set("https://mail.example/", name="sid", value="secret", http_only=True, expires=expires)
    await shown.wait_for(f"Tabs of {HOSTILE}", "heading")
    assert await shown.page.title() == f"{HOSTILE} · New Tab"
    await shown.wait_for("Signed in on 1 site.")
    await shown.wait_for(r"^https://tickets\.example/\d+")
    await shown.click("button", HOSTILE)

    async def is_active() -> bool:
        return (await profile.tabs.get(other)).active

    await until_awaited(is_active)
    assert not await shown.names("image")
    assert "secret" not in await shown.text()
    assert await pixel(shown.page, *RED)
    assert await pixel(shown.page, *ORANGE) is None
    await profile.tabs.close(other)
    await shown.wait_for("No other tabs.")


async def an_expired_sign_in_disappears(
    profile: hatbox.Profile, shown: StartPageReader, patch: pytest.MonkeyPatch
) -> None:
    time = profile.store.time
    patch.setattr(profile.store, "time", lambda: time() + 3610)
    await profile.clock.advance(3610)
    await shown.wait_for("Signed in nowhere.")


async def the_verdict_is_that_of_the_rules(profile: hatbox.Profile, shown: StartPageReader) -> None:
    await profile.rules.add("localhost", "Personal")
    await profile.rules.add("shop.example", ["Shopping", "Banking"], ask=True)
    for typed, verdict in (
        ("docs.example", "Opens here, as Work"),
        ("localhost/x", "Opens in Personal instead"),
        ("two words", "This is not an address: two words. Try forge.example or https://forge.example/"),
        ("shop.example", "Asks: Shopping or Banking"),
    ):
        await shown.type(typed)
        await shown.wait_for(verdict)
    await profile.rules.add("shop.example", "Banking", replace=True)
    await shown.wait_for("Opens in Banking instead")  # without another key


async def enter_opens_the_address(
    profile: hatbox.Profile, runner: ChromiumRunner, shown: StartPageReader, site: Site
) -> None:
    await shown.type("two words")
    await shown.page.keyboard.press("Enter")
    await shown.wait_for("This is not an address: two words.")
    await shown.type(site.url("/page/3").removeprefix("http://"))  # loopback hosts have no certificate
    await shown.page.keyboard.press("Enter")
    await shown.page.wait_for_url("**/page/3")
    assert site.requests("/page/3")[-1].headers["sec-fetch-site"] == "none"  # as from the address bar
    assert not await shown.names("textbox")

    async def is_framed() -> bool:  # the indicator of other pages
        return await pixel(shown.page, *ORANGE) is not None

    await until_awaited(is_framed)
    again = await profile.tabs.open("Work")
    shown = StartPageReader(await runner.page(again.id))
    await shown.wait_for("Work", "heading")
    await shown.type(site.url("/page/4").removeprefix("http://").replace("127.0.0.1", "localhost"))
    await shown.page.keyboard.press("Enter")

    async def elsewhere() -> bool:
        return "Page 4" in [each.title for each in await profile.tabs.query("Personal")]

    await until_awaited(elsewhere)
    assert again.id not in [each.id for each in await profile.tabs.query("Work")]


@with_browser
async def test_its_buttons_work_and_no_other_script_reaches_it(
    browser: str, path: Path, site: Site, tmp_path: Path
) -> None:
    shower = make(tmp_path, BACKGROUND, name="shower", files={"icon.svg": ICON}, **ACTION)
    spy = make(tmp_path, SPYING, name="spy", files={"spy.js": SPY}, **ALL_URLS)
    async with hatbox.open(path) as profile:
        extension, spying = await profile.extensions.start(shower), await profile.extensions.start(spy)
        async with profile.chromium(headless=True, browser=browser, indicator=True) as runner:
            scripted = await runner.new_page("Personal")
            tab = await profile.tabs.open("Work")
            shown = StartPageReader(await runner.page(tab.id))
            at = await until_awaited(lambda: pixel(shown.page, *BLUE))
            assert "Press me, 7" in await shown.names("button")
            assert at is not None
            await shown.page.mouse.click(*at)
            await until_awaited(lambda: extension.evaluate("clicks.length"))
            assert await extension.evaluate("clicks") == [tab.id]
            await extension.evaluate("browser.browserAction.setBadgeText({text: '8'})")
            await shown.wait_for("Press me, 8", "button")

            await shown.type("secret.example")
            await shown.wait_for("Opens here, as Work")
            assert "Error" in await spying.evaluate(f"inject({tab.id})")
            page = "[document.querySelectorAll('button').length, document.querySelector('x-start').shadowRoot]"
            assert await shown.page.evaluate(page) == [0, None]
            assert (await profile.tabs.get(tab.id)).url == "about:blank"

            # Pages of scripts, and windows that pages open, stay blank.
            blank = [scripted]
            opener = await runner.page((await profile.tabs.open("Banking", site.url("/page/1"))).id)
            await opener.wait_for_url("**/page/1")
            for features in ("", "noopener"):
                async with opener.context.expect_page() as popup:
                    await opener.evaluate("features => { window.open('about:blank', '_blank', features); }", features)
                blank.append(await popup.value)
            last = await profile.tabs.open("Banking")
            await StartPageReader(await runner.page(last.id)).wait_for("Banking", "heading")
            assert [await each.evaluate("document.body.childElementCount") for each in blank] == [0, 0, 0]
            await until_awaited(lambda: spying.evaluate("seen.length > 0"))
            seen = await spying.evaluate("seen")
            assert {what for _, what in seen} == {"ran"}  # and no key
            assert site.url("/page/1") in [url for url, _ in seen]

            assert (await profile.hide_and_wait(["Work"])).unsaved == []  # a typed address is not lost text
