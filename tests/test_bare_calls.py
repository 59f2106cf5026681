"""mypy rejects calls of Playwright in `src` that have no limit of time."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BARE = """
    from playwright.async_api import Browser, BrowserContext, CDPSession, Page, Playwright, async_playwright

    from hatbox.engines.chromium.sessions import within, without_limit


    async def limited(page: Page, session: CDPSession) -> None:
        await within(page.close())
        await within(page.close() if page.is_closed() else page.bring_to_front(), "a page", 3)
        await without_limit(session.send("Page.navigate", {"url": "about:blank"}))
        page.on("close", print)


    async def bare(playwright: Playwright, browser: Browser, context: BrowserContext, page: Page) -> None:
        await async_playwright().start()  # bare
        await playwright.chromium.launch()  # bare
        await playwright.chromium.connect_over_cdp("")  # bare
        await browser.new_context()  # bare
        await context.new_page()  # bare
        session = await context.new_cdp_session(page)  # bare
        await session.send("Page.enable")  # bare
        await (await within(browser.new_browser_cdp_session())).send("Browser.close")  # bare
        await session.detach()  # bare
        closing = page.close()  # bare
        await within(closing)
        await context.close()  # bare
        await browser.close()  # bare
        await playwright.stop()  # bare
"""


@pytest.mark.process
def test_mypy_rejects_calls_without_a_limit(tmp_path: Path) -> None:
    package = tmp_path / "src" / "hatbox"
    package.mkdir(parents=True)
    file = package / "calls.py"
    file.write_text(textwrap.dedent(BARE))
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
    # The cache of `mypy` with the same configuration: CI has just filled it.
    command += ["--cache-dir", str(ROOT / ".mypy_cache"), str(file)]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    found = [int(line) for line in re.findall(r"calls\.py:(\d+): error: a call of Playwright may wait", output)]
    lines = file.read_text().splitlines()
    assert found == [number for number, line in enumerate(lines, 1) if line.endswith("# bare")], output
