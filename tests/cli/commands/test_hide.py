"""`hatbox hide` says what of typed text is lost, also where the browser runs in another process."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import hatbox
from tests.engines.chromium.conftest import browser as browser
from tests.engines.chromium.real import with_browser
from tests.postgres import address_of
from tests.site import Site
from tests.waiting import until_awaited


async def hide(path: Path, *more: str) -> tuple[str, str]:
    """What the command prints, and what it says beside that."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hatbox", "hide", "Work", f"--profile={address_of(path)}", *more),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0
    return out.decode(), err.decode()


@with_browser
async def test_hide_says_what_typed_text_is_lost_and_only_then(browser: str, tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    with Site() as site:
        async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
            page = await runner.new_page("Work", site.url("/fields"))
            await page.fill("#name", "Ada")
            (tab,) = await profile.tabs.query("Work")
            assert await hide(path) == ("Hidden Work (firefox-container-2): 1 tab\n", "")
            await profile.identities.show("firefox-container-2")
            page = await runner.page(tab.id)
            await page.wait_for_function("document.getElementById('name').value === 'Ada'")
            await page.fill("#password", "secret-in-a-field")
            out, err = await hide(path, "--json")
            assert err == f"Tab {tab.id} (Fields): typed text is not saved: 1 password.\n"
            assert "secret-in-a-field" not in out + err
            await until_awaited(lambda: _is(page.is_closed()))
            assert await hide(path) == ("Hidden Work (firefox-container-2): 1 tab\n", "")  # it is hidden already


async def _is(truth: bool) -> bool:
    return truth


@with_browser
async def test_without_a_browser_hide_waits_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    async with hatbox.open(path) as profile:
        await profile.tabs.open("Work", "https://site.example/")
        assert await hide(path) == ("Hidden Work (firefox-container-2): 1 tab\n", "")


@with_browser
async def test_an_engine_that_leaves_hidden_pages_open_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    with Site() as site:
        async with hatbox.open(path) as profile, profile.http_engine() as runner:
            tab = await profile.tabs.open("Work", site.url("/page/1"))
            await runner.wait_until_loaded(tab.id)
            hidden = asyncio.Event()
            profile.tabs.on_hidden.add_listener(lambda _: hidden.set())
            assert (await hide(path))[1] == ""
            assert hidden.is_set()
