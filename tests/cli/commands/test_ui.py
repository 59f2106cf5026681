"""ui: the link, the browser, the end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from websockets.sync.client import connect

from hatbox.cli.commands import ui
from hatbox.tasks import Tasks
from hatbox.ui.server import ManagerServer
from tests.cli.conftest import Cli
from tests.ui.page_client import hello, key_in
from tests.ui.served_process import free_port


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(ui, "_GRACE_SECONDS", 0.05)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The links that were opened in the default browser, each as a page that is closed after its first result."""
    links: list[str] = []
    browsers: list[threading.Thread] = []

    def open_in_browser(link: str) -> bool:
        links.append(link)
        browsers.append(threading.Thread(target=visit, args=(link,)))
        browsers[-1].start()
        return True

    monkeypatch.setattr(ui, "open_in_browser", open_in_browser)
    yield links
    for each in browsers:
        each.join()


def visit(link: str) -> None:
    response = httpx.get(link, trust_env=False)
    cookie, *attributes = response.headers["set-cookie"].split("; ")
    path = next(each.removeprefix("Path=") for each in attributes if each.startswith("Path="))
    address = httpx.URL(link)
    headers = {"Cookie": cookie, "Origin": f"http://{address.netloc.decode()}"}
    url = f"ws://{address.netloc.decode()}{path}bridge"
    with connect(url, additional_headers=headers, proxy=None, open_timeout=60) as page:
        page.send(hello(key_in(response.text)))
        assert json.loads(page.recv())["resumed"] is False
        page.send(json.dumps([1, 0, [["c", 1, "hatbox.getProfile", []]]]))
        page.recv()
        page.close(1001)


def test_it_opens_the_page_in_the_browser_and_ends_when_it_was_closed(cli: Cli, opened: list[str]) -> None:
    result = cli("ui")
    assert result == (0, f"The manager page (the link works once): {opened[0]}\n", "")
    assert opened[0].startswith("http://127.0.0.1:")


def test_with_stay_it_runs_after_its_last_page_was_closed_until_ctrl_c(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, tasks = ManagerServer.start, Tasks()
    pages: list[str] = []

    async def open_two_pages(server: ManagerServer) -> None:
        for _ in range(2):
            await asyncio.to_thread(visit, server.create_link())
            pages.append("closed")
            await server.sockets.wait_until_unused(ui._GRACE_SECONDS)  # without --stay it ends now
        os.kill(os.getpid(), signal.SIGINT)

    async def start_and_open_pages(server: ManagerServer) -> None:
        await start(server)
        tasks.spawn(open_two_pages(server))

    monkeypatch.setattr(ManagerServer, "start", start_and_open_pages)
    assert cli("ui", "--no-open", "--stay").status == 0
    assert pages == ["closed", "closed"]


def test_programs_get_the_link_as_json(cli: Cli, opened: list[str]) -> None:
    result = cli("ui", "--json")
    port = httpx.URL(opened[0]).port
    assert result.json == {"event": "ready", "link": opened[0], "port": port, "process": os.getpid()}


def test_no_page_is_left_so_no_key_is_stored(cli: Cli, opened: list[str], profile: Path, tmp_path: Path) -> None:
    assert cli("ui").status == 0
    assert cli("ui", "--port", str(free_port())).status == 0
    assert not [*profile.parent.glob("*-ui-*"), *(tmp_path / "hatbox").glob("*-ui-*")]


def test_a_port_in_use_is_an_error_that_says_what_to_do(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        result = cli("ui", "--no-open", "--port", str(port))
    assert result.status == 1
    assert result.err == (
        f"hatbox: port {port} cannot be used: another program uses it. "
        "Choose another --port, or none for any free port.\n"
    )


def test_without_the_extra_it_says_how_to_install_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.startswith(("hatbox.ui", "starlette", "uvicorn"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = cli("ui", "--no-open")
    assert (result.status, result.err) == (
        1,
        "hatbox: uvicorn is not installed. Install it with: pip install 'hatbox[ui]'\n",
    )
