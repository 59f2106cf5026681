"""IndexedDB of a background: as Firefox has it, and stored in the profile."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import Profile
from hatbox.errors import ApiError
from hatbox.extension_data import indexed_databases
from hatbox.extension_data.indexed_databases import KIND, Commit, StoreChange
from hatbox.extensions.extension import Extension
from hatbox.extensions.indexed_db import MAX_ROW, IndexedDb
from hatbox.extensions.runtime.wire_frames import ProtocolError
from tests.extensions.indexed_db import CASES, PRELUDE, recorded, script
from tests.extensions.made import make, run_made
from tests.extensions.runtime.lab import needs_deno

pytestmark = needs_deno


def test_it_is_as_in_firefox(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        for source, expected in zip(CASES, recorded(), strict=True):
            assert await extension.evaluate(script(source), timeout=60) == expected, source
            await extension.evaluate("for (const d of opened) d.close(); 1")

    background = """
      const opened = [];
      const {open} = IDBFactory.prototype;
      IDBFactory.prototype.open = function (...args) {
        const request = open.apply(this, args);
        request.addEventListener("upgradeneeded", () => opened.push(request.result));
        request.addEventListener("success", () => opened.push(request.result));
        return request;
      };
    """
    run_made(tmp_path, use, background)


def with_extension(tmp_path: Path, use: Callable[[Profile, Path], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(120), hatbox.open(tmp_path / "profile.db") as profile:
            await use(profile, make(tmp_path))

    asyncio.run(main())


async def run(extension: Extension, source: str) -> Any:
    return await extension.evaluate(f"{PRELUDE} {source}", timeout=60)


async def restart(profile: Profile, extension: Extension, folder: Path) -> Extension:
    await profile.extensions.stop(extension)
    return await profile.extensions.start(folder)


def test_databases_are_there_after_a_restart(tmp_path: Path) -> None:
    async def use(profile: Profile, folder: Path) -> None:
        extension = await profile.extensions.start(folder)
        await run(
            extension,
            """
            const d = await people();
            const t = d.transaction("people", "readwrite"), s = t.objectStore("people");
            s.put({id: [1, "\\ud800", new Date(5), new Uint8Array([0, 255]), -Infinity], name: "odd", mail: "odd",
                   big: "\\u{1f600}x".repeat(30000),
                   blob: new File([new Uint8Array(100000).fill(7)], "f", {type: "a/b"}),
                   map: new Map([["k", new Date(9)]])});
            s.delete(1);
            const end = await ended(t);
            await open("gen", 3, db => db.createObjectStore("g", {autoIncrement: true}).add("first"));
            return end;
            """,
        )
        extension = await restart(profile, extension, folder)
        found = await run(
            extension,
            """
            const d = await open("people"), s = d.transaction("people").objectStore("people");
            const odd = await done(s.index("mail").get("odd"));
            const bytes = new Uint8Array(await odd.blob.arrayBuffer());
            const g = await open("gen"), gs = g.transaction("g", "readwrite").objectStore("g");
            return [await indexedDB.databases(), odd.id.map(show), odd.big === "\\u{1f600}x".repeat(30000),
                    odd.blob.name,
                    odd.blob.type, bytes.length, bytes.every(b => b === 7), show(odd.map), await gs_add(gs)];
            async function gs_add(store) { return await done(store.add("second")); }
            """,
        )
        assert found == [
            [{"name": "people", "version": 1}, {"name": "gen", "version": 3}],
            [1, "\ud800", "Date 5", ["Uint8Array", 0, 0, 255], "number -Infinity"],
            True,
            "f",
            "a/b",
            100000,
            True,
            ["Map", ["k", "Date 9"]],
            2,
        ]
        extension = await restart(profile, extension, folder)
        counted = "const s = (await open('people')).transaction('people').objectStore('people');"
        shrink = "const t = (await open('people')).transaction('people', 'readwrite'); t.objectStore('people').clear();"
        assert await run(extension, f"{counted} return await done(s.count())") == 4
        assert (
            await run(extension, f"{shrink} t.objectStore('people').put({{id: 1}}); return await ended(t)")
            == "complete"
        )
        assert await run(extension, f"{shrink} t.abort(); return await ended(t)") == ["abort", None]
        extension = await restart(profile, extension, folder)
        assert await run(extension, f"{counted} return await done(s.getAll())") == [{"id": 1}]
        extension = await restart(profile, extension, folder)
        await run(
            extension, "await done(indexedDB.deleteDatabase('people')); await done(indexedDB.deleteDatabase('gen'))"
        )
        rows = await profile._store.read(lambda t: t.extensions.load(extension.area))
        assert [kind for kind, _, _ in rows if kind.startswith(KIND)] == []

    with_extension(tmp_path, use)


def test_a_completed_transaction_survives_the_death_of_the_program(tmp_path: Path) -> None:
    folder = make(tmp_path)
    source = f"""{PRELUDE}
      const d = await open("x", 1, db => db.createObjectStore("s"));
      const t = d.transaction("s", "readwrite");
      for (let i = 0; i < 500; i++) t.objectStore("s").put("v".repeat(200), i);
      return await ended(t);
    """
    program = f"""
import asyncio, os, signal
import hatbox
async def main():
    async with hatbox.open({str(tmp_path / "profile.db")!r}) as profile:
        extension = await profile.extensions.start({str(folder)!r})
        assert await extension.evaluate({source!r}) == "complete"
        os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""
    ended = subprocess.run([sys.executable, "-c", program], timeout=120, check=False)
    assert ended.returncode == -signal.SIGKILL

    async def use(profile: Profile, folder: Path) -> None:
        extension = await profile.extensions.start(folder)
        count = "return await done((await open('x')).transaction('s').objectStore('s').count())"
        assert await run(extension, count) == 500

    with_extension(tmp_path, use)


def test_the_quota_aborts_a_transaction_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexed_databases, "QUOTA", 300_000)

    async def use(profile: Profile, folder: Path) -> None:
        extension = await profile.extensions.start(folder)
        put = "const t = d.transaction('s', 'readwrite'), s = t.objectStore('s');"
        opened = "const d = await open('q', 1, db => db.createObjectStore('s'));"
        assert await run(extension, f"{opened} {put} s.put('x'.repeat(200000), 1); return await ended(t)") == "complete"
        too_much = f"{opened} {put} s.put('y', 2); s.put('x'.repeat(200000), 3); return await ended(t)"
        assert await run(extension, too_much) == ["abort", "QuotaExceededError"]
        keys = f"{opened} return await done(d.transaction('s').objectStore('s').getAllKeys())"
        assert await run(extension, keys) == [1]
        again = f"{opened} {put} s.put('z'.repeat(250000), 1); return await ended(t)"  # replaces what is counted
        assert await run(extension, again) == "complete"
        cleared = f"{opened} {put} s.clear(); s.put('z'.repeat(250000), 9); return await ended(t)"
        assert await run(extension, cleared) == "complete"
        extension = await restart(profile, extension, folder)
        assert await run(extension, keys) == [9]
        usage, quota = await extension.evaluate(
            "const e = await navigator.storage.estimate(); return [e.usage, e.quota]"
        )
        assert 250_000 < usage < 252_000
        assert quota > 1 << 20
        assert await extension.evaluate("[await navigator.storage.persisted(), await navigator.storage.persist()]") == [
            True,
            True,
        ]

    with_extension(tmp_path, use)


def test_changes_of_another_program_are_not_overwritten(tmp_path: Path) -> None:
    async def use(profile: Profile, folder: Path) -> None:
        extension = await profile.extensions.start(folder)
        await run(
            extension, "globalThis.d = await open('x', 1, db => db.createObjectStore('s').put('mine', 1)); return 1"
        )
        change = StoreChange(1, False, {"1.0": '1:8:1"theirs"'})
        theirs = Commit(1, 1, (1,), None, [change])
        await profile._store.write(lambda transaction: indexed_databases.commit(transaction, extension.area, theirs))
        ended = await run(
            extension,
            """
            const t = d.transaction("s", "readwrite");
            const closed = new Promise(resolve => { d.onclose = () => resolve("closed"); });
            t.objectStore("s").put("mine again", 1);
            return [await ended(t), await closed];
            """,
        )
        assert ended == [["abort", "UnknownError"], "closed"]
        read = "return await done((await open('x')).transaction('s').objectStore('s').get(1))"
        assert await run(extension, read) == "theirs"

    with_extension(tmp_path, use)


def test_nothing_is_read_before_the_first_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    handle = IndexedDb.handle

    def noted(self: IndexedDb, operation: str, fields: list[Any]) -> Awaitable[Any]:
        asked.append(operation)
        return handle(self, operation, fields)

    async def use(profile: Profile, folder: Path) -> None:
        extension = await profile.extensions.start(folder)
        await run(extension, "const d = await open('x', 1, db => db.createObjectStore('s').put(1, 1)); return 1")
        asked.clear()
        extension = await restart(profile, extension, folder)
        assert await extension.evaluate("typeof indexedDB.open") == "function"
        assert asked == []
        await run(extension, "await open('x'); return 1")
        assert asked == ["list"]
        await run(extension, "const t = (await open('x')).transaction('s'); return await ended(t)")
        assert asked == ["list", "read"]

    monkeypatch.setattr(IndexedDb, "handle", noted)
    with_extension(tmp_path, use)


def test_scripts_that_change_prototypes_do_not_break_it(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        broken = """
          for (const {prototype} of [Array, Map, Set, String, Promise, Blob]) {
            for (const name of Object.getOwnPropertyNames(prototype)) {
              const {value} = Object.getOwnPropertyDescriptor(prototype, name);
              if (name !== "constructor" && name !== "then" && typeof value === "function") {
                prototype[name] = () => { throw new Error("changed by the script"); };
              }
            }
          }
          Object.defineProperty(Object.prototype, "value", {set() { throw new Error("setter"); }, configurable: true});
          const request = indexedDB.open("p", 1);
          request.onupgradeneeded = () => request.result.createObjectStore("s", {keyPath: "a.b"}).createIndex("i", "c");
          const d = await new Promise(f => { request.onsuccess = () => f(request.result); });
          const t = d.transaction("s", "readwrite");
          t.objectStore("s").put({a: {b: [1, "x"]}, c: "y", list: [1, 2]});
          await new Promise(f => { t.oncomplete = f; });
          const got = d.transaction("s").objectStore("s").index("i").get("y");
          return (await new Promise(f => { got.onsuccess = () => f(got.result); })).list.length;
        """
        assert await extension.evaluate(broken, timeout=60) == 2

    run_made(tmp_path, use)


@pytest.mark.parametrize(
    ("operation", "fields"),
    [
        ("list", [1]),
        ("other", []),
        ("read", [1, 1, "x"]),
        ("read", [1, "1", ""]),
        ("read", [True, 1, ""]),
        ("read", [1, 1 << 60, ""]),
        ("stage", [1, False, [["1", "x"]]]),
        ("stage", [1, False, [["1.0", 5]]]),
        ("stage", [1, False, [["1.0", "x" * (MAX_ROW + 1)]]]),
        ("stage", [1, 0, []]),
        ("commit", [1, 0, [1.5], None]),
        ("commit", [1, 0, [], 5]),
        ("delete", [1]),
    ],
)
def test_an_invalid_request_is_refused(operation: str, fields: list[Any]) -> None:
    with pytest.raises(ProtocolError):
        IndexedDb(None, "x").handle(operation, fields)  # type: ignore[arg-type]


def test_a_process_that_stages_without_end_is_refused_and_needs_no_memory(tmp_path: Path) -> None:
    async def main() -> None:
        async with hatbox.open(tmp_path / "profile.db") as profile:
            databases = IndexedDb(profile._store, "x")
            for number in range(4000):
                await databases.handle("stage", [1, False, [[f"{number}.0", "x" * MAX_ROW]]])
            assert len(databases._staged) < 3300
            with pytest.raises(ApiError, match="QuotaExceededError"):
                await databases.handle("commit", [1, 0, [1], "{}"])
            assert databases._staged == []

    asyncio.run(main())


def test_two_databases_that_commit_at_the_same_time_store_their_own_rows(tmp_path: Path) -> None:
    async def main() -> None:
        async with hatbox.open(tmp_path / "profile.db") as profile:
            installed = await profile.extensions.install(make(tmp_path))
            databases = IndexedDb(profile._store, installed.extension.area)
            started = []
            for number, value in ((1, "a"), (2, "b")):  # as in one read: nothing runs between these requests
                started.append(databases.handle("stage", [1, False, [["1.0", value]]]))
                started.append(databases.handle("commit", [number, 0, [1], "{}"]))
            await asyncio.gather(*started)
            pages = [await databases.handle("read", [number, 1, ""]) for number in (1, 2)]
            assert [page.rows for page in pages] == [[("1.0", "a")], [("1.0", "b")]]

    asyncio.run(main())


def test_many_small_requests_do_not_block_the_extension(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        counted = await extension.evaluate(
            f"""{PRELUDE}
            const d = await open("many", 1, db => db.createObjectStore("s"));
            const t = d.transaction("s", "readwrite"), s = t.objectStore("s");
            let timers = 0;
            const timer = setInterval(() => timers++, 0);
            for (let i = 0; i < 20000; i++) s.put(i, i);
            await ended(t);
            clearInterval(timer);
            return [timers > 3, await done(d.transaction("s").objectStore("s").count())];
            """,
            timeout=60,
        )
        assert counted == [True, 20000]

    run_made(tmp_path, use)
