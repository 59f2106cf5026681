"""What clients other than the page get from the server: status 403 and nothing else."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.ui.manager import Manager, open_manager
from tests.ui.page_client import PageClient, open_link
from tests.ui.served_process import free_port

OTHER_ORIGINS = [
    None,
    "null",
    "http://127.0.0.1:1",
    "http://127.0.0.1",
    "https://127.0.0.1:{port}",
    "http://evil.example",
    "http://127.0.0.1:{port}.evil.example",
    "moz-extension://0b5c6d0e-8f6d-4c4e-9d0b-3b2f6a1c2d3e",
    "file://",
]
_NOBODY = 65534  # a user without rights
OTHER_HOSTS = [
    "evil.example:{port}",
    "127.0.0.1",
    "127.0.0.1:1",
    "127.0.0.1.evil.example:{port}",
    "127.0.0.2:{port}",
    "localhost:{port}",
    "[::1]:{port}",
    "",
]


@asynccontextmanager
async def client_of(manager: Manager) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(trust_env=False, base_url=f"http://127.0.0.1:{manager.server.port}") as client:
        yield client


async def status_of_websocket(url: str, headers: dict[str, str], host: str | None = None) -> int:
    """The status of a handshake with these headers; `host` is the value of Host."""
    parsed = httpx.URL(url)
    address = f"ws://{host or parsed.netloc.decode()}{parsed.path}bridge"
    try:
        async with connect(
            address, additional_headers=headers, proxy=None, host="127.0.0.1", port=parsed.port, open_timeout=60
        ):
            return 101
    except InvalidStatus as error:
        assert not error.response.body
        return error.response.status_code


async def test_a_page_from_elsewhere_opens_no_websocket_although_the_browser_sends_the_cookie(manager: Manager) -> None:
    url, cookie, _ = await open_link(manager.server.create_link())
    port = manager.server.port
    own = {"Cookie": cookie, "Origin": f"http://127.0.0.1:{port}"}
    assert await status_of_websocket(url, own) == 101
    for origin in OTHER_ORIGINS:
        sent = {} if origin is None else {"Origin": origin.format(port=port)}
        assert await status_of_websocket(url, {"Cookie": cookie, **sent}) == 403, origin
    for site in ("cross-site", "same-site"):
        assert await status_of_websocket(url, {**own, "Sec-Fetch-Site": site}) == 403
    assert await status_of_websocket(url, {"Origin": own["Origin"]}) == 403
    assert await status_of_websocket(url, {**own, "Cookie": "hatbox_page=" + "A" * 43}) == 403


async def test_a_name_that_is_rebound_to_loopback_gets_nothing(manager: Manager) -> None:
    url, cookie, _ = await open_link(manager.server.create_link())
    token_path = httpx.URL(manager.server.create_link()).path
    async with client_of(manager) as client:
        for host in OTHER_HOSTS:
            named = host.format(port=manager.server.port)
            headers = {"Host": named, "Origin": f"http://{named}", "Cookie": cookie}
            for path in (token_path, httpx.URL(url).path, "/"):
                response = await client.get(path, headers=headers)
                assert (response.status_code, response.content) == (403, b""), host
                assert "set-cookie" not in response.headers
            if host:
                sent = {"Cookie": cookie, "Origin": f"http://{named}"}
                assert await status_of_websocket(url, sent, named) == 403
        assert (await client.get(token_path)).status_code == 200  # it was not used


async def test_a_client_without_a_token_or_with_a_used_or_guessed_one_gets_nothing(manager: Manager) -> None:
    link = manager.server.create_link()
    url, _, _ = await open_link(link)
    other = "hatbox_page=" + "B" * 43
    async with client_of(manager) as client:
        paths = [
            "/",
            "/index.html",
            "/hatbox-open/",
            "/hatbox-open/guess",
            httpx.URL(link).path,
            httpx.URL(url).path,
            "/favicon.ico",
        ]
        bodies = set()
        for path in [*paths, f"{httpx.URL(url).path}api.js", f"{httpx.URL(url).path}bridge", "/etc/passwd"]:
            for headers in ({}, {"Cookie": other}):
                response = await client.get(path, headers=headers)
                assert response.status_code == 403 and "set-cookie" not in response.headers, path
                bodies.add(response.text)
    (body,) = bodies
    assert "Run <code>hatbox ui</code> again" in body


async def test_the_cookie_of_another_server_is_refused(manager: Manager, tmp_path: Path) -> None:
    async with open_manager(tmp_path / "other.db") as other:
        _, cookie, _ = await open_link(other.server.create_link())
        async with client_of(manager) as client:
            path = httpx.URL(manager.url).path
            assert (await client.get(path, headers={"Cookie": cookie})).status_code == 403


async def test_the_cookie_is_strict_and_its_path_is_known_to_this_server_only(manager: Manager) -> None:
    async with client_of(manager) as client:
        response = await client.get(manager.server.create_link())
        cookie, *attributes = response.headers["set-cookie"].split("; ")
        assert set(attributes) == {"HttpOnly", "SameSite=strict", f"Path=/{manager.server.keys.prefix}/"}
        assert len(manager.server.keys.prefix) == len("hatbox-") + 43
        own = {"Cookie": f"hatbox_page=of-another-server; {cookie}"}
        page = await client.get(httpx.URL(manager.url).path, headers=own)
        assert page.status_code == 200
        for site in ("cross-site", "same-site"):
            refused = await client.get(httpx.URL(manager.url).path, headers={**own, "Sec-Fetch-Site": site})
            assert refused.status_code == 403


async def test_a_link_is_not_used_by_a_frame_an_image_or_a_prefetch(manager: Manager) -> None:
    link = manager.server.create_link()
    async with client_of(manager) as client:
        for headers in (
            {"Sec-Fetch-Dest": "iframe", "Sec-Fetch-Mode": "navigate"},
            {"Sec-Fetch-Dest": "image", "Sec-Fetch-Mode": "no-cors"},
            {"Sec-Purpose": "prefetch"},
        ):
            assert (await client.get(link, headers=headers)).status_code == 403
        assert (await client.head(link)).status_code == 403
        assert (await client.get(link)).status_code == 200


async def test_a_service_worker_of_a_program_that_used_the_port_before_is_deleted(tmp_path: Path) -> None:
    async with open_manager(tmp_path / "profile.db", port=free_port()) as manager, client_of(manager) as client:
        opened = await client.get(manager.server.create_link())
        assert opened.headers["clear-site-data"] == '"cache", "storage"'
        assert (await client.get("/", headers={"Service-Worker": "script"})).content == b""


async def test_every_response_has_the_security_headers_and_no_other_method_works(manager: Manager) -> None:
    url, cookie, _ = await open_link(manager.server.create_link())
    origin = f"http://127.0.0.1:{manager.server.port}"
    async with client_of(manager) as client:
        responses = [
            await client.get(manager.server.create_link()),
            await client.get("/"),
            await client.get(url, headers={"Cookie": cookie}),
            await client.get(f"{url}api.js", headers={"Cookie": cookie}),
            await client.get(f"{url}nothing.js", headers={"Cookie": cookie}),
        ]
        for response in responses:
            policy = response.headers["content-security-policy"]
            scripts = "'sha256-" if response is responses[0] else "'self'; style-src 'self'"
            assert policy.startswith(f"default-src 'none'; script-src {scripts}")
            for part in (
                "frame-ancestors 'none'",
                "form-action 'none'",
                "base-uri 'none'",
                "require-trusted-types-for 'script'",
                "trusted-types 'none'",
            ):
                assert part in policy
            assert response.headers["x-content-type-options"] == "nosniff"
            assert response.headers["referrer-policy"] == "no-referrer"
            assert response.headers["cross-origin-opener-policy"] == "same-origin"
            assert response.headers["cross-origin-resource-policy"] == "same-origin"
            assert "no-" in response.headers["cache-control"]
            assert "access-control-allow-origin" not in response.headers
        page, script = responses[2:4]
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert script.headers["content-type"] == "text/javascript; charset=utf-8"
        again = await client.get(f"{url}api.js", headers={"Cookie": cookie, "If-None-Match": script.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
            refused = await client.request(method, url, headers={"Cookie": cookie})
            assert (refused.status_code, refused.content) == (403, b"")
            assert (await client.request(method, url, headers={"Cookie": cookie, "Origin": origin})).status_code == 405


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="only root can become another user")
async def test_another_user_of_the_machine_gets_nothing_even_with_the_link_and_the_cookie(manager: Manager) -> None:
    url, cookie, _ = await open_link(manager.server.create_link())
    link = manager.server.create_link()
    program = (
        "import encodings.idna, encodings.latin_1, http.client, os, sys, urllib.parse\n"
        "if user := int(sys.argv[1]):\n"
        "    os.setgroups([]); os.setgid(user); os.setuid(user)\n"
        "for url, cookie in zip(sys.argv[2::2], sys.argv[3::2]):\n"
        "    parts = urllib.parse.urlsplit(url)\n"
        "    client = http.client.HTTPConnection(parts.netloc, timeout=30)\n"
        "    try:\n"
        "        client.request('GET', parts.path, headers={'Cookie': cookie})\n"
        "        print(client.getresponse().status)\n"
        "    except ConnectionError:\n"
        "        print('refused')\n"
    )

    def run(user: int) -> str:
        command = [sys.executable, "-c", program, str(user), url, cookie, link, ""]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout

    assert await asyncio.to_thread(run, _NOBODY) == "refused\nrefused\n"
    assert await asyncio.to_thread(run, 0) == "200\n200\n"  # the link was not used


async def test_no_log_has_a_token_or_a_cookie(manager: Manager, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    link = manager.server.create_link()
    cookie = await open_link(link)
    async with PageClient(cookie) as page:
        await page.call("hatbox.getProfile")
    async with client_of(manager) as client:
        await client.get("/hatbox-open/guess")
    own = [each.getMessage() for each in caplog.records if each.name.startswith(("uvicorn", "hatbox", "starlette"))]
    secrets = (link.rpartition("/")[2], cookie[1].partition("=")[2], manager.server.keys.prefix, "guess")
    assert not [line for line in own if any(secret in line for secret in secrets)]
