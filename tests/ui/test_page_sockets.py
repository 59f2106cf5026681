"""Lost connections: each call runs once, each event arrives once and in order."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from hatbox.errors import ProfileError
from hatbox.ui.page_calls import DONE
from hatbox.ui.page_limits import PageLimits
from tests.ui.manager import Manager, open_manager
from tests.ui.page_client import Opened, PageClient, hello, open_link
from tests.waiting import until

DETAILS: Final = {"name": "Once", "color": "red", "icon": "gift"}


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


async def test_a_lost_page_that_comes_back_late_does_not_repeat_what_was_done(tmp_path: Path) -> None:
    async with open_manager(tmp_path / "profile.db", limits=PageLimits(resume_timeout=0.1)) as manager:
        opened = await open_link(manager.server.create_link())
        session, call = str(uuid4()), ["c", 1, "contextualIdentities.create", [DETAILS]]
        async with _connect(opened) as lost:
            await lost.send(hello(manager.server.keys.page_key, session))
            await lost.recv()
            await lost.send(json.dumps([1, 0, [call]]))
            await lost.recv()  # the result, which the page does not acknowledge
            lost.transport.abort()
        await until(lambda: manager.server.sockets.sessions == 0)
        async with _connect(opened) as back:
            await back.send(hello(manager.server.keys.page_key, session, calls=1))
            assert json.loads(await back.recv())["resumed"] is False
            await back.send(json.dumps([1, 0, [call]]))
            assert json.loads(await back.recv())[2] == [["r", 1, False, DONE]]
        assert [each.name for each in await manager.profile.identities.query()][4:] == [DETAILS["name"]]


async def test_a_page_that_lost_the_welcome_of_a_restarted_server_is_connected_at_once(manager: Manager) -> None:
    opened = await open_link(manager.server.create_link())
    first = hello(manager.server.keys.page_key, str(uuid4()), 50, 3)  # frames of the server before
    async with _connect(opened) as lost:
        await lost.send(first)
        await until(lambda: manager.server.sockets.sessions)
        lost.transport.abort()
    async with _connect(opened) as back:
        await back.send(first)
        assert json.loads(await back.recv())["resumed"] is False
        await back.send(json.dumps([1, 0, [["c", 4, "contextualIdentities.create", [DETAILS]]]]))
        assert json.loads(await back.recv())[2][0][:3] == ["r", 4, True]
        assert manager.server.sockets.sessions == 1


async def test_a_page_whose_earlier_calls_cannot_be_read_tries_again(
    manager: Manager, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    opened, store = await open_link(manager.server.create_link()), manager.profile.store
    first = hello(manager.server.keys.page_key, str(uuid4()), calls=1)

    async def fail(_: Any) -> Any:
        raise ProfileError(store.label, "the server is gone", "")

    with monkeypatch.context() as patch:
        patch.setattr(store, "read", fail)
        async with _connect(opened) as refused:
            await refused.send(first)
            with pytest.raises(ConnectionClosed):
                await refused.recv()
            assert refused.close_code == 1013
    assert [each.name for each in caplog.records] == ["hatbox.ui"], "no unexpected exception"
    async with _connect(opened) as back:
        await back.send(first)
        assert json.loads(await back.recv())["resumed"] is False


async def test_pages_resume_while_the_store_does_not_answer_a_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_manager(tmp_path / "profile.db", limits=PageLimits(pages=2)) as manager:
        store, asked, answered = manager.profile.store, asyncio.Event(), asyncio.Event()
        read, first = store.read, hello(manager.server.keys.page_key, str(uuid4()), calls=1)

        def read_later(work: Any) -> asyncio.Future[Any]:
            async def answer() -> Any:
                asked.set()
                await answered.wait()
                return await read(work)

            return asyncio.ensure_future(answer())

        async with PageClient(await open_link(manager.server.create_link())) as client:
            monkeypatch.setattr(store, "read", read_later)
            opened = client.url, client.cookie, client.key
            async with _connect(opened) as new, _connect(opened) as again, _connect(opened) as third:
                await new.send(first)
                await asked.wait()
                await again.send(first)
                client.disconnect()
                await until(lambda: client.welcomes == [False, True])
                await third.send(hello(manager.server.keys.page_key, str(uuid4())))
                with pytest.raises(ConnectionClosed):
                    await third.recv()
                assert third.close_code == 1013, "the page that is being opened counts"
                answered.set()
                assert json.loads(await again.recv())["resumed"], "a session is created once"
                assert manager.server.sockets.sessions == 2


async def test_a_page_that_connects_while_the_server_stops_gets_no_session(manager: Manager) -> None:
    opened = await open_link(manager.server.create_link())
    await manager.server.sockets.close()
    async with _connect(opened) as late:
        await late.send(hello(manager.server.keys.page_key, str(uuid4())))
        with pytest.raises(ConnectionClosed):
            await late.recv()
        assert late.close_code == 1013
    assert manager.server.sockets.sessions == 0


def _connect(opened: Opened) -> connect:
    url, value, _ = opened
    headers = {"Cookie": value, "Origin": url[: url.index("/", 8)]}
    return connect(url.replace("http", "ws", 1) + "bridge", additional_headers=headers, proxy=None, open_timeout=60)
