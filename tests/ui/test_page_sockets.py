"""Lost connections: each call runs once, each event arrives once and in order."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tests.ui.manager import Manager, open_manager
from tests.ui.page_client import PageClient, open_link
from tests.waiting import until


def _create(client: PageClient, name: str) -> asyncio.Future[Any]:
    return client.call("contextualIdentities.create", {"name": name, "color": "red", "icon": "gift"})


async def test_calls_and_events_survive_lost_connections_once_and_in_order(manager: Manager) -> None:
    async with PageClient(await open_link(manager.server.create_link())) as client:
        client.listen("contextualIdentities.onCreated")
        texts = 0

        def lose_some(_: str) -> None:
            nonlocal texts
            texts += 1
            if texts % 7 == 0:
                client.disconnect()

        client.on_text = lose_some
        names = [f"identity {number}" for number in range(120)]
        results = [_create(client, name) for name in names[:60]]
        await results[0]
        results += [_create(client, name) for name in names[60:]]
        created = await asyncio.gather(*results)
        assert [each["name"] for each in created] == names
        await until(lambda: len(client.events) >= len(names))
        assert [arguments[0]["contextualIdentity"]["name"] for _, arguments in client.events] == names
        assert [each.name for each in await manager.profile.identities.query()][4:] == names
        assert len(client.welcomes) > 1, "no connection was lost"
        assert client.welcomes[1:] == [True] * (len(client.welcomes) - 1)


async def test_calls_made_while_offline_are_sent_when_the_server_is_back(manager: Manager) -> None:
    async with PageClient(await open_link(manager.server.create_link())) as client:
        client.disconnect()
        assert (await _create(client, "Offline"))["name"] == "Offline"
        assert len(client.welcomes) == 2


async def test_pages_of_two_servers_of_one_profile_receive_the_same_events(manager: Manager, tmp_path: Path) -> None:
    async with (
        open_manager(tmp_path / "profile.db") as second,
        PageClient(await open_link(manager.server.create_link())) as one,
        PageClient(await open_link(second.server.create_link())) as other,
    ):
        for client in (one, other):
            client.listen("contextualIdentities.onCreated")
            await client.call("hatbox.getProfile")
        await _create(one, "From one")
        await _create(other, "From the other")
        await until(lambda: len(one.events) == len(other.events) == 2)
        assert one.events == other.events
