"""browser.test, and extensions that a test makes of a manifest and a script."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from hatbox import Profile
from hatbox.errors import EngineError
from hatbox.extensions.runtime import ScriptError
from hatbox.testing import called
from hatbox.testing.extensions import ExtensionUnderTest
from hatbox.testing.made_extensions import make_extension
from tests.extensions.runtime.lab import needs_deno

pytest_plugins = ["pytester"]
pytestmark = needs_deno

StartExtension = Callable[..., Awaitable[ExtensionUnderTest]]

ASSERTIONS = """
const {test} = browser;
test.assertEq(1, 1, "equal");
test.assertEq(NaN, NaN, "NaN");
test.assertDeepEq({a: [1, {b: 2}]}, {a: [1, {b: 2}]}, "deep");
test.assertTrue(true, "true");
test.assertFalse(false, "false");
test.assertThrows(() => { throw new TypeError("wrong type"); }, /type/, "pattern");
test.assertThrows(() => { throw new TypeError("wrong type"); }, TypeError, "class");
test.assertThrows(() => { throw new Error("exactly"); }, "exactly", "text");
test.assertThrows(() => { throw new Error("by a function"); }, error => error.message.startsWith("by"), "function");
test.succeed("fine");
test.log("a line");
test.assertRejects(Promise.reject(new Error("no")), "no", "rejected").then(() => { test.notifyPass("done"); });
"""

FAILURES = """
const {test} = browser;
test.assertEq(1, 2, "equal");
test.assertEq(1, "1");
test.assertDeepEq({a: 1}, {a: 1, b: 2}, "deep");
test.assertDeepEq([1], {0: 1}, "array");
test.assertTrue(0, "true");
test.assertFalse("x", "false");
test.assertThrows(() => {}, /x/, "nothing thrown");
test.assertThrows(() => { throw new Error("other"); }, /type/, "pattern");
test.assertThrows(() => { throw new Error("other"); }, TypeError, "class");
test.fail("stop");
test.assertRejects(Promise.resolve(), "no", "not rejected").then(() => { test.notifyFail("done"); });
"""


async def test_assertions_that_hold_end_the_test_well(extension: StartExtension) -> None:
    ext = await extension(background=ASSERTIONS)
    await ext.finish("done")
    assert len(ext.assertions) == 11
    assert all(each.passed for each in ext.assertions)


async def test_each_assertion_that_fails_is_named(extension: StartExtension) -> None:
    ext = await extension(background=FAILURES)
    with pytest.raises(AssertionError) as caught:
        await ext.finish("done")
    lines = str(caught.value).splitlines()
    assert len(lines) == 12
    assert lines[0] == "equal - Expected: 1, Actual: 2"
    assert lines[1] == 'Expected: 1, Actual: "1"'
    assert lines[-1] == "notifyFail('done')"
    ext.assertions.clear()  # or this test would fail too


@pytest.mark.smoke
async def test_messages_go_both_ways_in_their_order(extension: StartExtension) -> None:
    ext = await extension(
        background="""
        browser.test.onMessage.addListener((name, ...values) => {
          for (const value of values) browser.test.sendMessage(name, value);
          browser.test.sendMessage("end", 1, {a: [null]});
        });
        browser.test.sendMessage("ready");
        """
    )
    assert await ext.message("ready") is None
    await ext.send("echo", "first", {"second": [2]})
    assert [await ext.message("echo"), await ext.message("echo")] == ["first", {"second": [2]}]
    assert await ext.message("end") == [1, {"a": [None]}]
    with pytest.raises(TimeoutError, match="'other' was not received"):
        await ext.message("other", timeout=0.01)


async def test_permissions_can_be_requested_by_listeners_of_user_input(extension: StartExtension) -> None:
    async def grant(_: object) -> bool:
        return True

    ext = await extension(
        manifest={"optional_permissions": ["cookies"]},
        background="""
        browser.test.onMessage.addListener(async () => {
          const answer = await browser.permissions.request({permissions: ["cookies"]}).catch(error => error.message);
          browser.test.sendMessage("answer", answer);
        });
        """,
        decide=grant,
    )
    await ext.send("request")
    assert "user input handler" in await ext.message("answer")
    with ext.user_input():
        await ext.send("request")
    assert await ext.message("answer") is True


async def test_a_script_handles_user_input_of_its_own(extension: StartExtension) -> None:
    async def grant(_: object) -> bool:
        return True

    ext = await extension(
        manifest={"optional_permissions": ["cookies"]},
        background="""
        browser.test.withHandlingUserInput(() => {
          browser.permissions.request({permissions: ["cookies"]}).then(granted => {
            browser.test.sendMessage("granted", granted);
          });
        });
        browser.permissions.request({permissions: ["cookies"]}).catch(error => {
          browser.test.sendMessage("later", error.message);
        });
        """,
        decide=grant,
    )
    assert await ext.message("granted") is True
    assert "user input handler" in await ext.message("later")


async def test_a_function_is_called_for_each_message_of_a_name(extension: StartExtension) -> None:
    received: list[object] = []
    ext = await extension(
        background="""
        browser.test.sendMessage("early", 1);
        browser.test.onMessage.addListener(answer => {
          browser.test.sendMessage("early", answer, "second");
          browser.test.sendMessage("other");
        });
        """
    )

    async def receive(*values: object) -> None:
        received.append(values)
        if len(received) == 1:
            await ext.send("answer")

    ext.on_message("early", receive)
    await ext.message("other")
    assert received == [(1,), ("answer", "second")]
    failed = asyncio.Event()

    def fail() -> None:
        failed.set()
        raise ZeroDivisionError

    ext.on_message("other", fail)
    await ext.send("again")
    await failed.wait()
    assert "ZeroDivisionError" in str(ext.assertions.pop())


async def test_messages_are_received_by_the_extension_that_they_are_sent_to(extension: StartExtension) -> None:
    script = "browser.test.onMessage.addListener(value => { browser.test.sendMessage('got', value); });"
    first, second = await extension(background=script), await extension(background=script)
    await first.send(1)
    await second.send(2)
    assert [await second.message("got"), await first.message("got")] == [2, 1]
    with pytest.raises(TimeoutError):
        await second.message("got", timeout=0.01)


@pytest.mark.parametrize(
    "function",
    [
        "function background(a, b) { browser.test.sendMessage(a, b); }",
        "(a, b) => { browser.test.sendMessage(a, b); }",
        "async background(a, b) { await 0; browser.test.sendMessage(a, b); },",
        '"page.js"(a, b) { browser.test.sendMessage(a, b); }',
    ],
)
async def test_a_function_of_a_test_of_firefox_is_called(extension: StartExtension, function: str) -> None:
    ext = await extension(background=called(function, "name", {"a": [1]}))
    assert await ext.message("name") == {"a": [1]}


async def test_the_url_of_a_file_is_that_of_get_url(extension: StartExtension) -> None:
    ext = await extension(background="")
    assert ext.url("/a/b.html") == await ext.evaluate("browser.runtime.getURL('a/b.html')")
    with pytest.raises(EngineError, match='engine="chromium"'):
        await ext.tab_page(1)


async def test_an_extension_made_of_texts_has_its_files(extension: StartExtension) -> None:
    ext = await extension(
        manifest={"name": "Mine", "background": {"scripts": ["lib/a.js", "main.js"]}},
        files={"lib/a.js": "globalThis.a = 5;", "main.js": "browser.test.sendMessage('a', a);"},
    )
    assert await ext.message("a") == 5
    assert await ext.evaluate("browser.runtime.getManifest().name") == "Mine"


async def test_sleep_wake_reload_and_stop(extension: StartExtension, tmp_path: Path) -> None:
    folder = make_extension(
        tmp_path / "made",
        {"background": {"scripts": ["background.js"], "persistent": False}},
        "browser.test.sendMessage('run', browser.runtime.getManifest().version);",
        {},
    )
    ext = await extension(folder)
    assert await ext.message("run") == "1.0"
    assert await ext.sleep()
    await ext.wake()
    assert await ext.message("run") == "1.0"
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"1.0"', '"2.0"'))
    await ext.reload()
    assert await ext.message("run") == "2.0"
    await ext.stop()


async def test_functions_run_one_after_another(extension: StartExtension) -> None:
    ext = await extension(
        background="""
        browser.test.runTests([
          async function first() { await new Promise(done => setTimeout(done, 1)); browser.test.succeed("1"); },
          function second() { browser.test.succeed("2"); },
        ]);
        """
    )
    await ext.finish("runTests")
    assert [each.message for each in ext.assertions] == ["1", "2"]


async def test_without_a_test_there_is_no_such_namespace(profile: Profile, tmp_path: Path) -> None:
    folder = make_extension(tmp_path / "made", {}, "globalThis.kind = typeof browser.test;", {})
    running = await profile.extensions.start(folder)
    assert await running.evaluate("[kind, typeof browser.testing]") == ["undefined", "undefined"]
    with pytest.raises(ScriptError):
        await running.evaluate("browser.test.succeed('x')")


def test_a_failed_assertion_fails_the_test_that_did_not_wait_for_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        async def test_it(extension):
            ext = await extension(background="browser.test.fail('the reason'); browser.test.sendMessage('end');")
            await ext.message("end")
    """)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*Assertions of browser.test failed:*", "*the reason*"])


def test_files_outside_of_the_extension_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be inside the extension"):
        make_extension(tmp_path / "made", {}, "", {"../other.js": ""})
