"""Scripts that mean harm. Whatever they do, the host's loop goes on, another extension goes on, and nothing leaks out."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hatbox.extensions.runtime import Limits, RuntimeGone, ScriptError
from tests.extensions.runtime.lab import CAMEL, Lab, in_lab, needs_deno

pytestmark = needs_deno

LONGEST_DELAY = 0.05
"""Of the host's loop, in seconds."""
SMALL = Limits(heap=64 << 20, memory=128 << 20, answer=1.0)


class LoopDelay:
    """For how long, at most, the host's loop did not get to a task that wants to run every few milliseconds.

    Only time in which the loop's thread was at work: on a machine with other things to do it may have to wait for those.
    """

    def __init__(self) -> None:
        self.worst = 0.0

    async def __aenter__(self) -> LoopDelay:
        self._task = asyncio.ensure_future(self._sample())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()

    async def _sample(self) -> None:
        while True:
            start, worked = time.perf_counter(), time.thread_time()
            await asyncio.sleep(0.005)
            late = time.perf_counter() - start - 0.005
            self.worst = max(self.worst, min(late, time.thread_time() - worked))


DEADLY = {
    "endless loop": ("while (true);", "unresponsive"),
    "endless microtasks": ("(function again() { Promise.resolve().then(again); })();", "unresponsive"),
    "endless loop in a timer": ("setTimeout(() => { for (;;); }, 0);", "unresponsive"),
    "a regular expression without end": ("/^(a+)+$/.test('a'.repeat(50) + 'b');", "unresponsive"),
    "heap bomb": ("const all = []; while (true) all.push({a: [1, 2, 3], b: 'x' + all.length});", "crashed: out of memory"),
    "string bomb": ("let s = 'x'; const all = []; while (true) { all.push(s + all.length); s += s.slice(0, 99999); }", "crashed"),
    "array of 2**32-1": ("new Array(2 ** 32 - 1).fill(0);", "crashed"),
    "wait without end": ("Atomics.wait(new Int32Array(new WebAssembly.Memory({initial: 1, maximum: 1, shared: true}).buffer), 0, 0);",
                         "unresponsive"),
}  # fmt: skip


@pytest.mark.parametrize("name", DEADLY)
def test_a_deadly_script_ends_its_own_process_only(tmp_path: Path, name: str) -> None:
    script, reason = DEADLY[name]

    async def use(lab: Lab) -> None:
        other = await lab.start()
        limits = SMALL if reason == "unresponsive" else SMALL._replace(answer=20.0)
        runtime = await lab.start(limits=limits)
        async with LoopDelay() as delay:
            running = asyncio.ensure_future(runtime.evaluate(f"{script}; 1"))
            if reason:
                assert (await runtime.exited).reason.startswith(reason)
            await asyncio.wait([running])
            assert isinstance(running.exception(), ScriptError | RuntimeGone | None)
            assert await other.evaluate("browser.contextualIdentities.query({}).then(all => all.length)") == 4
        print(f"{name}: {runtime.exited.done() and runtime.exited.result().reason}, {delay.worst * 1000:.1f} ms")  # noqa: T201
        assert delay.worst < LONGEST_DELAY

    in_lab(tmp_path, use)


HARMLESS = {
    "deep recursion": "try { (function down() { down(); })(); } catch (error) { error.name }",
    "deep argument": "try { let deep = []; for (let i = 0; i < 1e5; i++) deep = [deep]; browser.contextualIdentities.query({name: deep}) }"
    " catch (error) { error.name }",
    "cyclic argument": "try { const a = {}; a.name = a; browser.contextualIdentities.query(a) } catch (error) { error.name }",
    "buffer bomb": "const all = []; try { for (let i = 0; i < 100; i++) all.push(new ArrayBuffer(1e8).resize) }"
    " catch (error) { error.name }",
    "huge argument": "try { browser.contextualIdentities.query({name: 'x'.repeat(1e8)}) } catch (error) { error.name }",
    "a proxy": "try { browser.contextualIdentities.query(new Proxy({}, {get() { for (;;); }, ownKeys() { for (;;); }})) }"
    " catch (error) { error.name }",
    "a getter": "try { browser.contextualIdentities.query({get name() { for (;;); }}); 'Error' } catch (error) { error.name }",
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_does_no_harm_leaves_the_extension_running(tmp_path: Path, name: str) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(limits=Limits())
        async with LoopDelay() as delay:
            outcome = await runtime.evaluate(HARMLESS[name])
            assert outcome in ("RangeError", "Error", "TypeError", 100)
            assert await runtime.evaluate("1 + 1") == 2
        print(f"{name}: {outcome}, {delay.worst * 1000:.1f} ms")  # noqa: T201
        assert delay.worst < LONGEST_DELAY

    in_lab(tmp_path, use)


def test_memory_that_is_not_on_the_heap_is_limited_too(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(limits=SMALL)
        script = "const all = []; for (let i = 0; i < 100; i++) all.push(new Uint8Array(5e7).fill(1));"
        try:
            with pytest.raises((ScriptError, RuntimeGone)):
                await runtime.evaluate(script)
        finally:
            size = _resident(runtime.process.pid) if runtime.process.running else 0
        assert size < 600 << 20

    in_lab(tmp_path, use)


def _resident(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmRSS"))


def test_a_flood_of_calls_that_nobody_awaits_is_answered_without_delay_to_others(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        other = await lab.start()
        runtime = await lab.start("let answers = 0; const {get} = browser.contextualIdentities;")
        async with LoopDelay() as delay:
            start = time.perf_counter()
            flood = "for (let i = 0; i < 30000; i++) get('firefox-container-1').then(() => { answers++; })"
            await runtime.evaluate(f"{flood}; 1")
            assert await other.evaluate("browser.contextualIdentities.query({}).then(all => all.length)") == 4
            others_turn = time.perf_counter() - start
            wait = "while (answers < 30000) await new Promise(done => setTimeout(done, 5)); return answers"
            assert await runtime.evaluate(wait) == 30000
        print(f"flood: the other after {others_turn * 1000:.0f} ms, {delay.worst * 1000:.1f} ms")  # noqa: T201
        assert delay.worst < LONGEST_DELAY
        assert runtime.calls_under_way == 0

    in_lab(tmp_path, use)


def test_a_million_calls_do_not_grow_the_host(tmp_path: Path) -> None:
    """A tenth of a million here, to keep the tests short; HATBOX_CALLS says otherwise."""
    calls = int(os.environ.get("HATBOX_CALLS", "100000"))

    async def use(lab: Lab) -> None:
        runtime = await lab.start("const {get} = browser.contextualIdentities;")
        batch = "for (let i = 0; i < %d; i++) await Promise.all(Array.from({length: 1000}, () => get('firefox-container-1')));"
        await runtime.evaluate(batch % 10)
        before = _resident(os.getpid())
        await runtime.evaluate(batch % (calls // 1000))
        assert _resident(os.getpid()) - before < 30 << 20

    in_lab(tmp_path, use, seconds=300)


def test_calls_without_the_permission_are_refused_by_the_host(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(permissions=[])
        assert await runtime.evaluate("browser.contextualIdentities === undefined") is True
        reached: list[str] = []
        original = lab.host.call

        def call(namespace: str, member: str, arguments: list[object]) -> object:
            reached.append(namespace)
            return original(namespace, member, arguments)

        # As if the script had got hold of the pipe and forged the call.
        runtime._call(1, f"{CAMEL}.query", [{}])
        runtime._call(2, "nothing.at.all", [])
        runtime._call(3, "", [])
        assert all(ok is False for _, _, ok, _ in runtime._replies)
        assert "Permission denied" in runtime._replies[0][3]

    in_lab(tmp_path, use)


FORGED = [
    b"\xff\xff\xff\xff", b"\x02\x00\x00\x00{}", b"\x01\x00\x00\x00[", b"\x00\x00\x00\x00",
    b'\x08\x00\x00\x00[["c",1]]'[:12], b'\x10\x00\x00\x00[["what","ever"]]', b'\x0b\x00\x00\x00[["s",1,2]]',
    b'\x0f\x00\x00\x00[["l","a.b",-1]]'[:19], b'\x16\x00\x00\x00[["c",true,"a.b","x"]]', b'\x0e\x00\x00\x00[["x","y",{}]]',
]  # fmt: skip


@pytest.mark.parametrize("forged", FORGED, ids=range(len(FORGED)))
def test_a_forged_frame_ends_its_own_process_only(tmp_path: Path, forged: bytes) -> None:
    async def use(lab: Lab) -> None:
        other = await lab.start()
        runtime = await lab.start()
        runtime.process.pipe_data_received(1, forged)
        if len(forged) - 4 < int.from_bytes(forged[:4], "little") < 1000:  # not all there yet: nothing happens
            return
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


POLLUTION = [
    "Object.prototype.toJSON = () => 'x'", "Array.prototype.toJSON = () => 'x'", "Object.prototype.then = 1",
    "Array.prototype[Symbol.iterator] = null", "Array.prototype.push = null", "Array.prototype.join = null",
    "Array.prototype.map = Array.prototype.sort = Array.prototype.forEach = null",
    "Object.defineProperty(Object.prototype, '0', {set(value) { throw value; }, configurable: true})",
    "Object.defineProperty(Array.prototype, 'length', {value: 0})", "Map.prototype.get = Map.prototype.set = null",
    "String.prototype.slice = String.prototype.startsWith = String.prototype.split = null", "JSON.parse = JSON.stringify = null",
    "Promise.prototype.then = null", "Promise.resolve = null", "globalThis.Promise = null", "globalThis.Error = null",
    "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = null", "Reflect.apply = null",
    "TextEncoder.prototype.encodeInto = TextDecoder.prototype.decode = null", "Uint8Array.prototype.__proto__.set = null",
    "Uint8Array.prototype.__proto__.subarray = null", "RegExp.prototype.exec = null", "Object.keys = Object.freeze = null",
    "Object.defineProperty(Object.prototype, 'get', {value: () => 1, configurable: true})",
    "Object.prototype.optional = true; Object.prototype.choices = []; Object.prototype.enum = []",
    "Object.prototype.writable = true; Object.prototype.value = 1; Object.prototype.callback = 1",
    "globalThis.Map = globalThis.Uint8Array = globalThis.JSON = globalThis.Reflect = null", "Error.stackTraceLimit = 0",
    "Error.captureStackTrace = null", "Symbol.prototype.toString = null", "Object.prototype.__proto__ = null",
    "Number.isInteger = Number.isSafeInteger = Array.isArray = null",
]  # fmt: skip


FATAL = {"Function.prototype.call = Function.prototype.apply = Function.prototype.bind = null"}
"""Those with which Deno itself cannot go on: the child ends."""


@pytest.mark.parametrize("pollution", POLLUTION)
def test_polluted_prototypes_change_nothing_for_the_host(tmp_path: Path, pollution: str) -> None:
    async def use(lab: Lab) -> None:
        script = """
            var outcome = null;
            (async () => {
              const made = await browser.contextualIdentities.create({name: "Polluted", color: "red", icon: "circle"});
              outcome = (await browser.contextualIdentities.get(made.cookieStoreId)).name;
            })();
        """
        try:
            runtime = await lab.start(f"try {{ {pollution}; }} catch {{}}", script)
            async with asyncio.timeout(5):
                while await runtime.evaluate("outcome") is None:
                    await asyncio.sleep(0.01)
                assert await runtime.evaluate("outcome") == "Polluted"
        except RuntimeGone:
            assert pollution in FATAL
        else:
            assert pollution not in FATAL
        other = await lab.start()
        assert await other.evaluate("browser.contextualIdentities.query({}).then(all => all.length)") in (4, 5)

    in_lab(tmp_path, use)


def test_frames_of_the_stack_cannot_be_walked_to_what_is_hidden(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start("""
            var seen = [];
            try { Error.prepareStackTrace = (error, sites) => { seen.push(...sites.map(site => site.getFunction())); return "x"; }; }
            catch {}
            browser.contextualIdentities.onCreated.addListener(function walk() {
                new Error().stack;
                try { seen.push(walk.caller, walk.arguments.callee.caller); } catch {}
            });
        """)
        await runtime.dispatch_event(f"{CAMEL}.onCreated", [1])
        assert await runtime.evaluate("seen.filter(each => each).length") == 0

    in_lab(tmp_path, use)


def test_the_child_has_no_permission_of_the_operating_system(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start()
        pid = runtime.process.pid
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        assert {each.partition(b"=")[0] for each in environment} <= {
            b"DENO_DIR",
            b"DENO_NO_UPDATE_CHECK",
            b"NO_COLOR",
            b"",
        }
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes()
        assert b"--allow" not in arguments
        assert b"-A" not in arguments.split(b"\0")

    in_lab(tmp_path, use)


HOST = """
import asyncio, sys
from pathlib import Path
from tests.extensions.runtime.lab import opened

async def main():
    async with opened(Path(sys.argv[1])) as lab:
        runtime = await lab.start()
        asyncio.ensure_future(runtime.evaluate("while (true);"))
        await asyncio.sleep(0.2)
        print(runtime.process.pid, flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells a child that its parent has died")
def test_a_child_in_a_loop_does_not_outlive_a_host_that_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOST, str(tmp_path)], stdout=subprocess.PIPE) as host:
        assert host.stdout
        child = int(host.stdout.readline())
        host.send_signal(signal.SIGKILL)
        host.wait()
        deadline = time.monotonic() + 10
        while Path(f"/proc/{child}/cmdline").exists() and Path(f"/proc/{child}/cmdline").read_bytes():
            assert time.monotonic() < deadline, "the child is still there"
            time.sleep(0.01)
