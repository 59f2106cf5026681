from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import ClientHandlerType, ClientRequest, ClientResponse, DigestAuthMiddleware, web

import hatbox
from hatbox import CookiesNotAllowed, IdentityRemoved, Profile
from tests.clients.server import Site

Work = Callable[[Profile], Awaitable[None]]


def within(path: Path, work: Work) -> None:
    async def main() -> None:
        async with hatbox.open(path) as profile:
            await work(profile)

    asyncio.run(main())


async def text(session: aiohttp.ClientSession, url: str, **options: Any) -> str:
    async with session.get(url, **options) as response:
        return (await response.read()).decode()


def test_cookies_are_refused_when_it_is_made(path: Path) -> None:
    async def work(profile: Profile) -> None:
        for options in ({"cookies": {"a": "1"}}, {"cookie_jar": aiohttp.DummyCookieJar()}):
            with pytest.raises(CookiesNotAllowed, match="was given"):
                profile.aiohttp("Work", **options)

    within(path, work)


def test_its_own_jar_takes_nothing(path: Path, site: Site) -> None:
    async def work(profile: Profile) -> None:
        async with profile.aiohttp("Work") as session:
            with pytest.raises(CookiesNotAllowed, match="own jar"):
                session.cookie_jar.update_cookies({"a": "1"})
            for host in ("127.0.0.1", "localhost"):
                with pytest.raises(CookiesNotAllowed, match="cookies= was given"):
                    await session.get(site.url(host=host), cookies={"a": "1"})

    within(path, work)
    assert not site.seen


def test_it_has_all_options_of_a_session(path: Path, site: Site) -> None:
    class Response(ClientResponse):
        pass

    async def add_cookie(request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
        request.headers["Cookie"] = "a=1"
        return await handler(request)

    async def work(profile: Profile) -> None:
        async with profile.aiohttp("Work", base_url=site.url(), response_class=Response) as session:
            async with session.get("/", params={"set": "a=1"}) as response:
                assert isinstance(response, Response)
            assert await text(session, "/") == "a=1"
        async with profile.aiohttp("Work", middlewares=[add_cookie]) as session:
            with pytest.raises(CookiesNotAllowed):
                await session.get(site.url())

    within(path, work)
    assert len(site.seen) == 2


def test_a_request_with_middlewares_of_its_own_wears_the_identity_too(path: Path, site: Site) -> None:
    async def work(profile: Profile) -> None:
        async with profile.aiohttp("Work") as session:
            await text(session, site.url(set="a=1"), middlewares=())
            assert await text(session, site.url(), middlewares=()) == "a=1"
            await profile.identities.remove("firefox-container-2")
            with pytest.raises(IdentityRemoved):
                await session.get(site.url(), middlewares=())

    within(path, work)
    assert len(site.seen) == 2


def test_digest_authentication_keeps_to_the_identity(path: Path, site: Site) -> None:
    async def work(profile: Profile) -> None:
        async with profile.aiohttp("Work", middlewares=[DigestAuthMiddleware("user", "password")]) as session:
            await text(session, site.url(set="o=0"))
            assert await text(session, site.url("/digest", set="a=1")) == "o=0; a=1"

    within(path, work)
    assert [seen.cookie for seen in site.seen] == [b"", b"o=0", b"o=0; a=1"]


def test_cookies_of_a_stream_are_taken_before_its_body(path: Path, site: Site) -> None:
    async def work(profile: Profile) -> None:
        async with (
            profile.aiohttp("Work") as session,
            session.get(site.url("/stream", set="a=1; Path=/")) as response,
        ):
            assert await text(session, site.url()) == "a=1"
            assert await response.read() == b"one,two,three"

    within(path, work)


def test_a_web_socket_wears_the_identity_too(path: Path, site: Site) -> None:
    async def talk(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_str(request.headers.get("Cookie", ""))
        await socket.close()
        return socket

    async def work(profile: Profile) -> None:
        application = web.Application()
        application.router.add_get("/", talk)
        runner = web.AppRunner(application)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            async with profile.aiohttp("Work") as session:
                await text(session, site.url(set="a=1"))
                async with session.ws_connect(f"ws://127.0.0.1:{runner.addresses[0][1]}/") as socket:
                    assert await socket.receive_str() == "a=1"
        finally:
            await runner.cleanup()

    within(path, work)


def test_a_cookie_that_aiohttp_cannot_send_stays_behind_alone(path: Path, site: Site) -> None:
    async def work(profile: Profile) -> None:
        async with profile.aiohttp("Work") as session:
            await text(session, site.url(set=["a=1", "b=\xe9\xff", "c=\xc3\xa9"]))
            await text(session, site.url())

    within(path, work)
    assert site.seen[-1].cookie == b"a=1; c=\xc3\xa9"


def test_tasks_can_share_it(path: Path, site: Site) -> None:
    async def work(profile: Profile) -> None:
        async with profile.aiohttp("Work") as session:
            await asyncio.gather(*(text(session, site.url(set=f"c{n}={n}", to=site.url())) for n in range(64)))
            assert len((await text(session, site.url())).split("; ")) == 64

    within(path, work)
