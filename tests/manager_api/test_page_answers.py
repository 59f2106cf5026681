"""Popups and options pages of an extension that was started from the manager page, in a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

import hatbox
from tests.engines.chromium.conftest import browser
from tests.extensions.made import make
from tests.extensions.runtime.lab import needs_deno
from tests.manager_api.page_errors import refused
from tests.manager_api.test_managed_extensions import FILES, ID, MANIFEST, api
from tests.store.in_loop import in_loop
from tests.waiting import until

__all__ = ["browser"]


@needs_deno
@in_loop
async def test_popup_and_options_open_for_an_extension_that_was_started_here(
    browser: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    popup = {"browser_action": {"default_popup": "popup.html", "default_title": "Show"}}
    files = {
        "popup.html": "<script src=said.js></script>",
        "said.js": "browser.runtime.sendMessage(location.pathname)",
        "options.html": "<script src=said.js></script>",
    }
    script = "browser.runtime.onMessage.addListener(path => { console.log('open', path); });"
    async with hatbox.open(tmp_path / "profile.db") as profile:
        lines: list[str] = []
        events = api(profile)
        events.onLog.addListener(lambda each: lines.extend(line["text"] for line in each["lines"]))
        await profile.extensions.install(make(tmp_path, script, files=FILES | files, **(MANIFEST | popup)))
        await api(profile).start(ID)
        await api(profile).log(ID)
        with refused(r"not open: no display found\. Run Hatbox in a desktop session\.$"):
            await api(profile).clickAction(ID)
        await api(profile).stop(ID)

        headless = tmp_path / "chromium"
        headless.write_text(f'#!/bin/sh\nexec "{browser}" --headless "$@"\n')
        headless.chmod(0o755)
        monkeypatch.setenv("HATBOX_CHROMIUM", str(headless))
        monkeypatch.setenv("DISPLAY", ":unused")
        await api(profile).start(ID)
        await api(profile).log(ID)
        assert await api(profile).clickAction(ID) is True
        await api(profile).openOptions(ID)
        await until(lambda: sum(each.startswith("open /") for each in lines) == 2)
        assert [each.split()[1] for each in lines if each.startswith("open /")] == ["/popup.html", "/options.html"]
        assert not await profile.running_engines()  # it opens no tabs of the profile

        closed: list[dict[str, str]] = []
        events.onPageClosed.addListener(closed.append)
        await api(profile).bringPageToFront(ID, "options")
        await api(profile).closePage(ID, "popup")
        await until(lambda: closed == [{"id": ID, "page": "popup"}])
        with refused(r"the page of made was closed\. Open it again\."):
            await api(profile).bringPageToFront(ID, "popup")
        await api(profile).stop(ID)
        with refused("not running any more"):
            await api(profile).closePage(ID, "options")
