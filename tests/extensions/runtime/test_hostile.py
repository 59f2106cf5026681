"""Scripts that mean harm. Whatever they do, the host's loop goes on, other extensions go on, and nothing leaks out."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hatbox import Profile
from hatbox.api.caller import Caller
from hatbox.extensions.extension import Extension
from hatbox.extensions.runtime import ExtensionTerminated, RuntimeLimits, ScriptError, describe
from tests.extensions.made import run_made
from tests.extensions.runtime.lab import CAMEL, Lab, in_lab, needs_deno
from tests.extensions.runtime.loop_delay import LoopDelay
from tests.waiting import block_until

pytestmark = needs_deno

SMALL = RuntimeLimits(heap=64 << 20, memory=128 << 20, ping_timeout=1.0)


GROW = "const all = []; while (true)"
WAIT = "new Int32Array(new WebAssembly.Memory({initial: 1, maximum: 1, shared: true}).buffer)"
DEADLY = {
    "endless loop": ("while (true);", "unresponsive"),
    "endless microtasks": ("(function again() { Promise.resolve().then(again); })();", "unresponsive"),
    "endless loop in a timer": ("setTimeout(() => { for (;;); }, 0);", "unresponsive"),
    "a regular expression without end": ("/^(a+)+$/.test('a'.repeat(50) + 'b');", "unresponsive"),
    "wait without end": (f"Atomics.wait({WAIT}, 0, 0);", "unresponsive"),
    "heap bomb": (f"{GROW} all.push({{a: [1, 2, 3], b: 'x' + all.length}});", "crashed: out of memory"),
    "string bomb": (f"let s = 'x'; {GROW} {{ all.push(s + all.length); s += s.slice(0, 99999); }}", "crashed"),
    "array of 2**32-1": ("new Array(2 ** 32 - 1).fill(0);", "crashed"),
}


@pytest.mark.parametrize("name", DEADLY)
def test_a_deadly_script_ends_its_own_process_only(tmp_path: Path, name: str) -> None:
    script, reason = DEADLY[name]

    delay = LoopDelay()

    async def use(lab: Lab) -> None:
        other = await lab.start()
        limits = SMALL if reason == "unresponsive" else SMALL._replace(ping_timeout=60.0)
        runtime = await lab.start(limits=limits)
        async with delay:
            running = asyncio.ensure_future(runtime.evaluate(f"{script}; 1"))
            if reason:
                assert (await runtime.exited).reason.startswith(reason)
            await asyncio.wait([running])
            assert isinstance(running.exception(), ScriptError | ExtensionTerminated | None)
            assert await other.evaluate("browser.contextualIdentities.query({}).then(all => all.length)") == 4

    for folder in delay.attempts(tmp_path):
        in_lab(folder, use)


HARMLESS = {
    "deep recursion": "(function down() { down(); })();",
    "deep argument": "let deep = []; for (let i = 0; i < 1e5; i++) deep = [deep]; query({name: deep});",
    "cyclic argument": "const a = {}; a.name = a; query(a);",
    "huge argument": "query({name: 'x'.repeat(1e8)});",
    "a proxy": "query(new Proxy({}, {get() { for (;;); }, ownKeys() { for (;;); }}));",
    "a getter": "query({get name() { for (;;); }, other: 1});",
    "an object with many properties": "query(Object.fromEntries(Array.from({length: 1e5}, (_, i) => [i, i])));",
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_does_no_harm_leaves_the_extension_running(tmp_path: Path, name: str) -> None:
    delay = LoopDelay()

    async def use(lab: Lab) -> None:
        runtime = await lab.start("const {query} = browser.contextualIdentities;")
        async with delay:
            outcome = await runtime.evaluate(f"try {{ {HARMLESS[name]} }} catch (error) {{ error.name }}")
            assert outcome in ("RangeError", "Error")
            assert await runtime.evaluate("1 + 1") == 2

    for folder in delay.attempts(tmp_path):
        in_lab(folder, use)


def test_the_largest_argument_there_can_be_delays_nobody(tmp_path: Path) -> None:
    delay = LoopDelay(times=2)  # most of it is the work that was asked for: a query for this name

    async def use(lab: Lab) -> None:
        runtime = await lab.start("const {query} = browser.contextualIdentities;")
        async with delay:
            for character in ("x", "é", "\u20ac", "\\u0000"):
                assert await runtime.evaluate(
                    f"query({{name: '{character}'.repeat(2.6e6)}}).catch(error => error.name)"
                ) in (
                    [],
                    "Error",
                )

    for folder in delay.attempts(tmp_path):
        in_lab(folder, use)


# What anybody takes: it costs what it costs to read it.
SHAPES = {
    "empty arrays": "Array.from({length: %d}, () => [])",
    "numbers": "new Array(%d).fill(1)",
    "objects": "Array.from({length: %d}, () => ({}))",
    "keys": "Object.fromEntries(Array.from({length: %d}, (_, i) => ['k' + i, 1]))",
    "what JSON has no word for": "new Array(%d).fill(undefined)",
    "dates": "Array.from({length: %d}, () => new Date(0))",
    "half characters": "new Array(%d).fill('\\ud800')",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_an_argument_of_many_parts_is_refused_before_it_delays_others(tmp_path: Path, shape: str) -> None:
    delay = LoopDelay(times=2)

    async def use(_: Profile, extension: Extension) -> None:
        async with delay:
            for parts in (200_000, 40_000, 15_000):
                script = f"async () => browser.runtime.sendMessage({SHAPES[shape] % parts})"
                told = await extension.evaluate(f"({script})().catch(error => error.message)")
                assert parts < 200_000 or told == "The value is too large: it has more than 100000 parts."
        assert "Could not establish connection" in told  # the last one was not refused

    for folder in delay.attempts(tmp_path):
        run_made(folder, use)


def test_a_long_text_has_one_part_whatever_is_in_it(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        for text in (",[{", '\\"', "\\\\", '\\\\\\"'):
            message = f"[{{a: '{text}'.repeat(200000)}}, 1]"
            told = await extension.evaluate(f"browser.runtime.sendMessage({message}).catch(error => error.message)")
            assert "Could not establish connection" in told

    run_made(tmp_path, use)


def test_more_listeners_than_can_be_told_in_time_are_refused(tmp_path: Path) -> None:
    delay = LoopDelay(times=2)

    async def use(lab: Lab) -> None:
        runtime = await lab.start()
        add = "browser.contextualIdentities.onCreated.addListener(() => {})"
        refused = "contextualIdentities.onCreated: there are 2032 listeners, and no more are allowed."
        assert await runtime.evaluate(f"try {{ for (;;) {add}; }} catch (error) {{ error.message }}") == refused
        async with delay:
            await runtime.evaluate("browser.contextualIdentities.create({name: 'x', color: 'red', icon: 'circle'})")
            await runtime.stop()

    for folder in delay.attempts(tmp_path):
        in_lab(folder, use)


def test_memory_that_is_not_on_the_heap_is_limited_too(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(limits=SMALL)
        script = "const all = []; for (let i = 0; i < 100; i++) all.push(new Uint8Array(5e7).fill(1));"
        try:
            with pytest.raises((ScriptError, ExtensionTerminated)):
                await runtime.evaluate(script)
        finally:
            size = _resident(runtime.process.pid) if runtime.process.running else 0
        assert size < 600 << 20

    in_lab(tmp_path, use)


def _resident(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmRSS"))


def test_a_flood_of_calls_that_nobody_awaits_is_answered_without_delay_to_others(tmp_path: Path) -> None:
    delay = LoopDelay()

    async def use(lab: Lab) -> None:
        other = await lab.start()
        runtime = await lab.start("let answers = 0; const {get} = browser.contextualIdentities;")
        async with delay:
            flood = "for (let i = 0; i < 30000; i++) get('firefox-container-1').then(() => { answers++; })"
            await runtime.evaluate(f"{flood}; 1")
            assert await other.evaluate("browser.contextualIdentities.query({}).then(all => all.length)") == 4
            wait = "while (answers < 30000) await new Promise(done => setTimeout(done, 5)); return answers"
            assert await runtime.evaluate(wait) == 30000
        assert runtime.pending_calls == 0

    for folder in delay.attempts(tmp_path):
        in_lab(folder, use)


def test_a_million_calls_do_not_grow_the_host(tmp_path: Path) -> None:
    """A tenth of a million here, to keep the tests short; HATBOX_CALLS says otherwise."""
    calls = int(os.environ.get("HATBOX_CALLS", "100000"))

    async def use(lab: Lab) -> None:
        runtime = await lab.start("const {get} = browser.contextualIdentities;")
        thousand = "await Promise.all(Array.from({length: 1000}, () => get('firefox-container-1')));"
        batch = f"for (let i = 0; i < %d; i++) {thousand}"
        await runtime.evaluate(batch % 10)
        before = _resident(os.getpid())
        await runtime.evaluate(batch % (calls // 1000))
        assert _resident(os.getpid()) - before < 30 << 20

    in_lab(tmp_path, use, seconds=300)


def test_calls_without_the_permission_are_refused_by_the_host(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(permissions=[])
        assert await runtime.evaluate("browser.contextualIdentities === undefined") is True
        # As if the script had got hold of the pipe and forged the call.
        runtime._calls.call(1, f"{CAMEL}.query", [{}])
        runtime._calls.call(2, "nothing.at.all", [])
        runtime._calls.call(3, "", [])
        assert all(ok is False for _, _, ok, _ in runtime._outgoing.queued)
        assert "Permission denied" in runtime._outgoing.queued[0][3]

    in_lab(tmp_path, use)


TWICE = '[["l","contextualIdentities.onCreated",9,true,[]],["l","contextualIdentities.onCreated",9,true,[]]]'
REQUEST = '[["f",1,{"url":"","method":"","headers":[],"redirect":"follow","body":"-"}]]'
FORGED = [
    "{}", "[", "", "[1]", TWICE, REQUEST, '[["c",1]]', '[["what","ever"]]', '[["s",1,2]]', '[["c",1,"a.b","x"]]',
    '[["a",1]]', '[["x","error",{}]]', '[["l","a.b",1,true,{}]]', '[["f",1,{"url":1}]]', '[["log","fatal","x",null]]',
]  # fmt: skip


@pytest.mark.parametrize("forged", FORGED, ids=range(len(FORGED)))
def test_a_forged_frame_ends_its_own_process_only(tmp_path: Path, forged: str) -> None:
    async def use(lab: Lab) -> None:
        other = await lab.start()
        runtime = await lab.start()
        runtime.process.pipe_data_received(1, len(forged).to_bytes(4, "little") + forged.encode())
        assert (await runtime.exited).reason == "protocol"
        assert await other.evaluate("1") == 1

    in_lab(tmp_path, use)


def test_answers_to_questions_that_nobody_asked_do_nothing(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start()
        for forged in (
            ["a", 999, True, 1],
            ["a", -1, False, None],
            ["pong", 10**9],
            ["k", 5],
            ["ready"],
            ["l", "x.y", 5, False],
        ):
            runtime._handle(forged)
        assert await runtime.evaluate("1") == 1

    in_lab(tmp_path, use)


NO_FUNCTIONS = "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = null"
POLLUTION = [
    NO_FUNCTIONS,
    "Object.prototype.toJSON = () => 'x'",
    "Array.prototype.toJSON = () => 'x'",
    "Object.prototype.then = 1",
    "Array.prototype[Symbol.iterator] = null",
    "Array.prototype.push = Array.prototype.join = null",
    "Array.prototype.map = Array.prototype.sort = Array.prototype.forEach = null",
    "Object.defineProperty(Object.prototype, '0', {set(value) { throw value; }, configurable: true})",
    "Object.defineProperty(Array.prototype, 'length', {value: 0})",
    "Map.prototype.get = Map.prototype.set = null",
    "String.prototype.slice = String.prototype.startsWith = String.prototype.split = null",
    "JSON.parse = JSON.stringify = null",
    "Promise.prototype.then = null",
    "Promise.resolve = null",
    "globalThis.Promise = null",
    "globalThis.Error = null",
    "Reflect.apply = null",
    "TextEncoder.prototype.encodeInto = TextDecoder.prototype.decode = null",
    "Uint8Array.prototype.__proto__.set = Uint8Array.prototype.__proto__.subarray = null",
    "RegExp.prototype.exec = null",
    "Object.keys = Object.freeze = null",
    "Object.defineProperty(Object.prototype, 'get', {value: () => 1, configurable: true})",
    "Object.prototype.optional = true; Object.prototype.choices = []; Object.prototype.enum = []",
    "Object.prototype.writable = true; Object.prototype.value = 1; Object.prototype.callback = 1",
    "globalThis.Map = globalThis.Uint8Array = globalThis.JSON = globalThis.Reflect = null",
    "Error.stackTraceLimit = 0",
    "Error.captureStackTrace = null",
    "Symbol.prototype.toString = null",
    "Object.prototype.__proto__ = null",
    "Number.isInteger = Number.isSafeInteger = Array.isArray = null",
]
FATAL = {NO_FUNCTIONS}
"""Those with which Deno itself cannot go on: the child ends."""


@pytest.mark.parametrize("pollution", POLLUTION)
def test_polluted_prototypes_change_nothing_for_the_host(tmp_path: Path, pollution: str) -> None:
    async def use(lab: Lab) -> None:
        script = """
            (async () => {
              const made = await browser.contextualIdentities.create({name: "Polluted", color: "red", icon: "circle"});
              console.log((await browser.contextualIdentities.get(made.cookieStoreId)).name);
            })();
        """
        try:
            await lab.start(f"try {{ {pollution}; }} catch {{}}", script)
            async with asyncio.timeout(60):
                await lab.host.said("Polluted")
        except ExtensionTerminated:
            assert pollution in FATAL
        else:
            assert pollution not in FATAL
        other = await lab.start()
        assert await other.evaluate("browser.contextualIdentities.query({}).then(all => all.length)") in (4, 5)

    in_lab(tmp_path, use)


@pytest.mark.parametrize("pollution", [each for each in POLLUTION if each not in FATAL])
def test_after_pollution_namespaces_still_come_and_go_with_permissions(tmp_path: Path, pollution: str) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(f"try {{ {pollution}; }} catch {{}}", permissions=[])
        runtime.update_namespaces(describe(Caller("lab@example.org", [CAMEL, "cookies", "tabs"])))
        shown = "typeof browser.cookies.getAll + typeof browser.tabs.query"
        assert await runtime.evaluate(shown, inspect=True, timeout=60) == '"functionfunction"'
        runtime.update_namespaces(describe(Caller("lab@example.org", [])))
        assert await runtime.evaluate("typeof browser.cookies", inspect=True, timeout=60) == '"undefined"'

    in_lab(tmp_path, use)


REPORTED = {
    "a long message": "throw new Error('x'.repeat(2e7))",
    "a long name": "const error = new Error('m'); error.name = 'x'.repeat(2e7); throw error",
    "a long stack": "throw Object.assign(new Error('m'), {stack: `    at moz-extension://${'x'.repeat(2e7)}:1:1`})",
    "a long first line": "throw Object.assign(new Error('m'), {stack: `moz-extension://${'x'.repeat(2e7)}:1\\n`})",
    "a long text": "throw 'x'.repeat(2e7)",
    "deep groups": "for (let i = 0; i < 5e6; i++) console.group(); console.log('x'); throw new Error('m')",
}


@pytest.mark.parametrize("name", REPORTED)
def test_whatever_is_thrown_can_be_reported(tmp_path: Path, name: str) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start()
        await runtime.evaluate(f"setTimeout(() => {{ {REPORTED[name]}; }})")
        assert await runtime.evaluate("new Promise(done => setTimeout(done, 10, 1))") == 1
        entry = lab.host.entries[-1]
        assert entry.kind == "error"
        assert len(entry.text) + len(entry.stack) + len(entry.file) < 50_000

    in_lab(tmp_path, use)


def test_frames_of_the_stack_cannot_be_walked_to_what_is_hidden(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start("""
            var seen = [];
            try {
                Error.prepareStackTrace = (_, sites) => { seen.push(...sites.map(site => site.getFunction())); };
            } catch {}
            browser.contextualIdentities.onCreated.addListener(function walk() {
                new Error().stack;
                try { seen.push(walk.caller, walk.arguments.callee.caller); } catch {}
            });
        """)
        await runtime.listeners.dispatch(f"{CAMEL}.onCreated", [1])
        assert await runtime.evaluate("seen.filter(each => each).length") == 0

    in_lab(tmp_path, use)


def test_the_child_has_no_permission_of_the_operating_system(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start()
        environment, arguments = _started_with(runtime.process.pid)
        assert environment <= {b"DENO_DIR", b"DENO_NO_UPDATE_CHECK", b"NO_COLOR"}
        assert not any(each.startswith(b"--allow") or each == b"-A" for each in arguments)

    in_lab(tmp_path, use)


def _started_with(pid: int) -> tuple[set[bytes], list[bytes]]:
    """The names in a process's environment, and its arguments."""
    environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return {each.partition(b"=")[0] for each in environment if each}, arguments


HOST = """
import asyncio, sys
from pathlib import Path
from tests.extensions.runtime.lab import opened
from tests.waiting import until

def ticks(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().split()[13])

async def main():
    async with opened(Path(sys.argv[1])) as lab:
        runtime = await lab.start()
        before = ticks(runtime.process.pid)
        asyncio.ensure_future(runtime.evaluate("while (true);"))
        await until(lambda: ticks(runtime.process.pid) > before + 10)
        print(runtime.process.pid, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells a child that its parent has died")
def test_a_child_in_a_loop_does_not_outlive_a_host_that_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOST, str(tmp_path)], stdout=subprocess.PIPE) as host:
        assert host.stdout
        child = int(host.stdout.readline())
        host.send_signal(signal.SIGKILL)
        host.wait()
        arguments = Path(f"/proc/{child}/cmdline")  # empty for a zombie
        block_until(lambda: not arguments.exists() or not arguments.read_bytes(), "exit of the child")
