"""A link of the form ext+container:…, opened by the page of an extension in a real Chromium."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from hatbox import Profile
from hatbox.extensions.extension import Extension
from hatbox.testing.site import LoopbackSite
from tests.downloads.test_downloads import file_site
from tests.extensions.made import run_made
from tests.extensions.runtime.lab import needs_deno
from tests.waiting import until_awaited

pytestmark = needs_deno
pytest.importorskip("hatbox.extensions.pages.page_context", reason="extension pages are not in this build")

OPENER = """
(async () => {
  const link = decodeURIComponent(location.hash.slice(1));
  const fields = new URLSearchParams(link.slice(link.indexOf(":") + 1));
  const [identity] = await browser.contextualIdentities.query({name: fields.get("name")});
  const own = await browser.tabs.getCurrent();
  await browser.tabs.create({url: fields.get("url"), cookieStoreId: identity.cookieStoreId});
  await browser.tabs.remove(own.id);
})();
"""

HANDLER: Final[dict[str, Any]] = {
    "files": {"open.html": '<!doctype html><script src="open.js"></script>', "open.js": OPENER},
    "permissions": ["contextualIdentities", "cookies", "tabs"],
    "protocol_handlers": [{"protocol": "ext+container", "name": "Containers", "uriTemplate": "/open.html#%s"}],
}

FORGED = """
<script>
  const refuse = (event) => event.preventDefault();  // Chromium does not look for a program
  addEventListener("click", refuse);
  document.querySelector("#forged").dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}));
  removeEventListener("click", refuse);
  document.title = "forged";
</script>
"""


def test_the_page_of_an_extension_opens_a_link_in_its_identity(tmp_path: Path, browser: str) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        async with profile.chromium(headless=True, browser=browser):
            link = f"ext+container:name=Work&url={site.origin}/small"
            await extension.browser.tabs.create({"url": link})

            async def opened() -> bool:
                tabs = await profile.tabs.query()
                return [(tab.url, tab.cookie_store_id) for tab in tabs if tab.url != "about:blank"] == [
                    (f"{site.origin}/small", "firefox-container-2")
                ]

            assert await until_awaited(opened)

    with file_site() as site:
        run_made(tmp_path, use, **HANDLER)


def test_a_click_on_a_link_of_a_web_page_opens_it_with_the_extension(tmp_path: Path, browser: str) -> None:
    async def use(profile: Profile, _: Extension) -> None:
        async with profile.chromium(headless=True, browser=browser) as runner:
            page = await runner.new_page("Personal", site.url("/links"), keep=True)
            await page.wait_for_function("document.title === 'forged'")  # without the user, nothing happens
            await page.locator("#real").click(no_wait_after=True)

            async def opened() -> bool:
                tabs = await profile.tabs.query()
                return [(tab.url, tab.cookie_store_id) for tab in tabs] == [
                    (site.url("/target"), "firefox-container-2")
                ]

            assert await until_awaited(opened)
            assert not [each.path for each in site.requests if "forged" in each.path]

    with LoopbackSite() as site:
        link = f"ext+container:name=Work&url={site.url('/target')}"
        site.page(
            "/links", f'<a id="forged" href="{link}/forged">x</a> <a id="real" href="{link}"><b>Open</b></a>{FORGED}'
        )
        run_made(tmp_path, use, **HANDLER)
