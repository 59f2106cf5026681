"""A command that uses a browser ends in time, whatever the browser does, and leaves no process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

import pytest

from hatbox.child_processes import descendants, start_time
from hatbox.cli import program_end
from tests.cli import engines
from tests.cli.conftest import Cli
from tests.engines.chromium.endpoint.raw_client import RawClient
from tests.mcp.initialize_message import INITIALIZE
from tests.threaded_site import PageHandler, ThreadedSite
from tests.ui.page_client import PageClient, open_link
from tests.waiting import block_until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc"),
    pytest.mark.skipif(not engines.has_chromium(), reason="needs a Chromium: sudo apt install chromium"),
]

SECONDS = 10
MARK = "TEST_OF_PROGRAM_END"


class _Endless(PageHandler):
    """Pages that never answer, after their load or while they load: they compute, or wait for this server."""

    requested = threading.Event()
    ended = threading.Event()

    def respond(self) -> None:
        self.requested.set()
        if self.path == "/never":
            self.ended.wait()
            return
        wait = "const r = new XMLHttpRequest(); r.open('GET', '/never', false); r.send();"
        script = "while (true);" if self.path.startswith("/busy") else wait
        if not self.path.endswith("/loading"):
            script = f"setTimeout(() => {{ {script} }}, 100)"
        self.send_page(f"<title>Endless</title><script>{script}</script>")


@pytest.fixture
def site() -> Iterator[ThreadedSite]:
    _Endless.requested.clear()
    _Endless.ended.clear()
    with ThreadedSite(_Endless) as site:
        yield site
        _Endless.ended.set()


class Program:
    """`python -m hatbox`, and all processes that it or one of them has started."""

    def __init__(self, *arguments: str) -> None:
        self._mark = f"{MARK}={uuid4()}"
        name, _, value = self._mark.partition("=")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hatbox", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, name: value},
        )

    def line(self) -> str:
        """The next line that it prints."""
        line = _stream(self.process.stdout).readline().decode()
        assert line, _stream(self.process.stderr).read().decode()
        return line

    def write(self, message: dict[str, Any]) -> None:
        """Write a message of JSON to its input."""
        _stream(self.process.stdin).write(json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n")
        _stream(self.process.stdin).flush()

    def driver(self) -> int:
        """Playwright's driver. Waits until it has started."""

        def drivers() -> list[int]:
            return [pid for pid in descendants(self.process.pid) if "run-driver" in _command(pid)]

        block_until(drivers, "start of Playwright's driver")
        return drivers()[0]

    def others(self) -> dict[int, str]:
        """The commands of the other processes that are running, also of those whose parent has ended."""
        found = {}
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):  # not a process, or it has ended
                environment = (folder / "environ").read_bytes().split(b"\0")
                if self._mark.encode() in environment and start_time(int(folder.name)) is not None:
                    found[int(folder.name)] = _command(int(folder.name))[:200]
        found.pop(self.process.pid, None)
        return found

    def ended(self, seconds: float = SECONDS) -> tuple[int, str]:
        """Wait until it and the others have ended; returns its exit status and errors. Fails if that takes too long."""
        deadline = time.monotonic() + seconds
        try:
            _, errors = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            left = {self.process.pid: "hatbox itself"} | self.others()
            pytest.fail(f"not ended within {seconds} s: {left}")
        block_until(lambda: not self.others() or time.monotonic() > deadline)
        assert not self.others(), "hatbox has ended, and these processes are left"
        return self.process.returncode, errors.decode()

    def ended_with(self, status: int, seconds: float = SECONDS) -> None:
        """As `ended`, with this status, or with 1 and the reason if a busy machine was too slow for the orderly end."""
        actual, errors = self.ended(seconds)
        assert actual == status or (actual == 1 and "the orderly end took more than" in errors), (actual, errors)

    def kill(self) -> None:
        """Kill all of them."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        for pid in self.others():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    return ""


Start = Callable[..., Program]


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[Program] = []

    def start_program(*arguments: str) -> Program:
        started.append(Program(*arguments))
        return started[-1]

    yield start_program
    for each in started:
        each.kill()


def endless_page(_: Program) -> None:
    """The page itself is the fault."""


def stopped_driver(program: Program) -> None:
    os.kill(program.driver(), signal.SIGSTOP)


def dead_driver(program: Program) -> None:
    os.kill(program.driver(), signal.SIGKILL)


Fault = Callable[[Program], None]


def page_for(fault: Fault) -> str:
    """The path of a page that does not answer. It takes a processor only if it is the fault itself."""
    return "/busy" if fault is endless_page else "/waiting"


with_faults = pytest.mark.parametrize("fault", [endless_page, stopped_driver, dead_driver])


def terminate(program: Program) -> None:
    program.process.send_signal(signal.SIGTERM)


def end_input(program: Program) -> None:
    _stream(program.process.stdin).close()
    program.process.stdin = None


def test_the_limits_leave_a_second_of_ten_to_kill_processes() -> None:
    steps = (program_end._ORDERLY_SECONDS, program_end._SAVE_SECONDS, 2 * program_end._PRINT_SECONDS)
    assert sum(steps) <= 9


@with_faults
@pytest.mark.parametrize("end", [terminate, end_input])
def test_the_server_of_an_agent_ends(start: Start, site: ThreadedSite, fault: Fault, end: Fault, cli: Cli) -> None:
    program = start("mcp", "--identity", "Work", "--host", "<all_urls>")
    program.write(INITIALIZE)
    program.line()
    program.write({"method": "notifications/initialized"})
    program.write(_tool(2, "browser_navigate", url=site.url(page_for(fault))))
    assert _Endless.requested.wait(60)  # the call has not returned
    fault(program)
    end(program)
    program.ended_with(0)
    assert "browser_navigate" in cli("activity", "--json").out
    assert [each["isValid"] for each in cli("grant", "list", "--json").json] == [False]


def _tool(number: int, name: str, **arguments: object) -> dict[str, Any]:
    return {"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


@with_faults
def test_an_endpoint_ends(start: Start, site: ThreadedSite, fault: Fault, cli: Cli) -> None:
    program = start("endpoint", "Work", "--headless", "--json")
    printed = json.loads(program.line())

    async def use() -> None:
        async with RawClient(printed["url"]) as client:
            await client.open_page(site.url(page_for(fault)))
            fault(program)
            terminate(program)
            await client.closed.wait()

    asyncio.run(use())
    program.ended_with(0)
    assert "endpoint.load" in cli("activity", "--json").out
    assert [each["isValid"] for each in cli("grant", "list", "--json").json] == [False]


SCRIPT = """
import sys
async with profile.chromium(headless=True) as runner:
    page = await runner.new_page("Work", sys.argv[1])
    try:
        print("ready", flush=True)
        while True:
            {}
    finally:
        print("cleaned up", flush=True)
"""


@with_faults
def test_a_script_with_a_browser_ends(start: Start, site: ThreadedSite, fault: Fault, tmp_path: Path) -> None:
    script = tmp_path / "x.py"
    script.write_text(SCRIPT.format("await page.title()"))
    program = start("run", str(script), site.url(page_for(fault)))
    assert program.line() == "ready\n"
    fault(program)
    if fault is not dead_driver:
        terminate(program)
        assert program.line() == "cleaned up\n"
    program.ended_with(1 if fault is dead_driver else 128 + signal.SIGTERM)


def test_a_script_that_never_awaits_ends(start: Start, tmp_path: Path) -> None:
    script = tmp_path / "x.py"
    script.write_text("try:\n    print('ready', flush=True)\n    while True: pass\nfinally:\n    print('cleaned up')\n")
    program = start("run", str(script))
    assert program.line() == "ready\n"
    terminate(program)
    assert program.line() == "cleaned up\n"
    program.ended_with(128 + signal.SIGTERM)


def test_a_script_that_does_not_end_is_ended_with_its_browser(start: Start, site: ThreadedSite, tmp_path: Path) -> None:
    script = tmp_path / "x.py"
    script.write_text(
        SCRIPT.format("await page.title()") + "        import threading\n        threading.Event().wait()\n"
    )
    program = start("run", str(script), site.url("/waiting"))
    assert program.line() == "ready\n"
    terminate(program)
    assert program.line() == "cleaned up\n"
    status, errors = program.ended()
    assert status == 1
    assert "SIGTERM: the orderly end took more than 7 s. It waited for Playwright's driver (process " in errors
    assert "), the browser (process " in errors


@pytest.mark.parametrize("fault", [endless_page, stopped_driver])
def test_the_start_of_a_background_browser_is_undone(start: Start, site: ThreadedSite, fault: Fault, cli: Cli) -> None:
    program = start("open", "Work", site.url(page_for(fault) + "/loading"), "--headless")
    if fault is stopped_driver:
        stopped_driver(program)
    else:
        program.driver()
    terminate(program)
    program.ended_with(128 + signal.SIGTERM)
    assert cli("tabs", "--json").json == []


@with_faults
def test_opening_ends_and_the_running_browser_can_be_stopped(
    start: Start, site: ThreadedSite, fault: Fault, cli: Cli
) -> None:
    browser = start("browse", "--headless", "--json")
    browser.line()
    program = start("open", "Work", site.url(page_for(fault) + "/loading"), "--headless")
    block_until(lambda: cli("tabs", "--json").json)
    fault(browser)
    terminate(program)
    program.ended_with(128 + signal.SIGTERM)
    assert len(cli("tabs", "--json").json) == 1
    terminate(browser)
    browser.ended_with(0, seconds=30)  # it saves the site data of all pages


@with_faults
def test_the_manager_page_ends(start: Start, site: ThreadedSite, fault: Fault, cli: Cli) -> None:
    program = start("ui", "--no-open", "--json")
    link = json.loads(program.line())["link"]

    async def use() -> None:
        async with PageClient(await open_link(link)) as page:
            options = {"engine": "chromium", "headless": True}
            url = site.url(page_for(fault) + "/loading")
            opening = page.call("hatbox.tabs.open", "firefox-container-2", url, options)
            await asyncio.to_thread(fault, program)
            terminate(program)
            await asyncio.to_thread(program.process.wait, SECONDS)
            opening.cancel()

    asyncio.run(use())
    cli("stop")  # the browser that it has started, if that was ready in time: it continues
    program.ended_with(0)
