"""An extension and native applications, compared with what it sees in a real Firefox."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import Profile
from hatbox.errors import ApiError
from hatbox.extensions.extension import Extension
from hatbox.messaging import native_messaging, native_process
from hatbox.messaging.context import ExtensionContext
from hatbox.messaging.native_manifest import find_native_application
from tests.extensions.made import make, run_made
from tests.extensions.native_messages import PERMISSIONS, PROBE, install_apps, recorded
from tests.extensions.runtime.lab import needs_deno
from tests.marks import starts
from tests.waiting import until

pytestmark = needs_deno

FIREFOX = recorded()


@pytest.fixture(scope="module")
@starts("deno")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    folder = tmp_path_factory.mktemp("native")
    install_apps(folder)

    async def main() -> list[Any]:
        async with asyncio.timeout(120), hatbox.open(folder / "profile.db") as profile:
            background = f"var answers = (async () => {{\n{PROBE}\n}})();"
            made = make(folder, background, name="probe", permissions=[*PERMISSIONS, "http://127.0.0.1/*"])
            probe = await profile.extensions.start(made)
            log: list[Any] = await probe.evaluate("answers")
            return log

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        return {name: [how, value] for name, how, value in asyncio.run(main())}


@pytest.mark.parametrize("name", FIREFOX)
def test_it_is_as_in_firefox(answers: dict[str, list[Any]], name: str) -> None:
    assert answers[name] == FIREFOX[name]


def test_all_cases_are_recorded(answers: dict[str, list[Any]]) -> None:
    assert list(answers) == list(FIREFOX)


@pytest.fixture
def apps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return install_apps(tmp_path)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_without_the_permission_there_is_no_native_messaging(apps: Path, tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        assert (
            await extension.evaluate("[browser.runtime.connectNative, browser.runtime.sendNativeMessage].join()") == ","
        )
        assert not hasattr(extension.browser.runtime, "connectNative")
        assert not hasattr(extension.browser.runtime, "sendNativeMessage")

    run_made(tmp_path, use)


def test_python_code_of_an_extension_talks_to_an_application_too(apps: Path, tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        runtime = extension.browser.runtime
        assert await runtime.sendNativeMessage("app", {"a": [1, None, "é"]}) == {"a": [1, None, "é"]}
        port = runtime.connectNative("app")
        answer = asyncio.ensure_future(port.receive())
        port.postMessage({"b": 2.5})
        assert await answer == {"b": 2.5}
        with pytest.raises(ApiError, match="No such native application missing"):
            await runtime.sendNativeMessage("missing", 1)
        with pytest.raises(ApiError, match="cannot be"):
            await runtime.sendNativeMessage("app", {1, 2})

    run_made(tmp_path, use, permissions=["nativeMessaging"])


def test_closing_does_not_wait_for_an_application_that_was_being_started(apps: Path) -> None:
    async def main() -> None:
        native = native_messaging.NativeMessaging(lambda *_: None, lambda _: None)
        context = ExtensionContext("made@example.org", "about:blank", "null", kind=None)
        _, ended = native.connect(context, "app", 1)
        await asyncio.wait_for(native.close(), 20)
        assert ended.done()

    asyncio.run(main())


def test_text_that_is_not_json_never_reaches_an_application(apps: Path) -> None:
    async def main() -> None:
        received: list[Any] = []
        native = native_messaging.NativeMessaging(lambda _, *event: received.append(event), lambda _: None)
        with pytest.raises(ApiError, match="must be JSON"):
            await native.send("made@example.org", "app", "{not JSON")
        context = ExtensionContext("made@example.org", "about:blank", "null", kind=None, is_javascript=True)
        port, _ = native.connect(context, "app", 1)
        port.post("NaN")
        port.post('"JSON"')
        await until(lambda: received == [("message", '"JSON"')])
        with pytest.raises(ApiError, match="must be JSON"):
            port.post("1 2")
        await native.close()

    asyncio.run(main())


@pytest.mark.filterwarnings("error")
def test_a_large_message_leaves_no_coroutine_behind(apps: Path) -> None:
    async def main() -> None:
        native = native_messaging.NativeMessaging(lambda *_: None, lambda _: None)
        large = "x" * 1_000_000
        assert await native.send("made@example.org", "app", json.dumps(large)) == json.dumps(large)
        context = ExtensionContext("made@example.org", "about:blank", "null", kind=None)
        port, _ = native.connect(context, "app", 1)
        sent = port.post(large)
        assert sent is not None
        await asyncio.wait_for(sent, 20)
        await native.close()
        gc.collect()

    asyncio.run(main())


def test_the_application_ends_with_its_port(apps: Path, tmp_path: Path) -> None:
    ended = tmp_path / "ended"

    async def use(_: Profile, extension: Extension) -> None:
        script = """new Promise(resolve => {
            const port = browser.runtime.connectNative("app");
            port.onMessage.addListener(message => { port.disconnect(); resolve(message); });
            port.postMessage({do: "write at the end", file: %s});
        })"""
        assert await extension.evaluate(script % json.dumps(str(ended))) == "ready"
        await until(ended.exists)

    run_made(tmp_path, use, permissions=["nativeMessaging"])


@pytest.mark.parametrize("way", ["stop", "crash", "close"])
def test_an_application_that_never_ends_is_killed_with_the_extension(
    apps: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setattr(native_process, "_GRACE_SECONDS", 0.2)
    pids: list[int] = []

    async def use(profile: Profile, extension: Extension) -> None:
        script = """new Promise(resolve => {
            globalThis.port = browser.runtime.connectNative("app");
            port.onMessage.addListener(resolve);
            port.postMessage({do: "never end"});
        })"""
        pids.append(await extension.evaluate(script))
        assert is_running(pids[0])
        if way == "close":
            return
        if way == "stop":
            await profile.extensions.stop(extension)
        else:
            assert extension.runtime is not None
            os.kill(extension.runtime.process.pid, signal.SIGKILL)
        await until(lambda: not is_running(pids[0]))

    run_made(tmp_path, use, permissions=["nativeMessaging"])
    assert not is_running(pids[0])


def test_an_event_page_is_not_suspended_while_an_application_runs(apps: Path, tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        connect = """new Promise(resolve => {
            globalThis.port = browser.runtime.connectNative("app");
            port.onMessage.addListener(resolve);
            port.postMessage("x");
        })"""
        assert await extension.evaluate(connect) == "x"
        runtime = extension.runtime
        assert runtime is not None
        assert runtime.pending_calls == 1  # which the idle timer waits for
        await extension.evaluate("port.disconnect()")
        await until(lambda: runtime.pending_calls == 0)

    run_made(tmp_path, use, permissions=["nativeMessaging"], persistent=False)


def test_a_flood_of_an_application_does_not_delay_others(apps: Path, tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        flood = """new Promise(resolve => {
            const port = browser.runtime.connectNative("app");
            let count = 0;
            port.onMessage.addListener(() => { if (++count === 3000) { port.disconnect(); resolve(count); } });
            port.postMessage({do: "many", count: 3000});
        })"""
        flooded = asyncio.ensure_future(extension.evaluate(flood))
        longest = 0.0
        while not flooded.done():
            before = asyncio.get_running_loop().time()
            await profile.identities.query()
            await asyncio.sleep(0)
            longest = max(longest, asyncio.get_running_loop().time() - before)
        assert await flooded == 3000
        assert longest < 1

    run_made(tmp_path, use, permissions=["nativeMessaging"])


def test_at_most_so_many_applications_run_at_a_time(
    apps: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native_messaging, "MAX_APPLICATIONS", 2)

    async def use(_: Profile, extension: Extension) -> None:
        script = """Promise.allSettled([1, 2, 3].map(n => browser.runtime.sendNativeMessage("app", n)))
            .then(all => all.map(each => each.value ?? each.reason.message))"""
        assert await extension.evaluate(script) == [
            1,
            2,
            "At most 2 native applications of an extension may run at a time",
        ]

    run_made(tmp_path, use, permissions=["nativeMessaging"])


def test_an_application_does_not_get_the_key_of_the_profile(
    apps: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        monkeypatch.setenv("HATBOX_KEY", "secret")
        monkeypatch.setenv("PGPASSWORD", "secret")
        ask = 'browser.runtime.sendNativeMessage("app", {do: "environment", name: "%s"})'
        for name in ("HATBOX_KEY", "PGPASSWORD"):
            assert await extension.evaluate(ask % name) is None
        assert await extension.evaluate(ask % "HOME") == str(tmp_path)

    run_made(tmp_path, use, permissions=["nativeMessaging"])


def test_the_folder_of_hatbox_comes_before_those_of_firefox(apps: Path, tmp_path: Path) -> None:
    own = tmp_path / "data" / "hatbox" / "native-messaging-hosts"
    own.mkdir(parents=True)
    manifest = json.loads((apps / "app.json").read_text())
    (own / "app.json").write_text(json.dumps(manifest))
    found = find_native_application("app", "probe@example.org")
    assert found is not None
    assert found.manifest == str(own / "app.json")
    (own / "app.json").write_text(json.dumps(manifest | {"allowed_extensions": ["other@example.org"]}))
    found = find_native_application("app", "probe@example.org")
    assert found is not None
    assert found.manifest == str(apps / "app.json")
    for name in ("../native-messaging-hosts/app", "app\n", "", "app/../app"):
        assert find_native_application(name, "probe@example.org") is None
