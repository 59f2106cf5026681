"""The bridge between a document of Chromium and the host."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.extensions.pages.page_lab import OpenPage, open_page

pytestmark = pytest.mark.browser


def run(folder: Path, use: Callable[[OpenPage], Awaitable[None]], background: str = "", **options: Any) -> None:
    async def main() -> None:
        async with open_page(folder, background, **options) as opened:
            await use(opened)

    asyncio.run(main())


def test_a_page_calls_the_api_and_its_values_survive(tmp_path: Path) -> None:
    async def use(opened: OpenPage) -> None:
        found = await opened.evaluate(
            """async () => {
                await browser.storage.local.set({text: "ä\\u2028", number: 1.5, list: [1, null], date: 3});
                return await browser.storage.local.get();
            }"""
        )
        assert found == {"text": "ä\u2028", "number": 1.5, "list": [1, None], "date": 3}

    run(tmp_path, use, permissions=["storage"])


def test_a_page_and_the_background_exchange_messages(tmp_path: Path) -> None:
    background = """
        browser.runtime.onMessage.addListener(async (message, sender) => {
            if (message.back) return browser.runtime.sendMessage({to: "page", when: message.when});
            return {echo: message, url: sender.url};
        });
    """

    async def use(opened: OpenPage) -> None:
        got = await opened.evaluate("() => browser.runtime.sendMessage({when: new Date(5), map: new Map([[1, 2]])})"
                                    ".then(({echo, url}) => [echo.when.getTime(), echo.map.get(1), url])")
        assert got == [5, 2, f"{opened.extension.manifest.base_url}page.html"]
        got = await opened.evaluate(
            """async () => {
                browser.runtime.onMessage.addListener(async message => `page has ${message.to} ${message.when}`);
                return browser.runtime.sendMessage({back: true, when: 7});
            }"""
        )
        assert got == "page has page 7"

    run(tmp_path, use, background)


def test_a_page_receives_events_and_ports(tmp_path: Path) -> None:
    background = """
        browser.runtime.onConnect.addListener(port => {
            port.onMessage.addListener(message => port.postMessage(`${port.name}: ${message}`));
        });
    """

    async def use(opened: OpenPage) -> None:
        changed = await opened.evaluate(
            """() => new Promise(resolve => {
                browser.storage.onChanged.addListener((changes, area) => resolve([area, changes]));
                browser.storage.local.set({a: 1});
            })"""
        )
        assert changed == ["local", {"a": {"oldValue": None, "newValue": 1}}]
        said = await opened.evaluate(
            """() => new Promise(resolve => {
                const port = browser.runtime.connect({name: "p"});
                const got = [];
                port.onMessage.addListener(message => got.push(message) === 3 && resolve(got));
                for (const each of [1, 2, 3]) port.postMessage(each);
            })"""
        )
        assert said == ["p: 1", "p: 2", "p: 3"]

    run(tmp_path, use, background, permissions=["storage"])
