"""The bridge between a document of Chromium and the host."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from hatbox.errors import ExtensionTerminated
from hatbox.extensions.pages.cdp_connection import TEXT_COST, WINDOW, CdpConnection
from hatbox.extensions.runtime import Exit, RuntimeLimits
from tests.engines.chromium import shared_driver
from tests.extensions.pages.page_lab import OpenPage, open_page

pytestmark = pytest.mark.browser


def run(folder: Path, use: Callable[[OpenPage], Awaitable[None]], background: str = "", **options: Any) -> None:
    async def main() -> None:
        async with open_page(folder, background, **options) as opened:
            await use(opened)

    shared_driver.run(main())


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
        got = await opened.evaluate(
            "() => browser.runtime.sendMessage({when: new Date(5), map: new Map([[1, 2]])})"
            ".then(({echo, url}) => [echo.when.getTime(), echo.map.get(1), url])"
        )
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


def test_a_page_finds_neither_the_binding_nor_the_receive_function(tmp_path: Path) -> None:
    names = """() => Object.getOwnPropertyNames(globalThis).concat(Object.getOwnPropertyNames(Window.prototype))
        .filter(name => ["hatbox", "receiver"].includes(name) || /RTC|WebTransport/.test(name))"""

    async def use(opened: OpenPage) -> None:
        assert await opened.evaluate("() => browser.runtime.getPlatformInfo().then(() => typeof hatbox)") == "undefined"
        assert await opened.evaluate(names) == []
        frame = "const frame = document.createElement('iframe'); document.documentElement.append(frame); "
        inside = f"() => {{ {frame} return typeof frame.contentWindow.hatbox; }}"
        assert await opened.evaluate(inside) == "undefined"

    run(tmp_path, use)


def test_a_page_that_floods_waits_for_the_host_and_loses_nothing(tmp_path: Path) -> None:
    async def use(opened: OpenPage) -> None:
        total = await opened.evaluate(
            """async () => {
                const port = browser.runtime.connect();
                const last = new Promise(resolve => port.onMessage.addListener(resolve));
                for (let i = 0; i < 20000; i++) port.postMessage("x".repeat(500));
                port.postMessage("end");
                return last;
            }"""
        )
        assert total == 20_000 * 500
        assert opened.runtime.connection.running

    background = """browser.runtime.onConnect.addListener(port => {
        let total = 0;
        port.onMessage.addListener(text => text === "end" ? port.postMessage(total) : total += text.length);
    });"""
    run(tmp_path, use, background)


def test_a_page_that_floods_has_little_on_its_way_to_the_host(tmp_path: Path) -> None:
    async def use(opened: OpenPage) -> None:
        connection = opened.runtime.connection
        assert isinstance(connection, CdpConnection)
        await opened.evaluate("() => browser.runtime.getPlatformInfo()")
        sizes: list[int] = []
        receive = connection.binding_called

        def record(text: str) -> None:
            sizes.append(len(text))
            receive(text)

        connection.binding_called = record  # type: ignore[method-assign]
        connection.set_reading(False)  # nothing is acknowledged
        flood = "for (let i = 0; i < 20000; i++) browser.runtime.getPlatformInfo().then(() => { globalThis.last = i; })"
        await opened.session.send("Runtime.evaluate", {"expression": f"{flood}, 1"})
        await opened.session.send("Runtime.evaluate", {"expression": "1"})  # after the calls of the binding
        assert 0 < sum(sizes) <= WINDOW
        assert len(sizes) <= WINDOW // TEXT_COST + 1
        connection.set_reading(True)
        await opened.page.wait_for_function("globalThis.last === 19999")

    run(tmp_path, use)


def test_a_closed_document_ends_its_runtime_and_the_next_one_has_its_own(tmp_path: Path) -> None:
    async def use(opened: OpenPage) -> None:
        first = opened.runtime
        await opened.evaluate("() => browser.runtime.getPlatformInfo()")
        await opened.show("page.html?again")
        assert (await first.exited).reason == "exited"
        assert await opened.evaluate("() => browser.runtime.getPlatformInfo().then(info => typeof info.os)") == "string"
        assert opened.runtime is not first
        await opened.page.close()
        opened.contexts.close(Exit("exited"))
        assert (await opened.runtime.exited).reason == "exited"

    run(tmp_path, use)


def test_a_page_in_an_endless_loop_is_ended(tmp_path: Path) -> None:
    async def use(opened: OpenPage) -> None:
        opened.runtime.watch()
        await opened.session.send("Runtime.evaluate", {"expression": "setTimeout(() => { for (;;); }), 1"})
        assert (await opened.runtime.exited).reason == "unresponsive"
        assert [each.reason for each in opened.ended] == ["unresponsive"]
        await opened.session.send("Runtime.terminateExecution")

    run(tmp_path, use, limits=RuntimeLimits(ping_timeout=0.5))


def test_an_invalid_text_ends_the_connection(tmp_path: Path) -> None:
    async def use(opened: OpenPage) -> None:
        connection = opened.runtime.connection
        assert isinstance(connection, CdpConnection)
        connection.binding_called('[["no such message"]]')
        assert (await opened.runtime.exited).reason == "protocol"
        with pytest.raises(ExtensionTerminated):
            await opened.runtime.evaluate("1")

    run(tmp_path, use)


def test_objects_of_the_dom_cannot_be_cloned_into_a_message(tmp_path: Path) -> None:
    async def use(opened: OpenPage) -> None:
        send = "value => browser.runtime.sendMessage(value).catch(error => error.message)"
        script = f"""async () => {{
            const send = {send};
            class Own {{ constructor() {{ this.a = 1; }} }}
            return [await send(document.createElement("div")), await send(new URL("https://a.example")),
                await send({{f() {{}}}}), await send(new Own()), await send([new Set([1]), new RegExp("a", "g"), 5n])];
        }}"""
        assert await opened.evaluate(script) == [
            "HTMLDivElement object could not be cloned.",
            "URL object could not be cloned.",
            "Function object could not be cloned.",
            'Object:{"a":1}',
            'Array:[{},{},"big"]',
        ]

    background = """browser.runtime.onMessage.addListener(async value => `${value.constructor.name}:${
        JSON.stringify(value, (_, each) => typeof each === "bigint" ? "big" : each)}`);"""
    run(tmp_path, use, background)
