"""Only a driver that has ended is taken for one: the error of a listener is raised from the next call, too."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess

import pytest
from playwright.async_api import ConsoleMessage, async_playwright
from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium import driver_connection
from hatbox.engines.chromium.driver_connection import wait_until_driver_ends
from tests.engines.chromium.real import WITHIN, with_own_driver
from tests.waiting import until_awaited


@with_own_driver
async def test_listeners_that_fail_are_no_end_of_the_driver(
    browser: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(driver_connection, "_INTERVAL", 0.01)
    errors: list[Exception] = [PlaywrightError("first"), KeyError("second")]
    others = _drivers()
    playwright = await async_playwright().start()
    launched = await playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
    page = await launched.new_page()
    watching = asyncio.ensure_future(wait_until_driver_ends(playwright))

    for error in errors:

        def fail(_: ConsoleMessage, error: Exception = error) -> None:
            raise type(error)(*error.args)

        async def is_noticed(error: Exception = error) -> bool:
            with contextlib.suppress(PlaywrightError, KeyError):  # this call may get it, too
                await page.evaluate("console.log('now')")
            found = [each.exc_info[1] for each in caplog.records if each.name.startswith("hatbox") and each.exc_info]
            return any(str(each) == str(error) for each in found)

        page.on("console", fail)
        await until_awaited(is_noticed)
        page.remove_listener("console", fail)
    with contextlib.suppress(PlaywrightError, KeyError):
        await page.evaluate("0")  # the last error
    assert not watching.done()

    [driver] = _drivers() - others
    os.kill(driver, signal.SIGKILL)
    await asyncio.wait_for(watching, WITHIN)


def _drivers() -> set[int]:
    """The drivers that this process has started."""
    command = ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(os.getpid())]
    listed = subprocess.run(command, capture_output=True, text=True)
    return {int(line.split()[0]) for line in listed.stdout.splitlines() if "run-driver" in line}
