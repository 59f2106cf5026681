"""Headed Chromium, on a virtual display."""

from __future__ import annotations

import asyncio
from pathlib import Path

import hatbox
from tests.engines.chromium.real import with_browser
from tests.site import Site
from tests.waiting import until_awaited


@with_browser
async def test_windows_show_the_identity_and_the_user_is_in_charge(
    browser: str, display: None, path: Path, site: Site, tmp_path: Path
) -> None:
    downloads = tmp_path / "downloads"
    async with hatbox.open(path) as profile, profile.chromium(browser=browser, downloads=downloads) as runner:
        one = await runner.new_page("Work", site.url("/login", user="Work"))
        two = await runner.new_page("Work", site.url("/page/2"))
        other = await runner.new_page("Personal", site.url("/login", user="Personal"))
        titles = [await page.title() for page in (one, two, other)]
        assert titles == ["Signed in as Work", "Page 2", "Signed in as Personal"]
        assert [tab.title for tab in await profile.tabs.query()] == [
            "Signed in as Work",
            "Page 2",
            "Signed in as Personal",
        ]
        agent = await one.evaluate("navigator.userAgent")
        assert "Headless" not in agent
        windows = []
        for page in (one, two, other):
            session = await page.context.new_cdp_session(page)
            windows.append((await session.send("Browser.getWindowForTarget"))["windowId"])
        assert windows[0] == windows[1] != windows[2]  # one window for each identity

        # As if the user focuses another tab.
        active = [tab.id for tab in await profile.tabs.query() if tab.title == "Page 2"]
        await two.bring_to_front()

        async def is_active() -> bool:
            return [tab.id for tab in await profile.tabs.query() if tab.active] == active

        await until_awaited(is_active)

        # A dialog waits for the user.
        opened = asyncio.ensure_future(two.wait_for_event("dialog"))
        accepted = asyncio.ensure_future(two.evaluate("confirm('Sure?')"))
        dialog = await opened
        assert not accepted.done()
        await dialog.accept()
        assert await accepted is True

        await profile.identities.hide("firefox-container-2")
        await runner.wait_until_settled()
        assert one.is_closed()
        await profile.identities.show("firefox-container-2")
        tab = next(tab for tab in await profile.tabs.query() if tab.title == "Signed in as Work")
        page = await runner.page(tab.id)
        assert await page.title() == "Signed in as Work"
        assert await page.evaluate("history.length") == 1
    assert not site.mixed
