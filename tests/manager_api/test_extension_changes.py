"""hatbox.extensions.onChanged: what another process changes of an extension is reported by id, without polling."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

import hatbox
from hatbox.extension_data import commands, run_records
from hatbox.extension_data.action_values import GLOBAL, set_value, tab_scope
from hatbox.extension_data.actions import ACTION
from hatbox.extension_data.run_records import RunRecord
from hatbox.manager_api import coalesced_changes
from hatbox.store.base import Transaction
from hatbox.store.processes import host_id, start_time
from tests.extensions.made import make
from tests.store.in_loop import in_loop
from tests.waiting import until, until_awaited

ID = "made@example.org"
MANIFEST: dict[str, Any] = {
    "name": "made",
    "browser_action": {"default_title": "Switch"},
    "commands": {"go": {"suggested_key": {"default": "Ctrl+Shift+Y"}, "description": "Go"}},
}


def api(profile: hatbox.Profile) -> Any:
    return profile.browser(["hatbox"]).hatbox.extensions


@pytest.fixture(autouse=True)
def _emit_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coalesced_changes, "INTERVAL_SECONDS", 0.0)


class Changes:
    """The events of a page."""

    def __init__(self, page: hatbox.Profile) -> None:
        self.page = page
        self.ids: list[str] = []
        self.api = api(page)
        self.api.onChanged.addListener(self._add)

    def _add(self, change: dict[str, Any]) -> None:
        assert not change["all"]
        self.ids += change["ids"]

    async def after(self, program: hatbox.Profile, change: Callable[[Transaction], object]) -> list[str]:
        """The ids that are named once a change by another program was delivered."""
        await self.named()
        await program.store.write(change)
        await self.page.store.deliver_pending_changes()
        await until(lambda: self.ids)
        return await self.named()

    async def named(self) -> list[str]:
        for _ in range(5):  # turns of the event loop, after which nothing is waiting
            await asyncio.sleep(0)
        named, self.ids = self.ids, []
        return named


async def install(program: hatbox.Profile, folder: Path, *ids: str) -> None:
    for each in ids:
        folder = folder / each
        folder.mkdir()
        gecko = {"browser_specific_settings": {"gecko": {"id": each}}}
        await program.extensions.install(make(folder, **{**MANIFEST, **gecko}))


def run(area: str) -> Callable[[Transaction], None]:
    return lambda each: run_records.register_run(each, area, area, MANIFEST, is_same_version=True)


@in_loop
async def test_a_badge_a_menu_and_a_command_changed_by_another_process_are_named(address: str, tmp_path: Path) -> None:
    async with hatbox.open(address) as program, hatbox.open(address) as page:
        await install(program, tmp_path, ID, "other@example.org")
        await program.store.write(run(ID))
        changes = Changes(page)

        def set_badge(transaction: Transaction) -> None:
            set_value(transaction, ID, ACTION, GLOBAL, "badgeText", "7")

        assert await changes.after(program, set_badge) == [ID]
        (listed,) = await api(page).list([ID, "missing@example.org"])
        assert (listed["id"], listed["action"]["badge"]) == (ID, "7")
        assert len(await api(page).list()) == 2

        await program.store.write(set_badge)
        await page.store.deliver_pending_changes()
        assert await changes.named() == []  # it was the same
        shortcut = {"name": "go", "description": "Run", "shortcut": None}
        assert await changes.after(program, lambda each: commands.update(each, ID, MANIFEST, shortcut)) == [ID]
        assert await changes.after(program, lambda each: commands.reset(each, ID, MANIFEST, "go")) == [ID]
        assert await changes.after(program, lambda each: run_records.reset_ui(each, ID)) == [ID]
        assert await changes.after(program, run("other@example.org")) == ["other@example.org"]
        assert await changes.after(program, lambda each: run_records.unregister_run(each, ID)) == [ID]


@in_loop
async def test_an_extension_with_a_badge_for_one_tab_is_named_when_another_tab_is_activated(
    address: str, tmp_path: Path
) -> None:
    async with hatbox.open(address) as program, hatbox.open(address) as page:
        await install(program, tmp_path, ID)
        await program.store.write(run(ID))
        first = await program.tabs.open("firefox-default", "https://site.example/")
        other = await program.tabs.open("firefox-default", "https://other.example/", active=False)
        changes = Changes(page)

        def set_badge(transaction: Transaction) -> None:
            set_value(transaction, ID, ACTION, tab_scope(transaction, first.id), "badgeText", "7")

        await changes.after(program, set_badge)
        assert (await api(page).list())[0]["action"]["badge"] == "7"
        await changes.named()
        await program.tabs.activate(other.id)
        await until(lambda: changes.ids)
        assert changes.ids == [ID]
        assert (await api(page).list([ID]))[0]["action"]["badge"] == ""


def waiting_process() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)


@pytest.mark.process
@in_loop
async def test_an_extension_whose_process_was_killed_is_not_shown_as_running(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as page:
        await install(page, tmp_path, ID)
        process = waiting_process()
        try:
            record = RunRecord(ID, "made", process.pid, start_time(process.pid) or "", {}, ID, host_id())
            started = msgspec.json.encode({"extension": ID, "name": "made"})

            def register(transaction: Transaction) -> None:
                transaction.extensions.put(ID, "running", "", msgspec.json.encode(record))
                transaction.changes.append(run_records.STARTED, started)

            changes = Changes(page)
            await changes.after(page, register)
            assert (await api(page).list([ID]))[0]["isRunning"]
            process.kill()  # it is not waited for: it stays in the table of processes
            await until(lambda: ID in changes.ids)

            async def is_stopped() -> bool:
                return not (await api(page).list([ID]))[0]["isRunning"]

            async def problem() -> str:
                return str((await api(page).list([ID]))[0].get("problem", ""))

            await until_awaited(is_stopped)
            assert (await problem()).startswith("It ended unexpectedly: its program was killed")
            await page.store.write(run_records.clean_up)  # as the next run of any extension does
            assert (await problem()).startswith("It ended unexpectedly: its program was killed")
            await page.store.write(run(ID))
            assert await problem() == ""  # it was started again
            await page.store.write(lambda each: run_records.unregister_run(each, ID))
            assert await problem() == ""  # it was stopped
        finally:
            process.kill()
            process.communicate()


@in_loop
async def test_nothing_is_read_while_nothing_changes(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as page:
        await Changes(page).named()
        reads = 0
        read = page.store.read

        def count(*arguments: Any, **options: Any) -> Any:
            nonlocal reads
            reads += 1
            return read(*arguments, **options)

        page.store.read = count  # type: ignore[method-assign]
        for _ in range(100):  # what is repeated is due at once: see _emit_at_once
            await asyncio.sleep(0)
        assert reads == 0
