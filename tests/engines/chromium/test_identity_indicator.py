"""Every window says whose it is: a frame and a badge on every page, which the page can neither read nor remove."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.async_api import Page

import hatbox
from hatbox.engines.chromium.identity_indicator import indicator_for
from hatbox.identity.model import ContextualIdentity
from hatbox.identity.palette import COLORS, ICONS
from tests.engines.chromium.desktop import Keyboard, Screen
from tests.engines.chromium.real import with_browser
from tests.site import Site
from tests.waiting import until, until_awaited

WORK = "firefox-container-2"
ORANGE, RED = bytes.fromhex("ff9f00"), bytes.fromhex("ff613d")
REWRITE = "(html) => { document.open(); document.write(html); document.close(); }"


def identity(name: str = "Work", icon: str = "briefcase", color: str = "orange") -> ContextualIdentity:
    return ContextualIdentity(name, icon, color, WORK)


# ------------------------------------------------------------------------------------------------------------- values


@given(st.text(max_size=200))
def test_any_name_is_one_short_line(name: str) -> None:
    shown = indicator_for(identity(name))["name"]
    assert len(shown) <= 40
    assert shown.isprintable()


def test_text_is_readable_on_every_color() -> None:
    def luminance(color: str) -> float:
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for each in COLORS:
        shown = indicator_for(identity(color=each.color))
        light, dark = sorted((luminance(shown["color"]), luminance(shown["ink"])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.2, each


def test_every_icon_has_a_drawing_of_its_own() -> None:
    drawings = {str(indicator_for(identity(icon=each.icon))["shapes"]) for each in ICONS}
    assert len(drawings) == len(ICONS)


# ---------------------------------------------------------------------------------------------------------- on screen


def count(color: bytes) -> int:
    """The pixels of this color on the display."""
    found = 0
    for row in Screen(os.environ["DISPLAY"]).rows():
        found += sum(row[i : i + 3] == color for i in range(0, len(row), 3)) if color in row else 0
    return found


@with_browser
async def test_every_kind_of_page_shows_its_identity(browser: str, path: Path, site: Site, desktop: Keyboard) -> None:
    def is_framed() -> bool:  # two sides and the top of a window, 3 pixels each, and the badge
        return count(ORANGE) > 5000

    async with hatbox.open(path) as profile, profile.chromium(headless=False, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/page/1"))
        await until(is_framed)
        dark = "<body style='background: black'><p>dark"
        for change in (
            page.evaluate(REWRITE, dark),
            page.evaluate("document.body.replaceWith(document.createElement('body'))"),
            page.evaluate("document.documentElement.lastElementChild.remove()"),
            page.evaluate("document.documentElement.replaceChildren()"),
            page.goto("chrome://newtab"),
            page.goto("about:blank"),
            page.goto(site.url("/long")),
            page.goto(site.url("/title/text")),  # plain text
            page.goto(site.url("/icon.png")),
        ):
            await change
            await until(is_framed)
        await profile.tabs.navigate((await profile.tabs.query("Work"))[0].id, "http://127.0.0.1:9/")
        await until(lambda: "chrome-error" in page.url)
        await until(is_framed)
        await page.goto(site.url("/page/2"))
        await page.evaluate(
            "document.body.innerHTML = '<dialog style=\"width: 100vw; height: 100vh; max-width: none\">'; "
            "document.querySelector('dialog').showModal()"
        )
        await until(is_framed)
        await profile.identities.update(WORK, name="Job", color="red")
        await until(lambda: count(RED) > 5000 and not is_framed())


# ------------------------------------------------------------------------------------------- what the page can observe

SPY = """
for (const [owner, name] of [[Element.prototype, "attachShadow"], [CSSStyleSheet.prototype, "replaceSync"],
    [Document.prototype, "createElementNS"], [Node.prototype, "append"]]) {
  const original = owner[name];
  owner[name] = function (...args) {
    (globalThis.spied ??= []).push(String(args));
    return original?.apply(this, args);
  };
}
"""
READABLE = """() => {
  const host = document.documentElement.lastElementChild, styles = [];
  for (const pseudo of [null, "::before", "::after", "::backdrop"]) {
    const style = getComputedStyle(host, pseudo);
    for (const name of style) styles.push(style.getPropertyValue(name));
  }
  const root = document.documentElement;
  return [root.outerHTML, root.innerText, document.title, String(host.shadowRoot),
    host.getHTML({ serializableShadowRoots: true, shadowRoots: [] }), styles.join(" "), host.computedName ?? "",
    String(document.styleSheets.length + document.adoptedStyleSheets.length), JSON.stringify(globalThis.spied ?? []),
    String(document.elementsFromPoint(innerWidth / 2, 4).includes(host)), String(window.find?.("Work"))].join("\\n");
}"""


async def marked(page: Page) -> dict[str, Any]:
    """The shadow root of the indicator, as only CDP can read it."""
    session = await page.context.new_cdp_session(page)

    async def find() -> dict[str, Any]:
        root = (await session.send("DOM.getDocument", {"depth": -1, "pierce": True}))["root"]
        html = next(each for each in root["children"] if each["nodeName"] == "HTML")
        hosts = [each for each in html.get("children", ()) if each.get("shadowRoots")]
        return dict(hosts[0]["shadowRoots"][0]) if hosts else {}

    return await until_awaited(find)


@with_browser
async def test_a_page_cannot_read_the_identity(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser, indicator=True) as runner:
        page = await runner.new_page("Work")
        await page.add_init_script(SPY)
        await page.goto(site.url("/icon"))
        root = await marked(page)
        assert root["shadowRootType"] == "closed"
        readable = await page.evaluate(READABLE)
        for secret in ("Work", "briefcase", "ff9f00", "255, 159, 0"):
            assert secret not in readable, secret
        assert "\nfalse\nfalse" in readable  # clicks reach the page; the name cannot be found
        assert await page.title() == "Icon"


@with_browser
async def test_scripts_find_what_they_would_find_without_the_indicator(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile:
        found = []
        for indicator in (False, True):
            async with profile.chromium(headless=True, browser=browser, indicator=indicator) as runner:
                page = await runner.new_page("Work", site.url("/page/1"))
                if indicator:
                    await marked(page)
                counts = [await page.locator(each).count() for each in ("div", "section", "svg", "body *", "text=Work")]
                root = "document.documentElement"
                size = await page.evaluate(f"[{root}.scrollWidth, {root}.scrollHeight, document.body.offsetTop]")
                found.append((counts, size, await page.inner_text("html"), await page.inner_text("body")))
                await page.close()
        assert found[0] == found[1]


@with_browser
async def test_a_page_that_fights_the_indicator_stays_responsive(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser, indicator=True) as runner:
        page = await runner.new_page("Work", site.url("/page/1"))
        await marked(page)
        await page.evaluate(
            """() => { new MutationObserver(() => document.querySelectorAll("html > :not(head, body)").forEach(
              (each) => each.remove())).observe(document.documentElement, { childList: true });
              document.documentElement.lastElementChild.remove(); }"""
        )
        assert await page.evaluate("1 + 1") == 2


@with_browser
async def test_a_page_cannot_hide_the_badge_with_events_of_its_own(browser: str, path: Path, site: Site) -> None:
    async def badge() -> list[str]:
        root = await marked(page)
        attributes: list[str] = next(each for each in root["children"] if each["nodeName"] == "DIV")["attributes"]
        return attributes

    async def is_away() -> bool:
        return "away" in " ".join(await badge()).split()

    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser, indicator=True) as runner:
        page = await runner.new_page("Work", site.url("/page/1"))
        await marked(page)
        await page.evaluate(
            """() => window.dispatchEvent(
              new MouseEvent("mousemove", { clientX: document.documentElement.clientWidth / 2, clientY: 4 }))"""
        )
        assert not await is_away()
        width = await page.evaluate("document.documentElement.clientWidth")
        await page.mouse.move(width / 2, 4)  # by the user
        await until_awaited(is_away)


@pytest.mark.parametrize(("store", "indicator"), [("firefox-default", True), ("Work", None)])
@with_browser
async def test_headless_pages_and_pages_without_identity_have_no_indicator(
    browser: str, path: Path, site: Site, store: str, indicator: bool | None
) -> None:
    async with (
        hatbox.open(path) as profile,
        profile.chromium(headless=True, browser=browser, indicator=indicator) as runner,
    ):
        page = await runner.new_page(store, site.url("/page/1"))
        assert await page.locator("html > *").count() == 2
