from __future__ import annotations

from pathlib import Path

import pytest

import hatbox
from hatbox.cli.terminal.tab_event_printer import TabEventPrinter
from tests.extensions.made import make
from tests.extensions.runtime.lab import needs_deno
from tests.store.in_loop import in_loop


@needs_deno
@in_loop
async def test_the_blank_tab_of_a_run_of_extensions_is_no_news(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        news = TabEventPrinter(profile, lambda _: True, as_json=False)
        with news.printing():
            extension = await profile.extensions.start(make(tmp_path))
            await profile.extensions.stop(extension)
            await profile.extensions.start(make(tmp_path))
            tab = await profile.tabs.open("Work")
            await profile.tabs.close(tab.id)
            await profile.store.deliver_pending_changes()
            await news.drain()
    output = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in output] == ["Opened", "Closed"]
    assert all(f"tab {tab.id}" in line for line in output), output
