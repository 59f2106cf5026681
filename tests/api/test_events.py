from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import PermissionDenied
from hatbox.api.browser import Browser
from hatbox.api.caller import Caller

CAMEL = "contextualIdentities"
DETAILS: Any = {"name": "Travel", "color": "blue", "icon": "vacation"}


def test_two_scripts_hear_of_a_change_each_with_an_object_of_its_own(tmp_path: Path) -> None:
    async def main() -> None:
        async with hatbox.open(tmp_path / "profile.db") as profile:
            heard: list[Any] = []
            one, two = profile.browser([CAMEL]), profile.browser([CAMEL])
            one.contextualIdentities.onCreated.addListener(heard.append)
            two.contextualIdentities.onCreated.addListener(heard.append)
            created = await two.contextualIdentities.create(DETAILS)
            assert heard == [{"contextualIdentity": created}] * 2
            assert heard[0] is not heard[1]
            one.contextualIdentities.onCreated.removeListener(heard.append)
            await one.contextualIdentities.create(DETAILS)
            assert len(heard) == 3

    asyncio.run(main())


def test_a_revoked_permission_silences_the_listener_and_forbids_new_ones(tmp_path: Path) -> None:
    async def main() -> None:
        async with hatbox.open(tmp_path / "profile.db") as profile:
            caller = Caller("test", [CAMEL])
            browser = Browser(profile._dispatcher, caller)
            heard: list[Any] = []
            event = browser.contextualIdentities.onCreated
            event.addListener(heard.append)
            caller.permissions.clear()
            await profile.identities.create("Travel", color="blue", icon="vacation")
            assert heard == []
            with pytest.raises(PermissionDenied):
                event.addListener(print)
            event.removeListener(heard.append)
            assert not event.hasListener(heard.append)

    asyncio.run(main())


def test_what_one_process_changes_is_told_in_another_profile_object(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "profile.db"
        async with hatbox.open(path) as here, hatbox.open(path) as there:
            heard: asyncio.Queue[Any] = asyncio.Queue()
            here.browser([CAMEL]).contextualIdentities.onRemoved.addListener(heard.put_nowait)
            removed = await there.browser([CAMEL]).contextualIdentities.remove("firefox-container-3")
            async with asyncio.timeout(60):
                assert await heard.get() == {"contextualIdentity": removed}

    asyncio.run(main())
