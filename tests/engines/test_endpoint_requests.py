"""Requests for endpoints through the profile: answered by the engine that serves the identity, bounded, cleaned up."""

from __future__ import annotations

import asyncio
import secrets
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

import hatbox
from hatbox.engines import endpoint_requests
from hatbox.engines.chromium import endpoint_answers
from hatbox.engines.chromium.endpoint.authorization import Authorize, TokenAuthorization, authorize_token
from hatbox.engines.chromium.endpoint.endpoint import Endpoint
from hatbox.engines.chromium.endpoint_answers import AnsweringEngine, EndpointAnswers
from hatbox.engines.endpoint_options import NO_OPTIONS, EndpointOptions
from hatbox.engines.endpoint_requests import (
    ENDPOINT_RELEASED,
    ENDPOINT_REQUESTED,
    AwaitedState,
    EndpointAnswer,
    EndpointRequest,
    hash_token,
    request_endpoint,
)
from hatbox.engines.runner import EngineRunner
from hatbox.engines.running_engines import RunningEngine, engine_for
from hatbox.errors import EngineError
from hatbox.store.base import ChangeRecord
from hatbox.store.keys import Key
from hatbox.store.processes import current_process
from tests.engines.fake import FakeEngine, run
from tests.postgres import address_for
from tests.store.in_loop import in_loop
from tests.waiting import until

WORK, PERSONAL = "firefox-container-2", "firefox-container-1"
TOKEN = secrets.token_urlsafe(32)
KEY = Key(bytes(range(32))).text
GRANT = "hatbox_a-grant"
ROOT = Path(__file__).parents[2]


class Browser(FakeEngine):
    """An engine without a browser that has the name of one."""

    name: ClassVar[str] = "Chromium"


class Service:
    """Implements EndpointService without a browser."""

    async def version(self) -> dict[str, Any]:
        return dict.fromkeys(("product", "protocolVersion", "userAgent", "jsVersion", "revision"), "1")

    async def targets(self) -> list[dict[str, Any]]:
        return []

    async def connect(self, socket: Any, authorization: object, page_id: str) -> None:
        raise NotImplementedError


class Host:
    """The side of an engine: what it has opened."""

    def __init__(self, profile: hatbox.Profile, runner: EngineRunner, *, has_grants: bool = True) -> None:
        self.opened: list[Endpoint] = []
        self.options: list[EndpointOptions] = []
        grants = (lambda _, __: authorize_token(GRANT, TokenAuthorization())) if has_grants else None
        waits: dict[AwaitedState, Callable[[], Awaitable[None]]] = {"settled": runner.wait_until_settled}
        since = runner._division.since
        engine = AnsweringEngine(runner.serves, lambda: since, self._open, lambda _: None, waits, grants)
        self.answers = EndpointAnswers(profile.store, engine)

    async def _open(self, cookie_store_id: str, authorize: Authorize, options: EndpointOptions) -> Endpoint:
        assert cookie_store_id == WORK
        self.options.append(options)
        endpoint = Endpoint(Service(), authorize)
        await endpoint.start()
        self.opened.append(endpoint)
        return endpoint

    @property
    def listening(self) -> list[Endpoint]:
        return [each for each in self.opened if not each.is_closed]


@asynccontextmanager
async def hosting(
    address: Path | str, key: str | None = None, *, has_grants: bool = True
) -> AsyncIterator[tuple[hatbox.Profile, Host]]:
    """A profile with an engine that answers requests."""
    async with hatbox.open(address, key=key) as profile, run(Browser(), profile, "Work") as runner:
        host = Host(profile, runner, has_grants=has_grants)
        host.answers.start()
        host.answers.set_ready()
        try:
            yield profile, host
        finally:
            await host.answers.stop()
            await asyncio.gather(*(each.close() for each in host.opened))


async def engine_of(profile: hatbox.Profile) -> RunningEngine:
    found = await engine_for(profile.store, WORK)
    assert found is not None
    return found


async def status(port: int, token: str) -> int:
    """The status of the answer to a client."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET /{token}/json/version HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    line = await reader.readline()
    writer.close()
    return int(line.split()[1])


@pytest.mark.parametrize("kind", ["sqlite", "encrypted", pytest.param("postgres", marks=pytest.mark.server)])
@in_loop
async def test_an_engine_opens_an_endpoint_for_the_token_of_a_program_in_any_profile(path: Path, kind: str) -> None:
    address = address_for(path) if kind == "postgres" else path
    key = KEY if kind == "encrypted" else None
    async with hosting(address, key) as (profile, host), hatbox.open(address, key=key) as program:
        seen: list[ChangeRecord] = []
        profile.store.subscribe(seen.append)
        engine = await engine_of(program)
        first = await request_endpoint(program.store, engine, WORK, token_hash=hash_token(TOKEN))
        second = await request_endpoint(program.store, engine, WORK, token_hash=hash_token("other"))
        assert first.url(TOKEN) == f"ws://127.0.0.1:{first.port}/{TOKEN}"
        assert [await status(first.port, each) for each in (TOKEN, "other", GRANT, hash_token(TOKEN))] == [
            200,
            404,
            404,
            404,
        ]
        assert await status(second.port, TOKEN) == 404
        await first.close()
        await until(lambda: [each.port for each in host.listening] == [second.port])
        assert await status(second.port, "other") == 200
        assert not any(TOKEN.encode() in each.payload for each in seen)


@in_loop
async def test_requests_for_clients_with_grants_share_an_endpoint_until_the_last_ends(path: Path) -> None:
    async with hosting(path) as (profile, host):
        engine = await engine_of(profile)
        first = await request_endpoint(profile.store, engine, WORK)
        second = await request_endpoint(profile.store, engine, WORK)
        assert first.port == second.port
        assert [await status(first.port, each) for each in (GRANT, TOKEN)] == [200, 404]
        await first.close()
        await first.close()
        assert await status(second.port, GRANT) == 200
        await second.close()
        await until(lambda: not host.listening)


@in_loop
async def test_an_endpoint_with_folders_is_that_of_one_program(path: Path) -> None:
    async with hosting(path) as (profile, host):
        engine = await engine_of(profile)
        options = EndpointOptions(uploads="/uploads", grant="g")
        shared = await request_endpoint(profile.store, engine, WORK)
        own = await request_endpoint(profile.store, engine, WORK, options=options)
        same = await request_endpoint(profile.store, engine, WORK, options=options)
        assert len({shared.port, own.port, same.port}) == 3
        assert host.options == [NO_OPTIONS, options, options]


@in_loop
async def test_an_older_engine_that_ignores_the_folders_is_not_used(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer_of_older(*arguments: Any, **_: Any) -> EndpointAnswer:
        return EndpointAnswer(*arguments)

    monkeypatch.setattr("hatbox.engines.chromium.endpoint_answers.EndpointAnswer", answer_of_older)
    async with hosting(path) as (profile, host):
        engine = await engine_of(profile)
        with pytest.raises(EngineError, match="older version"):
            await request_endpoint(profile.store, engine, WORK, options=EndpointOptions(downloads="/downloads"))
        await until(lambda: not host.listening)


@in_loop
async def test_an_endpoint_that_takes_long_to_close_delays_no_other_program(path: Path) -> None:
    async with hosting(path) as (_, host), hatbox.open(path) as program:
        engine = await engine_of(program)
        first = await request_endpoint(program.store, engine, WORK, token_hash=hash_token("first"))
        closing, ended = asyncio.Event(), asyncio.Event()

        async def wait() -> None:
            closing.set()
            await ended.wait()

        host.opened[0].on_closed = wait
        await first.close()
        await closing.wait()
        second = await request_endpoint(program.store, engine, WORK, token_hash=hash_token(TOKEN))
        assert await status(second.port, TOKEN) == 200
        ended.set()


@in_loop
async def test_an_engine_without_grants_says_so(path: Path) -> None:
    async with hosting(path, has_grants=False) as (profile, host):
        with pytest.raises(hatbox.EngineError, match="does not know grants"):
            await request_endpoint(profile.store, await engine_of(profile), WORK)
        assert not host.opened


PROGRAM = """
import asyncio, sys, hatbox
from hatbox.engines.endpoint_requests import hash_token, request_endpoint
from hatbox.engines.running_engines import engine_for

async def main():
    async with hatbox.open(sys.argv[1]) as profile:
        engine = await engine_for(profile.store, sys.argv[2])
        print((await request_endpoint(profile.store, engine, sys.argv[2], token_hash=hash_token("t"))).port, flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.process
@in_loop
async def test_the_endpoint_of_a_killed_program_is_closed(path: Path) -> None:
    async with hosting(path) as (_, host):
        with subprocess.Popen(  # noqa: ASYNC220 - it starts at once
            [sys.executable, "-c", PROGRAM, str(path), WORK], stdout=subprocess.PIPE, text=True, cwd=ROOT
        ) as program:
            assert program.stdout is not None
            port = int(await asyncio.to_thread(program.stdout.readline))
            assert await status(port, "t") == 200
            program.kill()
        await until(lambda: not host.listening)


@in_loop
async def test_an_engine_that_does_not_answer_is_busy_after_a_bounded_time(path: Path) -> None:
    async with hatbox.open(path) as profile, run(Browser(), profile, "Work"):
        seen: list[str] = []
        profile.store.subscribe(lambda change: seen.append(change.topic))
        with pytest.raises(hatbox.EngineBusy, match=r"Chromium engine of .* \(pid \d+\).*: it does not answer") as busy:
            await request_endpoint(profile.store, await engine_of(profile), WORK, max_time=0.1)
        assert (busy.value.engine, busy.value.identity) == ("Chromium", WORK)
        await until(lambda: seen.count(ENDPOINT_RELEASED))  # an engine that wakes up later opens nothing


@in_loop
async def test_an_engine_that_ends_meanwhile_is_reported_at_once(path: Path) -> None:
    async with hatbox.open(path) as profile:
        runner = run(Browser(), profile, "Work")
        async with runner:
            request = asyncio.ensure_future(request_endpoint(profile.store, await engine_of(profile), WORK))
            await asyncio.sleep(0)
        with pytest.raises(hatbox.EngineError, match="has ended"):
            await request


@pytest.mark.parametrize("change", ["user", "machine", "older", "http"])
@in_loop
async def test_an_engine_that_cannot_be_reached_is_busy_at_once(path: Path, change: str) -> None:
    async with hatbox.open(path) as profile, run(Browser(), profile, "Work"):
        engine = await engine_of(profile)
        assert engine.process is not None
        changes: dict[str, tuple[dict[str, Any], str]] = {
            "user": ({"user": "another"}, "runs as another user"),
            "machine": ({"process": engine.process._replace(host="elsewhere/1/2")}, "runs on another machine"),
            "older": ({"user": ""}, "an older version of Hatbox"),
            "http": ({"engine": "HTTP"}, "only Chromium"),
        }
        changed, reason = changes[change]
        seen: list[str] = []
        profile.store.subscribe(lambda record: seen.append(record.topic))
        with pytest.raises(hatbox.EngineBusy, match=reason):
            await request_endpoint(profile.store, msgspec.structs.replace(engine, **changed), WORK)
        await profile.tabs.open("Work")
        await until(lambda: seen)
        assert ENDPOINT_REQUESTED not in seen


@in_loop
async def test_requests_that_are_garbage_late_foreign_or_too_many_open_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint_answers, "MAX_REQUESTS", 1)
    async with hosting(path) as (profile, host):

        async def append(topic: str, payload: object) -> None:
            await profile.store.write(lambda each: each.changes.append(topic, msgspec.json.encode(payload)))

        here, ended = current_process(), current_process()._replace(started_at="0")
        engine = await engine_of(profile)
        good = EndpointRequest("1", WORK, here, time.time() + 60, engine.since or 0, "00")
        late = msgspec.structs.replace(good, expires=time.time() - 1)
        for payload in (
            {"id": 7},
            "garbage",
            late,
            msgspec.structs.replace(good, process=ended),
            msgspec.structs.replace(good, process=here._replace(host="elsewhere")),
            msgspec.structs.replace(good, cookie_store_id=PERSONAL),
            msgspec.structs.replace(good, since=1.0),
        ):
            await append(ENDPOINT_REQUESTED, payload)
            await profile.store.deliver_pending_changes()
            await until(lambda: not host.answers._requests)
        await append(ENDPOINT_RELEASED, 5)
        await append(ENDPOINT_RELEASED, "unknown")
        await request_endpoint(profile.store, engine, WORK, token_hash=hash_token(TOKEN))
        with pytest.raises(hatbox.EngineError, match="1 programs use endpoints"):
            await request_endpoint(profile.store, engine, WORK, token_hash=hash_token(TOKEN))
        assert len(host.opened) == 1


def test_the_name_of_the_engine_is_that_of_chromium() -> None:
    from hatbox.engines.chromium.engine import ChromiumEngine

    assert ChromiumEngine.name == endpoint_requests.CHROMIUM
