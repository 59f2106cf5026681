"""A backup is restored while Chromium displays the identity (engines/restoring.py)."""

from __future__ import annotations

from pathlib import Path

import hatbox
from tests.engines.chromium.real import with_browser
from tests.site import Site
from tests.waiting import until_awaited

WORK = 2


@with_browser
async def test_open_pages_see_the_restored_site_data_and_do_not_overwrite_it(
    browser: str, path: Path, site: Site, tmp_path: Path
) -> None:
    file = tmp_path / "backup"
    origin = site.url("").removesuffix("/")
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:

        async def contains(text: bytes) -> bool:
            found = await profile.store.read(lambda each: dict(each.site_data.load(WORK)))
            return text in found.get(origin, b"")

        page = await runner.new_page("Work", site.url("/page/1"))
        await page.evaluate("localStorage.setItem('a', 'first')")
        await until_awaited(lambda: contains(b"first"))
        await profile.backup(file, ["Work"])
        await page.evaluate("localStorage.setItem('a', 'second')")
        await until_awaited(lambda: contains(b"second"))
        report = await profile.restore(file)
        assert report.identities[0].sites_changed == 1
        assert not (await profile.identities.find("Work")).hidden
        (tab,) = await profile.tabs.query("Work")
        restored = await runner.page(tab.id)
        assert await restored.evaluate("localStorage.getItem('a')") == "first"
        assert await contains(b"first")
