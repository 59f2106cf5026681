"""What a run of extensions finds in a profile, and leaves behind: the first window, and tabs that they have hidden."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import Profile
from hatbox.extensions.extension import Extension
from hatbox.tabs.tab_model import all_tabs
from tests.engines.fake import FakeEngine, run
from tests.extensions.made import make, run_made
from tests.extensions.runtime.lab import needs_deno
from tests.store.in_loop import in_loop

pytestmark = needs_deno

URL = "https://a.example/"
HIDES: dict[str, Any] = {"permissions": ["tabs", "tabHide"]}


async def rows(profile: Profile) -> tuple[list[hatbox.Tab], int]:
    """All tabs and the number of windows, the unused first ones too."""
    return await profile.store.read(lambda each: (all_tabs(each), len(each.windows.find())))


# --------------------------------------------------------------------------------------------------- the first window


def test_the_first_run_in_a_new_profile_has_a_window_and_leaves_none(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        found = await extension.evaluate("started")
        assert [(tab["url"], tab["active"], tab["index"]) for tab in found["tabs"]] == [("about:blank", True, 0)]
        assert found["focused"] is True
        assert await extension.evaluate("browser.windows.getLastFocused().then(({id}) => id)") == found["id"]
        # Only scripts see it.
        assert (await profile.tabs.query(), await profile.tabs.windows()) == ([], [])
        await profile.extensions.stop(extension)
        assert await rows(profile) == ([], 0)

    run_made(tmp_path, use, "var started = browser.windows.getCurrent({populate: true});", permissions=["tabs"])


@in_loop
async def test_the_window_goes_with_the_last_of_several_extensions(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile, hatbox.open(tmp_path / "profile.db") as other:
        one = await profile.extensions.start(make(tmp_path, name="one"))
        two = await other.extensions.start(make(tmp_path, name="two"))
        (tab,), _ = await rows(profile)
        await profile.extensions.stop(one)
        assert (await rows(other))[0] == [tab]
        await other.extensions.stop(two)
        assert await rows(profile) == ([], 0)


@in_loop
async def test_no_engine_draws_the_first_tab_until_it_is_used(tmp_path: Path) -> None:
    engine = FakeEngine()
    async with hatbox.open(tmp_path / "profile.db") as profile:
        extension = await profile.extensions.start(make(tmp_path))
        async with run(engine, profile) as runner:
            await runner.wait_until_settled()
            await extension.evaluate("browser.tabs.create({url: 'https://b.example/', active: false}).then(() => {})")
            await runner.wait_until_settled()
            assert [url for _, url, _ in engine.told("open")] == ["https://b.example/"]
            await extension.evaluate(f"browser.tabs.update({{url: {URL!r}}}).then(() => {{}})")
            await runner.wait_until_settled()
            assert [url for _, url, _ in engine.told("open")] == ["https://b.example/", URL]
            await profile.extensions.stop(extension)
        assert len((await rows(profile))[0]) == 2


@in_loop
async def test_a_tab_that_the_user_opens_takes_the_place_of_the_first_one(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        background = "var gone = []; browser.tabs.onRemoved.addListener(id => { gone.push(id); });"
        extension = await profile.extensions.start(make(tmp_path, background))
        (first,), _ = await rows(profile)
        window = await extension.evaluate("browser.windows.getCurrent().then(({id}) => id)")
        tab = await profile.tabs.open("Work", URL)
        assert (tab.index, tab.active, tab.window_id) == (0, True, window)
        assert await profile.tabs.query() == (await rows(profile))[0] == [tab]
        assert await extension.evaluate("gone") == [first.id]
        await profile.extensions.stop(extension)
        assert await profile.tabs.query() == [tab]


HOLDER = """
import asyncio, sys, hatbox

async def main():
    async with hatbox.open(sys.argv[1]) as profile:
        extension = await profile.extensions.start(sys.argv[2])
        await extension.evaluate(sys.argv[3])
        print("up", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def run_and_kill(profile: Path, folder: Path, script: str) -> None:
    """Run an extension in a process of its own, and kill that once the script is done."""
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, str(profile), str(folder), script, stdout=asyncio.subprocess.PIPE
    )
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"up\n"
    os.kill(holder.pid, signal.SIGKILL)
    await holder.wait()


@in_loop
async def test_what_a_killed_run_has_left_goes_with_the_next_run(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    await run_and_kill(path, make(tmp_path, name="killed"), "1")
    async with hatbox.open(path) as profile:
        (left,), _ = await rows(profile)
        assert await profile.tabs.query() == []
        extension = await profile.extensions.start(make(tmp_path, name="next"))
        (tab,), windows = await rows(profile)
        assert (tab.id > left.id, windows) == (True, 1)
        await profile.extensions.stop(extension)
        assert await rows(profile) == ([], 0)


# -------------------------------------------------------------------------------------------------------- hidden tabs

HIDE_ALL = "browser.tabs.query({active: false}).then(tabs => browser.tabs.hide(tabs.map(tab => tab.id)))"


async def hidden(profile: Profile) -> list[bool]:
    return [tab.hidden for tab in await profile.tabs.query()]


@pytest.mark.parametrize("how", ["stop", "remove", "disable"])
@in_loop
async def test_tabs_that_an_extension_has_hidden_are_shown_when_it_ends(tmp_path: Path, how: str) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        for url in (URL, URL, URL):
            await profile.tabs.open("Work", url)
        folder = make(tmp_path, **HIDES)
        await profile.extensions.install(folder)
        ended: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        extension = await profile.extensions.start(folder, on_exit=lambda *_: ended.set_result(None))
        assert len(await extension.evaluate(HIDE_ALL)) == 2
        assert await hidden(profile) == [True, True, False]
        if how == "stop":
            await profile.extensions.stop(extension)
        elif how == "remove":
            await profile.extensions.remove(extension.id)
        else:
            await profile.extensions.set_enabled(extension.id, False)
            await ended
        assert await hidden(profile) == [False, False, False]


@in_loop
async def test_a_tab_stays_hidden_for_the_extension_that_has_hidden_it_first(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        for url in (URL, URL):
            await profile.tabs.open("Work", url)
        one = await profile.extensions.start(make(tmp_path, name="one", **HIDES))
        two = await profile.extensions.start(make(tmp_path, name="two", **HIDES))
        await one.evaluate(HIDE_ALL)
        await two.evaluate(HIDE_ALL)
        await profile.extensions.stop(two)
        assert await hidden(profile) == [True, False]
        await profile.extensions.reload(one.id)
        assert await hidden(profile) == [True, False]
        await profile.extensions.stop(one)
        assert await hidden(profile) == [False, False]


@in_loop
async def test_what_the_user_or_a_script_hides_stays_hidden(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        first = await profile.tabs.open("Work", URL)
        shown = await profile.tabs.open("Personal", URL)
        await profile.tabs.open("firefox-default", URL)
        extension = await profile.extensions.start(make(tmp_path, **HIDES))
        await extension.evaluate(HIDE_ALL)
        await profile.identities.hide(first.cookie_store_id)
        await extension.evaluate(f"browser.tabs.show({shown.id})")
        await profile.browser(["tabHide"]).tabs.hide(shown.id)
        await profile.extensions.stop(extension)
        assert {tab.id for tab in await profile.tabs.query() if tab.hidden} == {first.id, shown.id}
        await profile.identities.show(first.cookie_store_id)
        assert not (await profile.tabs.get(first.id)).hidden


@in_loop
async def test_tabs_that_a_killed_run_has_hidden_are_shown_by_the_next_run(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    async with hatbox.open(path) as profile:
        for url in (URL, URL):
            await profile.tabs.open("Work", url)
    await run_and_kill(path, make(tmp_path, name="killed", **HIDES), HIDE_ALL)
    async with hatbox.open(path) as profile:
        assert await hidden(profile) == [True, False]
        await profile.extensions.start(make(tmp_path, name="next"))
        assert await hidden(profile) == [False, False]
