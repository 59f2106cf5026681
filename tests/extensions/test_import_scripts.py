"""importScripts(): other scripts of the package, at once and in one scope, in backgrounds that are service workers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import Profile
from hatbox.extensions.extension import Extension
from hatbox.extensions.runtime import ExtensionTerminated, LogEntry, RuntimeLimits
from tests.extensions.made import make, run_made
from tests.extensions.runtime.lab import needs_deno
from tests.extensions.runtime.loop_delay import LoopDelay

pytestmark = needs_deno

Use = Callable[[Extension, list[LogEntry]], Awaitable[None]]

CAUGHT = """
    var caught = (...urls) => {
      try { importScripts(...urls); } catch (error) { return [error.constructor.name, error.name, error.message]; }
      return "imported";
    };
"""


def manifest(background: Mapping[str, Any], version: int = 3) -> dict[str, str]:
    keys = {
        "manifest_version": version,
        "name": "Worker",
        "version": "1",
        "browser_specific_settings": {"gecko": {"id": "worker@example.org"}},
        "background": background,
        "permissions": ["storage"],
    }
    return {"manifest.json": json.dumps(keys)}


def run_worker(
    tmp_path: Path, use: Use, background: str, files: Mapping[str, str] | None = None, *, module: bool = False
) -> None:
    """Run an extension whose background is a service worker, js/worker.js, and use it and its log."""
    log: list[LogEntry] = []

    async def main(_: Profile, extension: Extension) -> None:
        await use(extension, log)

    keys = {"service_worker": "js/worker.js", **({"type": "module"} if module else {})}
    every = {**manifest(keys), **(files or {}), "js/worker.js": background}
    run_made(tmp_path, main, files=every, start={"on_log": log.append})


def failed(extension: Extension, path: str) -> list[str]:
    url = extension.manifest.base_url + path
    words = f'WorkerGlobalScope.importScripts: Failed to load worker script at "{url}"'
    return ["DOMException", "NetworkError", words]


def test_scripts_run_at_once_in_order_and_in_one_scope(tmp_path: Path) -> None:
    files = {
        "js/one.js": "var order = ['one']; const fromOne = 1; function helper() { return fromOne + mine; }",
        "lib/two.js": "order.push('two'); let fromTwo = fromOne + 1;",
        "js/ünï côde.js": "order.push('named');",
        "js/deep.js": "order.push('before'); importScripts('one-more.js'); order.push('after');",
        "js/one-more.js": "order.push('within');",
        "lib/one-more.js": "order.push('relative to the script that imports, and not to the worker');",
    }
    background = """
        const mine = 10;
        const nothing = importScripts();
        const result = importScripts("one.js", "../lib/two.js");
        importScripts(chrome.runtime.getURL("js/ünï côde.js"), "/js/deep.js?query#fragment");
        order.push(helper(), fromTwo, typeof nothing, typeof result);
    """
    expected = ["one", "two", "named", "before", "within", "after", 11, 2, "undefined", "undefined"]

    async def use(extension: Extension, log: list[LogEntry]) -> None:
        assert await extension.evaluate("order") == expected
        assert log == []

    run_worker(tmp_path, use, background, files)


OUTSIDE = [
    "missing.js", "../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "..%2f..%2fjs/there.js", "/etc/passwd", "js",
    "file:///etc/passwd", "https://example.org/a.js", "http://127.0.0.1/", "data:text/javascript,var bad = 1",
    "blob:null/1", "node:fs", "//example.org/a.js", "moz-extension://other/js/there.js",
]  # fmt: skip


def test_what_is_not_in_the_extension_is_a_network_error(tmp_path: Path) -> None:
    background = f"""
        {CAUGHT}
        var outside = {json.dumps(OUTSIDE)}.map(url => caught(url).slice(0, 2));
        var missing = caught("missing.js"), invalid = caught("there.js", "http://["), there = typeof fromThere;
        var second = caught("there.js", "missing.js", "late.js");
    """
    files = {"js/there.js": "var fromThere = 1;", "js/late.js": "var late = 1;"}

    async def use(extension: Extension, log: list[LogEntry]) -> None:
        assert await extension.evaluate("outside") == [["DOMException", "NetworkError"]] * len(OUTSIDE)
        assert await extension.evaluate("missing") == failed(extension, "js/missing.js")
        # All addresses are read before the first script is run; after that each is run before the next is looked for.
        assert (await extension.evaluate("invalid"))[:2] == ["DOMException", "SyntaxError"]
        assert await extension.evaluate("there") == "undefined"
        assert await extension.evaluate("second") == failed(extension, "js/missing.js")
        assert await extension.evaluate("[typeof fromThere, typeof late]") == ["number", "undefined"]
        assert log == []

    run_worker(tmp_path, use, background, files)


def test_errors_of_imported_scripts_name_their_own_file_and_line(tmp_path: Path) -> None:
    files = {
        "js/syntax.js": "\n\nconst = 1;",
        "js/throws.js": "\nvar thrown = new RangeError('mine'); throw thrown;",
        "js/text.js": "throw 'just text';",
        "js/twice.js": "const twice = 1;",
    }
    background = """
        var same = [];
        try { importScripts("throws.js"); } catch (error) { same.push(error === thrown); }
        try { importScripts("text.js"); } catch (error) { same.push(error); }
        try { importScripts("twice.js", "twice.js"); } catch (error) { same.push(error instanceof SyntaxError); }
        try { importScripts("syntax.js"); } catch (error) { same.push(error instanceof SyntaxError); }
        importScripts("syntax.js");
        same.push("not reached");
    """

    async def use(extension: Extension, log: list[LogEntry]) -> None:
        assert await extension.evaluate("same") == [True, "just text", True, True]
        (entry,) = log
        assert entry.text.startswith("SyntaxError")
        assert (entry.file, entry.line) == (f"{extension.manifest.base_url}js/syntax.js", 3)

    run_worker(tmp_path, use, background, files)


@pytest.mark.parametrize(("script", "line"), [("\nimportScripts('throws.js');", 2), ("\nimportScripts('no.js');", 2)])
def test_what_nobody_catches_is_logged_with_its_place(tmp_path: Path, script: str, line: int) -> None:
    async def use(extension: Extension, log: list[LogEntry]) -> None:
        (entry,) = log
        name = "throws.js" if "throws" in script else "worker.js"
        assert (entry.kind, entry.file, entry.line) == ("error", f"{extension.manifest.base_url}js/{name}", line)

    run_worker(tmp_path, use, script, {"js/throws.js": "\nthrow new Error('mine');"})


def test_after_the_first_run_only_what_was_imported_before(tmp_path: Path) -> None:
    background = f"""
        {CAUGHT}
        var runs = 0;
        importScripts("known.js");
        Promise.resolve().then(() => importScripts("soon.js"));
    """
    files = {"js/known.js": "runs++;", "js/new.js": "runs = -1;", "js/soon.js": "runs++;"}

    async def use(extension: Extension, log: list[LogEntry]) -> None:
        assert await extension.evaluate("[caught('known.js'), runs]") == ["imported", 3]
        assert await extension.evaluate("caught('new.js')") == failed(extension, "js/new.js")
        assert await extension.evaluate("runs") == 3
        assert log == []

    run_worker(tmp_path, use, background, files)


def test_calls_and_events_wait_while_a_script_is_imported_and_none_is_lost(tmp_path: Path) -> None:
    """Events that arrive while the process reads a script are dispatched after the script has run."""
    background = """
        var order = [], told;
        var heard = new Promise(done => { told = done; });
        browser.storage.onChanged.addListener(() => { order.push("event"); told(); });
        browser.storage.local.set({a: 1});
        const calls = Array.from({length: 5000}, (_, n) => browser.runtime.getPlatformInfo());
        const first = browser.runtime.getPlatformInfo().then(() => order.push("answer"));
        for (let n = 0; n < 20; n++) importScripts("some.js");
        order.push("imported");
        var all = Promise.all([first, ...calls]).then(answers => answers.length);
    """

    async def use(extension: Extension, log: list[LogEntry]) -> None:
        assert await extension.evaluate("[await all, await heard, order[0], order.sort()]") == [
            5001,
            None,
            "imported",
            ["answer", "event", "imported"],
        ]
        assert log == []

    run_worker(tmp_path, use, background, {"js/some.js": "/*" + "x" * 200_000 + "*/"})


def test_a_worker_that_sleeps_imports_again_when_it_wakes(tmp_path: Path) -> None:
    background = "importScripts('listen.js');"
    files = {"js/listen.js": "browser.runtime.onMessage.addListener(async text => text + '!');"}

    async def use(extension: Extension, log: list[LogEntry]) -> None:
        assert await extension.suspend()
        assert extension.runtime is None
        assert await extension.page("a.html").browser.runtime.sendMessage("awake") == "awake!"
        assert log == []

    run_worker(tmp_path, use, background, files)


@pytest.mark.parametrize(
    ("version", "background"),
    [
        (2, {"scripts": ["background.js"], "persistent": False}),
        (2, {"scripts": ["background.js"], "persistent": True}),
        (2, {"page": "page.html"}),
        (3, {"scripts": ["background.js"], "type": "module"}),
        (3, {"scripts": ["background.js"], "service_worker": "background.js"}),
    ],
)
def test_a_page_has_none(tmp_path: Path, version: int, background: dict[str, Any]) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        assert await extension.evaluate("[seen, typeof importScripts]") == ["undefined", "undefined"]
        assert await extension.evaluate("'importScripts' in globalThis") is False

    files = {**manifest(background, version), "page.html": "<script src=background.js></script>"}
    run_made(tmp_path, use, "globalThis.seen = typeof importScripts;", files=files)


def test_a_module_worker_has_one_that_throws(tmp_path: Path) -> None:
    background = f"{CAUGHT.replace('var caught', 'globalThis.caught')} globalThis.seen = caught('some.js');"
    words = "WorkerGlobalScope.importScripts: Using `ImportScripts` inside a Module Worker is disallowed."

    async def use(extension: Extension, log: list[LogEntry]) -> None:
        assert await extension.evaluate("[seen, caught()]") == [["TypeError", "TypeError", words]] * 2
        assert log == []

    run_worker(tmp_path, use, background, {"js/some.js": ""}, module=True)


# ── Scripts that mean harm ──


def test_a_thousand_files_delay_nobody(tmp_path: Path) -> None:
    files = {f"js/{n}.js": f"total += {n};" for n in range(1000)}
    background = "var total = 0; importScripts(...Array.from({length: 1000}, (_, n) => `${n}.js`));"
    delay = LoopDelay()

    async def use(extension: Extension, log: list[LogEntry]) -> None:
        assert await extension.suspend()
        async with delay:
            await extension.wake()
        assert await extension.evaluate("total") == 499_500
        assert log == []

    for folder in delay.attempts(tmp_path):
        run_worker(folder, use, background, files)


def test_a_script_that_is_too_large_is_a_network_error_and_the_log_says_why(tmp_path: Path) -> None:
    background = CAUGHT + "var large = caught('large.js'), fits = caught('fits.js');"
    files = {"js/large.js": "//" + "x" * (9 << 20), "js/fits.js": "//" + "x" * ((8 << 20) - 2)}

    async def use(extension: Extension, log: list[LogEntry]) -> None:
        assert await extension.evaluate("large") == failed(extension, "js/large.js")
        assert await extension.evaluate("fits") == "imported"
        assert [entry.text for entry in log] == [f"{extension.manifest.base_url}js/large.js is larger than 8 MiB."]

    run_worker(tmp_path, use, background, files)


@pytest.mark.parametrize("name", ["one.js", "", "worker.js"])
def test_a_cycle_ends_as_any_recursion_without_end(tmp_path: Path, name: str) -> None:
    background = f"var depth = (globalThis.depth ?? 0) + 1; importScripts({name!r});"
    files = {"js/one.js": "depth++; importScripts('two.js');", "js/two.js": "depth++; importScripts('one.js');"}

    async def use(extension: Extension, log: list[LogEntry]) -> None:
        (entry,) = log
        assert entry.text.startswith("RangeError")
        assert await extension.evaluate("depth") > 100

    run_worker(tmp_path, use, background, files)


FULL = """
    var imported = 0, refused = 0, others = 0;
    function fill() { // up to the end, and on the way back, with a little more room each time, import
      try { fill(); } catch {}
      if (imported === 20) return;
      try {
        importScripts(`some.js?${refused}-${imported}`);
        imported++;
      } catch (error) {
        if (error instanceof RangeError) refused++; else others++;
      }
    }
    fill();
"""


def test_where_the_stack_is_full_nothing_is_half_read(tmp_path: Path) -> None:
    """However much of it is left: our own half of the bridge needs some too."""

    async def use(extension: Extension, log: list[LogEntry]) -> None:
        assert await extension.evaluate("[imported, refused > 20, others]") == [20, True, 0]
        assert await extension.evaluate("typeof (await browser.runtime.getPlatformInfo()).os") == "string"
        assert log == []

    run_worker(tmp_path, use, FULL, {"js/some.js": ""})


def test_a_loop_of_imports_is_ended_as_any_other(tmp_path: Path) -> None:
    delay = LoopDelay()

    async def main(place: Path) -> None:
        files = manifest({"service_worker": "background.js"})
        folder = make(place, "while (true) try { importScripts('no.js'); } catch {}", files=files)
        async with asyncio.timeout(60), hatbox.open(place / "profile.db") as profile, delay:
            with pytest.raises(ExtensionTerminated, match="unresponsive"):
                await profile.extensions.start(folder, limits=RuntimeLimits(ping_timeout=1.0))

    for place in delay.attempts(tmp_path):
        asyncio.run(main(place))


POLLUTED = """
    for (const name of ["push", "map", "forEach", "slice", "concat", "join"]) Array.prototype[name] = null;
    for (const name of ["startsWith", "slice", "indexOf", "includes"]) String.prototype[name] = null;
    for (const name of ["get", "set", "has", "delete"]) Map.prototype[name] = null;
    JSON.parse = JSON.stringify = null;
    Object.defineProperty(Object.prototype, "0", {set() { stolen = true; }, configurable: true});
    TextDecoder.prototype.decode = null;
    Uint8Array.prototype.__proto__.set = Uint8Array.prototype.__proto__.subarray = null;
    URL = Error = DOMException = Array.prototype[Symbol.iterator] = null;
"""


def test_polluted_prototypes_neither_see_nor_stop_it(tmp_path: Path) -> None:
    imports = "importScripts('some.js', 'some.js'); console.log(`${runs} ${stolen}`);"
    background = f"var stolen = false; {POLLUTED} {imports}"

    async def use(_: Extension, log: list[LogEntry]) -> None:
        assert log[0].text == "2 false"

    run_worker(tmp_path, use, background, {"js/some.js": "var runs = (globalThis.runs ?? 0) + 1;"})
