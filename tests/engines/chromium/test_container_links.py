"""A link of the form ext+container:…, opened by the page of an extension in a real Chromium."""

from __future__ import annotations

from pathlib import Path

import pytest

from hatbox import Profile
from hatbox.extensions.extension import Extension
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
        run_made(
            tmp_path,
            use,
            files={"open.html": '<!doctype html><script src="open.js"></script>', "open.js": OPENER},
            permissions=["contextualIdentities", "cookies", "tabs"],
            protocol_handlers=[{"protocol": "ext+container", "name": "Containers", "uriTemplate": "/open.html#%s"}],
        )
