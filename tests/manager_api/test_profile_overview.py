"""The namespace hatbox: facts about the profile, for programs of the user only."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import hatbox
from hatbox.errors import PermissionDenied


def test_a_script_with_the_permission_reads_facts_about_the_profile(tmp_path: Path) -> None:
    async def read() -> dict[str, object]:
        async with hatbox.open(tmp_path / "profile.db") as profile:
            overview: dict[str, object] = await profile.browser(["hatbox"]).hatbox.getProfile()
            return overview

    overview = asyncio.run(read())
    assert str(overview["label"]).endswith("profile.db")
    assert overview["isEncrypted"] is False
    assert overview["trashDays"] == 30


def test_a_script_without_the_permission_does_not_see_it(tmp_path: Path) -> None:
    async def call() -> None:
        async with hatbox.open(tmp_path / "profile.db") as profile:
            browser = profile.browser(["contextualIdentities"])
            assert not hasattr(browser, "hatbox")
            with pytest.raises(PermissionDenied, match="hatbox needs the permission hatbox"):
                profile._dispatcher.call(browser._caller, "hatbox", "getProfile", [])

    asyncio.run(call())
