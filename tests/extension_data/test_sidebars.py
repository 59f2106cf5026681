from __future__ import annotations

from pathlib import Path
from typing import Any

import hatbox
from hatbox.extension_data import run_records
from hatbox.extension_data.sidebars import (
    SIDEBARS_CHANGED,
    OpenSidebar,
    close_sidebar,
    decode_sidebar,
    open_sidebar,
    open_sidebars,
    toggle_sidebar,
)
from hatbox.store.base import ChangeRecord, Transaction
from tests.store.in_loop import in_loop

A, B = "a@test", "b@test"


def start(transaction: Transaction, extension: str) -> None:
    run_records.register_run(transaction, extension, extension, {}, is_same_version=True)


@in_loop
async def test_a_window_has_one_sidebar_and_every_change_is_observed_once(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        window = (await profile.tabs.open("Work")).window_id
        changes: list[OpenSidebar] = []

        def on_change(change: ChangeRecord) -> None:
            if change.topic == SIDEBARS_CHANGED:
                changes.append(decode_sidebar(change.payload))

        profile.store.subscribe(on_change)

        def write(transaction: Transaction) -> None:
            for action, extension in ((open_sidebar, A), (open_sidebar, A), (open_sidebar, B), (close_sidebar, A)):
                action(transaction, extension, window)

        await profile.tabs.write(write)
        assert await profile.tabs.read(open_sidebars) == [OpenSidebar(window, B)]
        await profile.tabs.write(lambda each: toggle_sidebar(each, B, window))
        assert [change.extension for change in changes] == [A, B, ""]
        profile.store.unsubscribe(on_change)


@in_loop
async def test_the_sidebar_of_an_extension_that_has_ended_is_closed_and_others_stay(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        windows = [
            (await profile.browser({"tabs"}).windows.create({}))["id"],
            (await profile.browser({"tabs"}).windows.create({}))["id"],
        ]

        def opened(transaction: Transaction) -> None:
            for extension, window in zip((A, B), windows, strict=True):
                start(transaction, extension)
                open_sidebar(transaction, extension, window)

        await profile.tabs.write(opened)
        await profile.tabs.write(lambda each: run_records.unregister_run(each, A))
        assert await profile.tabs.read(open_sidebars) == [OpenSidebar(windows[1], B)]


@in_loop
async def test_a_closed_window_has_no_sidebar(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser: Any = profile.browser({"tabs"})
        window = (await browser.windows.create({}))["id"]
        await profile.tabs.write(lambda each: open_sidebar(each, A, window))
        await browser.windows.remove(window)
        assert await profile.tabs.read(open_sidebars) == []
