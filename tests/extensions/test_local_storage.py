"""localStorage and sessionStorage of a background: as Firefox has them, and still there after a restart."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import Profile
from hatbox.extensions.extension import Extension
from hatbox.extensions.local_storage import KIND, QUOTA, LocalStorage
from hatbox.extensions.runtime.bridge import ChunkAssembler
from hatbox.extensions.runtime.wire_frames import ProtocolError
from tests.extensions.made import make, run_made
from tests.extensions.runtime.lab import needs_deno
from tests.waiting import until

pytestmark = needs_deno

# Scripts, and what Firefox 153 answers; of errors whose words are the engine's own only the name.
CASES = json.loads((Path(__file__).parent / "local_storage.firefox.json").read_text("utf-8"))


def test_they_are_as_in_firefox(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        for source, expected in CASES:
            got = await extension.evaluate(f"""
              const l = localStorage;
              Storage.prototype.clear.call(l);
              sessionStorage.clear();
              try {{
                return await (async () => {{ {source} }})();
              }} catch (e) {{
                return e.code ? [e.name, e.message, e.code] : [e.name, e.message];
              }}
            """)
            assert (got[:1] if expected == ["TypeError"] else got) == expected, source

    run_made(tmp_path, use)


def with_extension(tmp_path: Path, use: Callable[[Profile, Path], Awaitable[None]], **manifest: Any) -> None:
    async def main() -> None:
        async with asyncio.timeout(60), hatbox.open(tmp_path / "profile.db") as profile:
            await use(profile, make(tmp_path, **manifest))

    asyncio.run(main())


ALL = "Object.entries(localStorage)"


def test_what_is_set_is_there_again_in_its_order(tmp_path: Path) -> None:
    async def use(profile: Profile, folder: Path) -> None:
        extension = await profile.extensions.start(folder)
        await extension.evaluate("""
          const keys = ["z", "a", "10", "9", "n\\0m", "half \\ud800", "é\\u{1f600}", ""];
          for (const key of keys) localStorage.setItem(key, key + "!");
          localStorage.removeItem("a");
          localStorage.setItem("9", "new");
          localStorage.setItem("a", "again");
          sessionStorage.setItem("s", "1");
        """)
        before = await extension.evaluate(ALL)
        assert [key for key, _ in before] == ["z", "10", "9", "n\0m", "half \ud800", "é\U0001f600", "", "a"]
        await profile.extensions.stop(extension)
        extension = await profile.extensions.start(folder)
        assert await extension.evaluate(ALL) == before
        assert await extension.evaluate("sessionStorage.length") == 0
        await extension.evaluate(
            "localStorage.clear(); localStorage.one = 1; localStorage.clear(); localStorage.two = 2"
        )
        await profile.extensions.stop(extension)
        extension = await profile.extensions.start(folder)
        assert await extension.evaluate(ALL) == [["two", "2"]]

    with_extension(tmp_path, use)


def test_the_last_change_before_the_end_counts(tmp_path: Path) -> None:
    async def use(profile: Profile, folder: Path) -> None:
        for turn in range(3):
            extension = await profile.extensions.start(folder)
            assert await extension.evaluate("localStorage.n ?? null") == (str(turn - 1) if turn else None)
            # Not awaited: the change is in flight when the extension is stopped.
            evaluating = asyncio.ensure_future(
                extension.evaluate(f"for (let i = 0; i <= 2000; i++) localStorage.m = i; localStorage.n = {turn}; 1")
            )
            await asyncio.sleep(0)
            await asyncio.gather(profile.extensions.stop(extension), evaluating, return_exceptions=True)

    with_extension(tmp_path, use)


def test_as_much_as_there_is_room_for_survives(tmp_path: Path) -> None:
    async def use(profile: Profile, folder: Path) -> None:
        extension = await profile.extensions.start(folder)
        # All of it is escaped in JSON, twice; and pairs of surrogates stand where it is cut.
        await extension.evaluate("localStorage.setItem('abcd', '\\u0001\\u{1f600}'.repeat(1747625)); 1")
        await profile.extensions.stop(extension)
        extension = await profile.extensions.start(folder)
        same = "localStorage.abcd === '\\u0001\\u{1f600}'.repeat(1747625)"
        assert await extension.evaluate(same) is True

    with_extension(tmp_path, use)


def test_it_survives_sleep_and_a_crash(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        await extension.evaluate("localStorage.kept = 1; sessionStorage.lost = 1")
        assert await extension.suspend()
        assert await extension.evaluate("[localStorage.kept, sessionStorage.length]") == ["1", 0]
        await extension.evaluate("localStorage.kept = 2; 1")
        runtime = extension.runtime
        assert runtime is not None
        exited = runtime.exited
        runtime.process._kill()
        await exited
        await until(lambda: extension.runtime not in (None, runtime))
        assert await extension.evaluate("localStorage.kept") == "2"

    run_made(tmp_path, use, persistent=False)


def test_what_is_removed_and_set_again_stands_last(tmp_path: Path) -> None:
    async def use(profile: Profile, folder: Path) -> None:
        extension = await profile.extensions.start(folder)
        storage = LocalStorage(profile.store, extension.area)
        for changes in ([("a", "1"), ("b", "2")], [("a", None), ("a", "3"), ("b", "4")]):
            await storage.load()
            for key, value in changes:
                assert storage.change(key, value)
        assert await storage.load() == [("b", "4"), ("a", "3")]

    with_extension(tmp_path, use)


def test_what_was_changed_is_written_also_if_the_task_that_writes_is_cancelled(tmp_path: Path) -> None:
    """As programs do that cancel all tasks before they close the profile."""

    async def use(profile: Profile, folder: Path) -> None:
        extension = await profile.extensions.start(folder)
        storage = LocalStorage(profile.store, extension.area)
        await storage.load()
        assert storage.change("a", "1")
        await asyncio.sleep(0)  # this one is being written
        assert storage.change("b", "2")
        assert storage._writing is not None
        storage._writing.cancel()
        await storage.flush()
        assert storage.change("c", "3")
        storage._writing.cancel()  # before it has begun
        await storage.flush()
        assert await LocalStorage(profile.store, extension.area).load() == [("a", "1"), ("b", "2"), ("c", "3")]

    with_extension(tmp_path, use)


def test_who_sleeps_has_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writing = asyncio.Event()
    write = LocalStorage._write

    async def slowly(self: LocalStorage, *changes: Any) -> None:
        await asyncio.wait_for(writing.wait(), 20)
        await write(self, *changes)

    async def use(_: Profile, extension: Extension) -> None:
        await extension.evaluate("localStorage.a = 1")
        sleeping = asyncio.ensure_future(extension.suspend())
        runtime = extension.runtime
        assert runtime is not None
        await runtime.exited
        for _turn in range(20):
            await asyncio.sleep(0)
        assert not sleeping.done()
        writing.set()
        await sleeping

    monkeypatch.setattr(LocalStorage, "_write", slowly)
    run_made(tmp_path, use, persistent=False)


def test_it_goes_with_the_extension(tmp_path: Path) -> None:
    async def use(profile: Profile, folder: Path) -> None:
        extension = await profile.extensions.start(folder)
        await extension.evaluate("localStorage.a = 1")
        await profile.extensions.remove(extension.id)
        rows = await profile.store.read(lambda transaction: transaction.extensions.find(KIND))
        assert rows == []
        extension = await profile.extensions.start(folder)
        assert await extension.evaluate("localStorage.length") == 0

    with_extension(tmp_path, use)


def test_what_is_written_after_the_extension_was_removed_is_not_kept(tmp_path: Path) -> None:
    async def use(profile: Profile, _: Path) -> None:
        storage = LocalStorage(profile.store, "gone@example.org")
        await storage.load()
        assert storage.change("a", "1")
        await storage.flush()
        assert await profile.store.read(lambda transaction: transaction.extensions.find(KIND)) == []

    with_extension(tmp_path, use)


def test_extensions_do_not_see_each_others(tmp_path: Path) -> None:
    async def use(profile: Profile, folder: Path) -> None:
        one = await profile.extensions.start(folder)
        other = await profile.extensions.start(make(tmp_path, name="other"))
        await one.evaluate("localStorage.a = 1")
        assert await other.evaluate("localStorage.length") == 0

    with_extension(tmp_path, use)


def test_a_service_worker_has_none(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        assert (
            await extension.evaluate("[typeof localStorage, typeof sessionStorage, typeof Storage]")
            == ["undefined"] * 3
        )

    async def main(profile: Profile, _: Path) -> None:
        keys = {"manifest_version": 3, "name": "w", "version": "1", "background": {"service_worker": "background.js"}}
        folder = make(tmp_path, name="worker", files={"manifest.json": json.dumps(keys)})
        await use(profile, await profile.extensions.start(folder))

    with_extension(tmp_path, main)


def test_the_host_counts_too(tmp_path: Path) -> None:
    async def use(profile: Profile, _: Path) -> None:
        storage = LocalStorage(profile.store, "made@example.org")
        await storage.load()
        assert storage.change("a", "x" * (QUOTA - 1))
        assert not storage.change("b", "x")
        await storage.flush()

    with_extension(tmp_path, use)


@pytest.mark.parametrize(
    "text", ["", "5", "[]", "[1,2]", '["a"]', '["a",5]', '[null,"a"]', '["a","b","c"]', "[" * 9999]
)
def test_a_change_that_is_none_ends_the_child(text: str) -> None:
    with pytest.raises(ProtocolError, match="invalid localStorage change"):
        ChunkAssembler().add(text, last=True)


def test_a_change_without_end_ends_the_child() -> None:
    pieces = ChunkAssembler()
    with pytest.raises(ProtocolError, match="too large"):
        for _ in range(100):
            pieces.add("x" * (1 << 20), last=False)
