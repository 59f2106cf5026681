"""Pages of an extension under test, in Chromium."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from hatbox.testing.extensions import ExtensionUnderTest
from hatbox.testing.site import LoopbackSite
from tests.engines.chromium.conftest import browser as browser

StartExtension = Callable[..., Awaitable[ExtensionUnderTest]]

MANIFEST = {
    "browser_action": {"default_popup": "popup.html"},
    "options_ui": {"page": "options.html"},
    "permissions": ["tabs", "cookies", "contextualIdentities"],
}
POPUP = """
(async () => {
  for (const {name, cookieStoreId} of await browser.contextualIdentities.query({})) {
    const button = document.createElement("button");
    button.textContent = name;
    button.onclick = async () => { await browser.tabs.create({cookieStoreId}); window.close(); };
    document.body.append(button);
  }
  browser.test.sendMessage("ready");
})();
"""


async def test_a_click_in_the_popup_opens_a_tab(browser: str, extension: StartExtension, tmp_path: Path) -> None:
    files = {
        "popup.html": "<!doctype html><body><script src=popup.js></script>",
        "popup.js": POPUP,
        "options.html": "<!doctype html><p>options",
    }
    ext = await extension(manifest=MANIFEST, files=files, engine="chromium")
    await ext.open("about:blank")
    popup = await ext.popup()
    await ext.message("ready", 30)
    await popup.screenshot(path=tmp_path / "popup.png")
    await popup.get_by_text("Work").click()
    await ext.wait_for_tabs(lambda tabs: [tab for tab in tabs if tab.cookie_store_id == "firefox-container-2"], 30)
    options = await ext.options()
    assert await options.inner_text("p") == "options"
    assert (await ext.open_page("options.html", kind="SIDE_PANEL")).url.endswith("options.html")


async def test_one_test_has_one_engine(browser: str, extension: StartExtension) -> None:
    await extension(manifest={}, engine="chromium")
    with pytest.raises(TypeError, match="use that for all its extensions"):
        await extension(manifest={})
    with pytest.raises(TypeError, match='unknown engine "other"'):
        await extension(manifest={}, engine="other")


async def test_messages_reach_pages_and_content_scripts(
    browser: str, extension: StartExtension, site: LoopbackSite
) -> None:
    listen = "browser.test.onMessage.addListener(() => { browser.test.sendMessage(%r); });"
    site.file("/data/sample.html", "<!doctype html><p>sample")
    ext = await extension(
        manifest={
            "page_action": {"default_popup": "popup.html", "show_matches": ["<all_urls>"]},
            "content_scripts": [{"matches": ["<all_urls>"], "js": ["content.js"]}],
        },
        background=listen % "background",
        files={
            "popup.html": "<!doctype html><p>popup<script src=popup.js></script>",
            "popup.js": listen % "popup" + "browser.test.sendMessage('ready');",
            "content.js": listen % "content" + "browser.test.sendMessage('ready');",
        },
        engine="chromium",
    )
    tab = await ext.open(site.url("/data/sample.html"))
    assert tab is not None
    page = await ext.tab_page(tab)
    assert await page.inner_text("p") == "sample"
    popup = await ext.page_action_popup()
    assert await popup.inner_text("p") == "popup"
    for _ in range(2):
        await ext.message("ready", 30)
    await ext.send("all")
    for name in ("background", "popup", "content"):
        await ext.message(name, 30)
