"""Pages of an extension that are Python, and its background: messages, ports, sleep."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hatbox import Profile
from hatbox.errors import ApiError
from hatbox.extensions.extension import Extension
from hatbox.extensions.runtime import Exit, ScriptError
from hatbox.messaging.ports import Port
from tests.extensions.made import make, run_made
from tests.extensions.runtime.lab import needs_deno
from tests.waiting import until

pytestmark = needs_deno

NO_RECEIVER = "Could not establish connection. Receiving end does not exist."
EVENT_PAGE = 3  # the version of the manifest with which a background may sleep

ECHO = """
browser.runtime.onMessage.addListener((message, sender) => Promise.resolve({message, sender}));
browser.runtime.onConnect.addListener(port => {
  port.onMessage.addListener(message => port.postMessage({name: port.name, message, url: port.sender.url}));
});
"""


def test_a_page_talks_to_the_background(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        page = extension.page("popup.html", kind="POPUP")
        answer = await page.send_message({"a": 1})
        assert answer["message"] == {"a": 1}
        sender = answer["sender"]
        assert (sender["id"], sender["url"], sender["envType"]) == (extension.id, page.url, "addon_child")
        assert "tab" not in sender
        assert page.url == f"{extension.manifest.base_url}popup.html"
        port = page.connect("lines")
        port.postMessage([1])
        assert await port.receive() == {"name": "lines", "message": [1], "url": page.url}

    run_made(tmp_path, use, ECHO)


def test_a_message_that_looks_like_an_id_and_options_is_sent_whole(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        page = extension.page()
        messages: list[Any] = ["text", None, {}, [], 0, {"a": {}}]
        for message in messages:
            assert (await page.send_message(message))["message"] == message

    run_made(tmp_path, use, ECHO)


def test_browser_for_python_is_another_page_than_the_background(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        assert (await extension.browser.runtime.sendMessage("ping"))["message"] == "ping"
        contexts = await extension.browser.runtime.getContexts({})
        assert [each["contextType"] for each in contexts] == ["BACKGROUND"]

    run_made(tmp_path, use, ECHO)


def test_the_background_talks_to_pages_that_listen(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        with pytest.raises(ScriptError, match="Receiving end does not exist"):
            await extension.evaluate("browser.runtime.sendMessage('anybody?')")
        heard: list[Any] = []

        def listener(message: Any, sender: dict[str, Any], respond: Callable[[Any], None]) -> None:
            heard.append((message, sender["url"]))
            respond({"from": "python"})

        with extension.page("options.html") as page:
            page.on_message.addListener(listener)
            answer = await extension.evaluate("browser.runtime.sendMessage({u: undefined, n: null})")
            assert answer == {"from": "python"}
            assert heard == [({"u": None, "n": None}, f"{extension.manifest.base_url}_generated_background_page.html")]
            ports: asyncio.Future[Port] = asyncio.get_running_loop().create_future()
            page.on_connect.addListener(ports.set_result)
            await extension.evaluate("""
                var port = browser.runtime.connect({name: "up"}), got = [];
                port.onMessage.addListener(message => { got.push(message); });
                var ended = new Promise(done => port.onDisconnect.addListener(({error}) => done([error])));
                port.postMessage("first");
            """)
            port = await ports
            assert port.name == "up"
            port.postMessage("hello")
        # The page was closed: its port is disconnected, and messages have no receiver.
        assert await extension.evaluate("ended") == [None]
        assert await extension.evaluate("got") == ["hello"]
        with pytest.raises(ScriptError, match="Receiving end does not exist"):
            await extension.evaluate("browser.runtime.sendMessage('anybody?')")

    run_made(tmp_path, use)


def test_a_content_script_that_is_python_gets_what_is_sent_to_its_tab(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        tab = await profile.tabs.open("firefox-default")
        other = await profile.tabs.open("firefox-default")
        script = extension.content_script(tab.id, "https://a.example/path", frame_id=2)
        script.on_message.addListener(lambda message, sender, respond: respond([message, "tab" in sender]))
        assert await extension.evaluate(f"browser.tabs.sendMessage({tab.id}, 'hi')") == ["hi", False]
        assert await extension.evaluate(f"browser.tabs.sendMessage({tab.id}, 'hi', {{frameId: 2}})") == ["hi", False]
        for call in (f"{other.id}, 1", f"{tab.id}, 1, {{frameId: 0}}", f"{tab.id}, 1, {{documentId: 'x'}}"):
            with pytest.raises(ScriptError, match="Receiving end does not exist"):
                await extension.evaluate(f"browser.tabs.sendMessage({call})")
        with pytest.raises(ScriptError, match="Receiving end does not exist"):
            await extension.evaluate("browser.runtime.sendMessage('not for content scripts')")
        sender = (await script.send_message("from the page"))["sender"]
        assert (sender["envType"], sender["origin"], sender["frameId"], sender["tab"]["id"]) == (
            "content_child", "https://a.example", 2, tab.id,
        )  # fmt: skip
        ports: asyncio.Future[Port] = asyncio.get_running_loop().create_future()
        script.on_connect.addListener(ports.set_result)
        await extension.evaluate(f"void browser.tabs.connect({tab.id}, {{name: 't'}}).postMessage('x')")
        assert (await ports).name == "t"

    run_made(tmp_path, use, ECHO)


def test_a_page_in_a_tab_finds_its_tab_and_a_background_or_popup_none(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        tab = await profile.tabs.open("firefox-default")
        current = await extension.page("p.html", tab_id=tab.id).browser.tabs.getCurrent()
        assert current and current["id"] == tab.id
        assert await extension.page("p.html", kind="POPUP").browser.tabs.getCurrent() is None
        assert await extension.evaluate("browser.tabs.getCurrent().then(tab => tab === undefined)") is True

    run_made(tmp_path, use)


def test_the_tab_of_a_sender_is_shown_as_the_receiver_may_see_it(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        tab = await profile.tabs.open("firefox-default", "https://a.example/")
        page = extension.page("page.html", tab_id=tab.id)
        sender = (await page.send_message(1))["sender"]
        assert sender["tab"]["id"] == tab.id
        assert "url" not in sender["tab"]  # it has no permission for it
        await profile.tabs.close(tab.id)
        assert "tab" not in (await page.send_message(1))["sender"]

    run_made(tmp_path, use, ECHO)


def test_a_message_wakes_a_background_that_sleeps(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        page = extension.page()
        first = page.connect("early")
        first.postMessage("hi")
        await first.receive()
        ended: asyncio.Future[Port] = asyncio.get_running_loop().create_future()
        first.onDisconnect.addListener(ended.set_result)
        assert await extension.suspend() is True
        assert extension.runtime is None
        assert (await ended).error is None  # its end went with the background
        assert await extension.browser.runtime.getContexts({"contextTypes": ["BACKGROUND"]}) == []
        answers = await asyncio.gather(page.send_message(1), page.send_message(2))
        assert [answer["message"] for answer in answers] == [1, 2]
        assert extension.runtime is not None
        await extension.suspend()
        port = page.connect("late")
        port.postMessage("hi")
        assert (await port.receive())["name"] == "late"

    run_made(tmp_path, use, ECHO, manifest_version=EVENT_PAGE)


def test_a_listener_that_is_not_added_again_is_not_listened_to(tmp_path: Path) -> None:
    background = """
        browser.runtime.onInstalled.addListener(() => {
            browser.runtime.onMessage.addListener(() => Promise.resolve("only in the first run"));
        });
    """

    async def use(_: Profile, extension: Extension) -> None:
        page = extension.page()
        await extension.evaluate("'after onInstalled'")
        assert await page.send_message(1) == "only in the first run"
        await extension.suspend()
        for message in (1, 2):
            with pytest.raises(ApiError, match="Receiving end does not exist"):
                await page.send_message(message)

    run_made(tmp_path, use, background, manifest_version=EVENT_PAGE)


def test_it_stays_awake_if_something_happens_while_it_is_told_to_sleep(tmp_path: Path) -> None:
    background = """
        var told = [];
        browser.runtime.onSuspend.addListener(() => {
            told.push("suspend");
            return new Promise(done => { globalThis.go = done; });
        });
        browser.runtime.onSuspendCanceled.addListener(() => { told.push("canceled"); });
        browser.runtime.onMessage.addListener(() => { told.push("message"); go(); });
    """

    async def use(_: Profile, extension: Extension) -> None:
        runtime = extension.runtime
        sleeping = asyncio.ensure_future(extension.suspend())
        while await extension.evaluate("told.length") == 0:
            pass
        await extension.page().send_message("wait")
        assert await sleeping is False
        assert extension.runtime is runtime
        assert await extension.evaluate("told") == ["suspend", "message", "canceled"]

    run_made(tmp_path, use, background, manifest_version=EVENT_PAGE)


def test_an_event_page_that_has_crashed_sleeps_again_when_it_is_idle(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        before = extension.runtime
        assert before is not None
        before.process.end(Exit("protocol", "a test"))
        await until(lambda: extension.runtime not in (before, None))
        await until(lambda: extension.runtime is None)

    run_made(tmp_path, use, manifest_version=EVENT_PAGE, start={"idle_seconds": 0.6, "on_exit": lambda *_: None})


def test_an_event_page_sleeps_when_it_is_idle_and_not_while_it_owes_an_answer(tmp_path: Path) -> None:
    background = """
        browser.runtime.onMessage.addListener((message, _, respond) => {
            setTimeout(() => respond("in time"), 900);
            return true;
        });
    """

    async def use(_: Profile, extension: Extension) -> None:
        assert await extension.page().send_message("?") == "in time"
        await until(lambda: extension.runtime is None)

    run_made(tmp_path, use, background, manifest_version=EVENT_PAGE, start={"idle_seconds": 0.6})


def test_messages_of_the_background_reach_another_extension_and_its_end_disconnects(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        other = await profile.extensions.start(
            make(
                tmp_path,
                """
                    var seen = [], ended = new Promise(done => { globalThis.end = done; });
                    browser.runtime.onConnectExternal.addListener(port => {
                        seen.push([port.name, port.sender.id]);
                        port.onDisconnect.addListener(() => { end(seen); });
                        port.postMessage("welcome");
                    });
                """,
                name="other",
            )
        )
        await extension.evaluate("""new Promise(done => {
            browser.runtime.connect("other@example.org", {name: "x"}).onMessage.addListener(done);
        })""")
        await profile.extensions.stop(extension)
        assert await other.evaluate("ended") == [["x", extension.id]]
        with pytest.raises(ScriptError, match="Receiving end does not exist"):
            await other.evaluate(f"browser.runtime.sendMessage('{extension.id}', 1)")

    run_made(tmp_path, use)


def listens(extension: Extension) -> bool:
    runtime = extension.runtime
    return runtime is not None and runtime.listeners.count("runtime.onMessage") > 0


def test_one_that_has_crashed_gets_no_messages_until_it_is_started_again(tmp_path: Path) -> None:
    crashed = asyncio.Event()

    async def use(_: Profile, extension: Extension) -> None:
        supervisor, page = extension._supervisor, extension.page()
        port = page.connect("x")
        port.postMessage(1)
        await port.receive()
        assert extension.runtime is not None
        os.kill(extension.runtime.process.pid, signal.SIGKILL)
        with pytest.raises(ApiError, match="disconnected"):
            await port.receive()
        await crashed.wait()
        with pytest.raises(ApiError, match="Receiving end does not exist"):
            await page.send_message(1)
        await until(lambda: listens(extension))
        assert (await page.send_message(2))["message"] == 2
        assert extension._supervisor is supervisor  # and there is no second one that would start it as well

    run_made(tmp_path, use, ECHO, start={"on_exit": lambda *_: crashed.set()})


def test_forged_numbers_of_ports_do_no_harm(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        page = extension.page()
        port = page.connect("x")
        port.postMessage(1)
        await port.receive()
        host, caller = extension._host, extension.caller
        (number,) = caller.context.ports
        assert host.call("ports", "post", [99, "nobody"]) is None
        assert host.call("ports", "close", [99]) is None
        for bad in ([number, "n"], ["x", "n"], [5, "n"], [-1]):
            with pytest.raises(ApiError):
                host.call("ports", "open", bad)
        host.call("ports", "open", [-7, "n", "nobody@example.org"])
        with pytest.raises(ApiError, match="Port -7 already exists"):
            host.call("ports", "open", [-7, "n"])
        assert "ports" not in await extension.evaluate("Object.keys(browser)")
        with pytest.raises(AttributeError):
            _ = extension.browser.ports

    run_made(tmp_path, use, ECHO)


def test_a_flood_on_a_port_arrives_whole_and_in_order(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        sink = make(
            tmp_path,
            """
                var count = 0, wrong = 0;
                var all = new Promise(done => {
                    browser.runtime.onConnectExternal.addListener(port => port.onMessage.addListener(number => {
                        if (number !== count++) wrong++;
                        if (count === 20000) done([count, wrong]);
                    }));
                });
            """,
            name="sink",
        )
        other = await profile.extensions.start(sink)
        await extension.evaluate("""
            const port = browser.runtime.connect("sink@example.org");
            for (let i = 0; i < 20000; i++) port.postMessage(i);
        """)
        assert await other.evaluate("all") == [20000, 0]

    run_made(tmp_path, use)
