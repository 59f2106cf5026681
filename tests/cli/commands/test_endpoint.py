"""hatbox endpoint: an address for programs, until the grant behind it ends."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from websockets.exceptions import InvalidStatus

import hatbox
from tests.cli import engines
from tests.cli.conftest import Cli, Start
from tests.engines.chromium.endpoint.raw_client import RawClient
from tests.site import Site
from tests.waiting import block_until, until_awaited

needs_chromium = pytest.mark.skipif(not engines.has_chromium(), reason="needs a Chromium: sudo apt install chromium")


@pytest.fixture(autouse=True)
def no_engine_is_left(profile: Path, surroundings: None) -> Iterator[None]:
    yield
    engines.end(profile)


def create(cli: Cli, *options: str) -> str:
    """The token of a new grant."""
    made = cli("grant", "create", *options, "--json")
    return str(made.json["token"])


def test_a_grant_that_allows_too_little_is_refused_with_what_is_missing(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = ("--action", "pages", "--action", "cookieValues", "--host", "<all_urls>")
    for options, missing in (
        (("--identity", "Work", "--action", "pages"), "does not allow the action cookieValues"),
        (("--identity", "Work"), "does not allow the actions pages and cookieValues"),
        (("--identity", "Work", *both[:4], "--host", "site.example"), "is limited to some hosts"),
        (("--identity", "Work", *both[:4]), "does not allow private networks"),
        (("--identity", "Personal", *both), "does not include this identity"),
    ):
        monkeypatch.setenv("TOKEN", create(cli, *options))
        result = cli("endpoint", "Work", "--headless", "--grant", "TOKEN")
        assert (result.status, result.out) == (1, "")
        assert missing in result.err
        assert "hatbox grant create" in result.err
    monkeypatch.setenv("TOKEN", "hatbox_" + "x" * 43)
    assert "token is not valid" in cli("endpoint", "Work", "--headless", "--grant", "TOKEN").err
    assert "has no token" in cli("endpoint", "Work", "--grant", "NO_SUCH_VARIABLE").err
    monkeypatch.setenv("TOKEN", create(cli, "--identity", "Work", *both))
    assert "time of its own" in cli("endpoint", "Work", "--grant", "TOKEN", "--for", "1h").err
    assert cli("endpoint", "Work", "--for", "soon").status == 2
    assert cli("endpoint", "Nobody").status == 1
    assert all(each["isValid"] for each in cli("grant", "list", "--json").json)  # nothing was created or revoked
    assert len(cli("grant", "list", "--json").json) == 6


def started(program: Start, *options: str) -> tuple[Any, dict[str, Any]]:
    """The process of an endpoint, and what it has printed."""
    process = program("endpoint", "Work", "--headless", "--json", *options)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.stderr.read().decode() if process.stderr else ""
    return process, msgspec.json.decode(line)


def programs(cli: Cli) -> list[list[str]]:
    """The grants of the connected programs, by endpoint."""
    return [[each["grant"] for each in one["programs"]] for one in cli("status", "--json").json["endpoints"]]


@needs_chromium
def test_revoking_ends_an_endpoint_and_a_second_one_uses_the_running_browser(program: Start, cli: Cli) -> None:
    with Site() as site:
        site.sign_in("Work")
        first, printed = started(program, "--for", "1h")
        second, other = started(program)
        assert len(cli("status", "--json").json["engines"]) == 1  # one browser for both
        windows = cli("endpoint", "Work")
        assert (windows.status, windows.out) == (1, "")
        assert 'identity "Work" is already open' in windows.err
        assert "it has no windows" in windows.err
        assert "it runs another browser" in cli("endpoint", "Work", "--headless", "--browser", sys.executable).err
        killed, _ = started(program)
        killed.kill()
        killed.wait()
        assert [each["isValid"] for each in cli("grant", "list", "--json").json] == [True, True, False, False, False]

        async def use() -> None:
            async with RawClient(printed["url"]) as one, RawClient(other["url"]) as two:
                await one.open_page(site.url("/login", user="Work"))

                async def is_signed_in() -> bool:
                    targets = await two.result("Target.getTargets")
                    return [each["url"] for each in targets["targetInfos"]] == [site.url("/me")]

                await until_awaited(is_signed_in)
                await one.result("Storage.getCookies")
                connected = [[printed["grant"]], [other["grant"]]]
                await asyncio.to_thread(block_until, lambda: sorted(programs(cli)) == sorted(connected))
                text = await asyncio.to_thread(cli, "status")
                assert f"hatbox endpoint for Work, process {first.pid}" in text.out
                revoked = time.monotonic()
                assert (await asyncio.to_thread(cli, "grant", "revoke", other["grant"])).status == 0
                await two.closed.wait()
                assert time.monotonic() - revoked < 10  # a quiet machine needs less than a second
                assert await asyncio.to_thread(second.wait) == 1
                with pytest.raises((InvalidStatus, OSError)):
                    await RawClient(other["url"]).__aenter__()
                replayed = f"{printed['url'].rpartition('/')[0]}/{other['url'].rpartition('/')[2]}"
                with pytest.raises(InvalidStatus):  # also at an endpoint that still runs
                    await RawClient(replayed).__aenter__()
                await one.result("Browser.getVersion")
                first.send_signal(signal.SIGINT)
                await one.closed.wait()

        asyncio.run(use())
        assert first.wait() == 0
        errors = [each.stderr.read().decode() for each in (first, second)]
        assert f"the grant {other['grant']} was revoked" in errors[1]
        for each in (printed, other):
            assert each["url"].rpartition("/")[2] not in "".join(errors)
        assert f"in the browser of hatbox endpoint (pid {first.pid})" in errors[1]
        assert cli("status", "--json").json["endpoints"] == []
        assert [each["isValid"] for each in cli("grant", "list", "--json").json] == [False] * 5
        recorded = cli("activity", "--grant", printed["grant"], "--json").json
        assert {(each["action"], each["host"]) for each in recorded} == {
            ("endpoint.connect", ""),
            ("endpoint.load", "127.0.0.1"),
            ("endpoint.readCookies", ""),
        }
        assert "/login" not in str(recorded)
        assert printed["url"].rpartition("/")[2] not in str(recorded)


@needs_chromium
def test_beside_an_http_engine_for_all_identities_a_browser_is_started(program: Start, profile: Path) -> None:
    def serve() -> None:
        process, printed = started(program)
        assert printed["identity"]["name"] == "Work"
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0

    async def run() -> None:
        async with hatbox.open(profile) as opened, opened.http_engine():
            await asyncio.to_thread(serve)

    asyncio.run(run())


def test_a_folder_or_a_file_that_cannot_be_used_is_refused_before_anything_starts(cli: Cli, tmp_path: Path) -> None:
    for option in ("--uploads", "--downloads"):
        assert "is no folder" in cli("endpoint", "Work", "--headless", option, str(tmp_path / "none")).err
    for file in (tmp_path, tmp_path / "none" / "file"):
        assert "no file in an existing folder" in cli("endpoint", "Work", "--headless", "--output", str(file)).err
    assert cli("endpoint", "Work", "--port", "0").status == 2
    assert cli("grant", "list", "--json").json == []


@needs_chromium
@pytest.mark.browser
def test_an_endpoint_in_the_background_has_folders_and_a_port_of_its_own(cli: Cli, tmp_path: Path) -> None:
    uploads, downloads, file = tmp_path / "up", tmp_path / "down", tmp_path / "endpoint.txt"
    for each in (uploads, downloads):
        each.mkdir()
    (uploads / "a.txt").write_text("from the folder")
    with socket.create_server(("127.0.0.1", 0)) as used:
        port = used.getsockname()[1]
        refused = cli("endpoint", "Work", "--headless", "--port", str(port), "--output", str(file))
        assert (refused.status, file.exists()) == (1, False)
        assert f"port {port} cannot be used: another program uses it" in refused.err
    options = ("--uploads", str(uploads), "--downloads", str(downloads), "--port", str(port))
    started = cli("endpoint", "Work", "--headless", *options, "--output", str(file), "--json")
    assert started.status == 0, started.err
    assert file.stat().st_mode & 0o777 == 0o600
    written = msgspec.json.decode(file.read_bytes())
    assert written["address"] == f"127.0.0.1:{port}"
    assert written["url"] not in started.out
    listed = f"http://127.0.0.1:{port}/json/list"
    with urllib.request.urlopen(listed, timeout=20) as response:
        assert response.status == 200
    by_hatbox = [sys.executable, "-m", "hatbox", "fetch", "Work", listed]  # as an agent or an extension can
    refused_fetch = subprocess.run(by_hatbox, capture_output=True, text=True, timeout=60, check=False)
    assert "need the address with a token" in refused_fetch.stdout

    async def use(url: str) -> None:
        async with RawClient(url) as client:
            await client.result("Browser.setDownloadBehavior", {"behavior": "default", "eventsEnabled": True})
            _, session = await client.open_page(
                "data:text/html,<input type=file><a download=b.txt href='data:,b'>b</a>"
            )
            await client.result("Runtime.enable", {}, session)
            found = await client.result("Runtime.evaluate", {"expression": "document.querySelector('input')"}, session)
            chosen = {"objectId": found["result"]["objectId"], "files": ["a.txt"]}
            await client.result("DOM.setFileInputFiles", chosen, session)
            read = "document.querySelector('input').files[0].text()"
            assert await client.evaluate(read, session) == "from the folder"
            outside = chosen | {"files": ["../endpoint.txt"]}
            assert (
                "Not a file below" in (await client.call("DOM.setFileInputFiles", outside, session))["error"]["message"]
            )
            await client.evaluate("document.querySelector('a').click()", session)
            ended = await client.event("Browser.downloadProgress", lambda each: each["state"] != "inProgress")
            assert ended["filePath"] == str(downloads / "b.txt")
            assert (downloads / "b.txt").read_text() == "b"
            assert (await asyncio.to_thread(cli, "grant", "revoke", written["grant"])).status == 0
            await client.closed.wait()

    asyncio.run(use(f"ws://127.0.0.1:{port}/devtools/browser/any"))


@needs_chromium
def test_a_headless_download_without_a_folder_is_reported_as_cancelled(program: Start) -> None:
    process, printed = started(program)

    async def use() -> None:
        async with RawClient(printed["url"]) as client:
            allow = {"behavior": "allow", "downloadPath": "/tmp"}
            refused = await client.call("Browser.setDownloadBehavior", allow)
            assert "--downloads FOLDER" in refused["error"]["message"]
            await client.result("Browser.setDownloadBehavior", allow | {"eventsEnabled": True})
            _, session = await client.open_page("data:text/html,<a download=b.txt href='data:,b'>b</a>")
            await client.evaluate("document.querySelector('a').click()", session)
            ended = await client.event("Browser.downloadProgress", lambda each: each["state"] != "inProgress")
            assert ended["state"] == "canceled"

    asyncio.run(use())
    process.send_signal(signal.SIGINT)
    assert process.wait() == 0
    assert process.stderr is not None
    assert b"b.txt is not saved: start hatbox endpoint with --downloads FOLDER" in process.stderr.read()
