"""fetch(): host permissions are checked for each redirect, and no cookies are sent."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from hatbox.content_coding import accept_encoding
from hatbox.errors import NetworkError
from hatbox.extensions.runtime import ScriptError
from hatbox.extensions.runtime.host import FetchRequest
from hatbox.extensions.runtime.network import Network
from hatbox.urls.match_patterns import host_permissions
from tests.clients.server import Site
from tests.coded_site import CodedSite, gzip_bomb
from tests.extensions.runtime.lab import BASE, Lab, in_lab, needs_deno
from tests.extensions.runtime.loop_delay import LoopDelay

pytestmark = needs_deno

HERE = "http://127.0.0.1/*"


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.stop()


def test_a_permitted_host_is_asked_without_cookies_and_keeps_none(tmp_path: Path, site: Site) -> None:
    async def use(lab: Lab) -> None:
        store = await lab.profile.cookie_store("firefox-default")
        await store.receive(["mine=1"], site.url())  # the default store has a cookie for it
        runtime = await lab.start(permissions=[HERE])
        url = site.url("/a", set=["from=site"])
        status, ok, seen, redirected, headers = await runtime.evaluate(f"""
            const response = await fetch({url!r});
            return [response.status, response.ok, response.url, response.redirected, [...response.headers.keys()]];
        """)
        assert (status, ok, seen, redirected) == (200, True, url, False)
        assert "set-cookie" not in headers
        await runtime.evaluate(
            f"fetch({site.url('/b')!r}, {{credentials: 'include', headers: {{Cookie: 'forged=1'}}}})"
        )
        assert [each.cookie for each in site.seen] == [b"", b""]

    in_lab(tmp_path, use)


def test_method_headers_and_body_arrive_and_bytes_come_back(tmp_path: Path, site: Site) -> None:
    site.body = bytes(range(256))

    async def use(lab: Lab) -> None:
        runtime = await lab.start(permissions=[HERE])
        source = f"""
            const body = new Uint8Array([0, 255, 10]);
            const request = new Request({site.url("/post")!r}, {{method: "POST", body, headers: {{"X-Own": "yes"}}}});
            const response = await fetch(request);
            return [...new Uint8Array(await response.arrayBuffer())];
        """
        assert await runtime.evaluate(source) == list(range(256))
        (seen,) = site.seen
        assert (seen.method, seen.body) == ("POST", b"\0\xff\n")
        assert site.headers[-1]["X-Own"] == "yes"

    in_lab(tmp_path, use)


def test_the_user_agent_is_that_of_navigator_or_the_scripts_own(tmp_path: Path, site: Site) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(permissions=[HERE])
        agent = await runtime.evaluate("navigator.userAgent")
        assert "Firefox/" in agent
        await runtime.evaluate(f"fetch({site.url('/a', to=site.url('/b'))!r})")
        await runtime.evaluate(f"fetch({site.url()!r}, {{headers: {{'user-agent': 'mine/1'}}}})")
        await runtime.evaluate(f"fetch(new Request({site.url()!r}, {{headers: {{'User-Agent': ''}}}}))")
        sent = [headers.get_all("User-Agent") for headers in site.headers]
        assert sent == [[agent], [agent], ["mine/1"], [""]]

    in_lab(tmp_path, use)


def test_a_background_with_another_navigator_is_another_user_agent(tmp_path: Path, site: Site) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(permissions=[HERE], navigator={"userAgent": "Another/2"})
        await runtime.evaluate(f"fetch({site.url()!r})")
        assert site.headers[0].get_all("User-Agent") == [await runtime.evaluate("navigator.userAgent")] == ["Another/2"]

    in_lab(tmp_path, use)


REFUSED = "TypeError: NetworkError when attempting to fetch resource."


@pytest.mark.parametrize("permissions", [[], ["https://127.0.0.1/*"], ["http://localhost/*"], ["contextualIdentities"]])
def test_a_host_without_permission_is_not_asked(tmp_path: Path, site: Site, permissions: list[str]) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(permissions=permissions)
        with pytest.raises(ScriptError, match=REFUSED):
            await runtime.evaluate(f"fetch({site.url()!r})")
        assert site.seen == []
        assert "missing host permission for 127.0.0.1" in lab.host.entries[0].text

    in_lab(tmp_path, use)


def test_a_redirection_is_followed_only_to_permitted_hosts(tmp_path: Path, site: Site) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(permissions=[HERE])
        inside = site.url("/1", to=site.url("/2"), status=302)
        assert await runtime.evaluate(f"fetch({inside!r}).then(r => [r.url, r.redirected])") == [site.url("/2"), True]
        outside = site.url("/1", to=site.url("/2", host="localhost"), status=302)
        with pytest.raises(ScriptError, match=REFUSED):
            await runtime.evaluate(f"fetch({outside!r})")
        assert all(not each.host.startswith("localhost") for each in site.seen)
        assert await runtime.evaluate(f"fetch({inside!r}, {{redirect: 'manual'}}).then(r => r.status)") == 302
        with pytest.raises(ScriptError, match=REFUSED):
            await runtime.evaluate(f"fetch({inside!r}, {{redirect: 'error'}})")

    in_lab(tmp_path, use)


@pytest.mark.parametrize("url", [r"http://127.0.0.1\@localhost/", r"http:127.0.0.1\@localhost/", "http://%31%32%37.1/"])
def test_the_host_that_is_asked_is_the_one_that_is_permitted(url: str) -> None:
    """Only a child that has escaped our half of the bridge says this: scripts have their URLs rewritten there."""
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(204, stream=httpx.ByteStream(b""))  # not read yet, as from a real transport

    async def main() -> None:
        network = Network(httpx.MockTransport(answer))
        await network.fetch(FetchRequest(url, "GET", [], "follow", None), lambda: host_permissions((HERE,)))
        await network.close()

    asyncio.run(main())
    assert asked == ["127.0.0.1"]


def test_a_permission_that_is_revoked_counts_at_once(tmp_path: Path, site: Site) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(permissions=[HERE])
        assert await runtime.evaluate(f"fetch({site.url()!r}).then(r => r.status)") == 200
        lab.host.caller.permissions.clear()
        with pytest.raises(ScriptError, match=REFUSED):
            await runtime.evaluate(f"fetch({site.url()!r})")

    in_lab(tmp_path, use)


def test_a_request_can_be_given_up(tmp_path: Path, site: Site) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start("const controller = new AbortController();", permissions=[HERE])
        loop, asked = asyncio.get_running_loop(), asyncio.Event()
        release = asyncio.Event()

        def before_answer() -> None:
            loop.call_soon_threadsafe(asked.set)
            asyncio.run_coroutine_threadsafe(release.wait(), loop).result()

        site.before_answer = before_answer
        fetching = asyncio.ensure_future(runtime.evaluate(f"fetch({site.url()!r}, {{signal: controller.signal}})"))
        await asked.wait()
        await runtime.evaluate("controller.abort()")
        with pytest.raises(ScriptError, match="AbortError"):
            await fetching
        release.set()
        async with asyncio.timeout(60):
            while runtime.pending_calls:
                await runtime.evaluate("1")

    in_lab(tmp_path, use)


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("fetch(browser.runtime.getURL('data/a.json')).then(r => r.json())", {"a": 1}),
        ("fetch('/data/a.json').then(r => r.headers.get('content-type'))", "application/json"),
        ("fetch('data/a.json').then(r => [r.url, r.status, r.ok])", [f"{BASE}data/a.json", 200, True]),
        ("fetch('data:text/plain,hello').then(r => r.text())", "hello"),
        ("fetch(URL.createObjectURL(new Blob(['b']))).then(r => r.text())", "b"),
    ],
)
def test_files_of_the_package_are_there_without_any_permission(tmp_path: Path, source: str, result: Any) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(permissions=[], files={"data/a.json": '{"a": 1}'})
        assert await runtime.evaluate(source) == result

    in_lab(tmp_path, use)


@pytest.mark.parametrize(
    "url",
    [
        "/missing.json",
        "moz-extension://another/a.json",
        "file:///etc/passwd",
        "ftp://a.example/",
        "about:blank",
        "/../../etc/passwd",
    ],
)
def test_nothing_else_is(tmp_path: Path, url: str) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(permissions=["<all_urls>"])
        with pytest.raises(ScriptError, match=REFUSED):
            await runtime.evaluate(f"fetch({url!r})")

    in_lab(tmp_path, use)


DIGEST = """
    const bytes = new Uint8Array(await (await fetch(%r)).arrayBuffer());
    return [bytes.length, new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex()];
"""


def test_a_large_body_arrives_whole(tmp_path: Path, site: Site) -> None:
    body = site.body = b"".join(number.to_bytes(4, "little") for number in range(700_000))

    async def use(lab: Lab) -> None:
        runtime = await lab.start(permissions=[HERE])
        lab.host.read_file = lambda path: body if path == "large.bin" else None
        for url in (site.url("/large"), "/large.bin"):
            assert await runtime.evaluate(DIGEST % url) == [len(body), hashlib.sha256(body).hexdigest()]

    in_lab(tmp_path, use)


def test_a_file_of_the_package_delays_nobody_however_large_it_is(tmp_path: Path) -> None:
    delay = LoopDelay()

    async def use(lab: Lab) -> None:
        runtime = await lab.start()
        lab.host.read_file = lambda _: bytes(40 << 20)
        async with delay:
            sizes = "Promise.all(['/a', '/b'].map(async url => (await (await fetch(url)).arrayBuffer()).byteLength))"
            assert await runtime.evaluate(sizes) == [40 << 20] * 2
            gone = "(async () => { const stop = new AbortController(); setTimeout(() => stop.abort(), 5);"
            assert await runtime.evaluate(
                f"{gone} await fetch('/c', {{signal: stop.signal}}); }})().catch(() => 'gone')"
            )
            with pytest.raises(ScriptError, match="error loading dynamically imported module"):
                await runtime.evaluate("import('/large.js')")
        assert "larger than 8 MiB" in lab.host.entries[-1].text

    for folder in delay.attempts(tmp_path):
        in_lab(folder, use)


def test_an_answer_is_decoded_within_the_limit() -> None:
    async def use(site: CodedSite) -> None:
        network = Network()
        everything = host_permissions(frozenset({"<all_urls>"}))

        async def fetched(coding: str, body: bytes) -> bytes:
            request = FetchRequest(site.url(coding, body), "GET", [], "follow", None)
            return (await network.fetch(request, lambda: everything)).body

        try:
            assert await fetched("gzip, gzip", gzip.compress(gzip.compress(b"text"))) == b"text"
            with pytest.raises(NetworkError, match="has more than 8388608 bytes"):
                await fetched("gzip", gzip_bomb(1))
            with pytest.raises(NetworkError, match="has more than 8388608 bytes"):
                await fetched("gzip, gzip", gzip_bomb(2))
            with pytest.raises(NetworkError, match="encoded 3 times"):
                await fetched("gzip, gzip, gzip", gzip_bomb(3))
        finally:
            await network.close()

    with CodedSite() as coded:
        asyncio.run(use(coded))
    assert set(coded.accepted) == {accept_encoding()}
