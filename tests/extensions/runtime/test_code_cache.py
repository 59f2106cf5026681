"""The cache in which Deno finds our files compiled: filled by nothing of an extension, read-only for all of them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hatbox.errors import ExtensionTerminated
from hatbox.extensions.runtime import DenoProcess, RuntimeLimits, cache_filling
from hatbox.extensions.runtime.code_cache import cache_for, find_cache
from hatbox.extensions.runtime.command import cache_folder, deno_program
from tests.extensions.runtime.lab import Lab, in_lab, needs_deno

pytestmark = needs_deno
linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is enforced")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


@linux
@pytest.mark.parametrize("unsafe_eval", [False, True])
def test_extensions_change_nothing_in_the_cache(tmp_path: Path, unsafe_eval: bool) -> None:
    async def use(lab: Lab) -> None:
        await lab.start(unsafe_eval=unsafe_eval)
        folder = cache_for(unsafe_eval=unsafe_eval)
        before = contents(folder)
        assert any(name.startswith("v8_code_cache") for name in before)
        for _ in range(3):
            runtime = await lab.start("var here = 1;", unsafe_eval=unsafe_eval)
            assert await runtime.evaluate("here") == 1
            await runtime.stop()
        assert contents(folder) == before
        assert sorted(os.listdir(cache_folder())) == [folder.name]  # noqa: PTH208 - the names are enough

    in_lab(tmp_path, use)


def test_extensions_that_start_at_once_fill_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[object] = []
    run = cache_filling._run

    def counted(*given: Any, **named: Any) -> None:
        runs.append(given)
        run(*given, **named)

    monkeypatch.setattr(cache_filling, "_run", counted)

    async def use(lab: Lab) -> None:
        for runtime in await asyncio.gather(*(lab.start() for _ in range(4))):
            assert await runtime.evaluate("1") == 1

    in_lab(tmp_path, use)
    assert len(runs) == cache_filling._RUNS


def test_programs_that_start_at_once_leave_one_cache(tmp_path: Path) -> None:
    code = (
        "import asyncio; from hatbox.extensions.runtime import DenoProcess, RuntimeLimits\n"
        "async def main(): print((await (await DenoProcess.start(RuntimeLimits())).stop()).reason)\n"
        "asyncio.run(main())"
    )
    programs = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(3)]
    assert [program.communicate(timeout=60)[0] for program in programs] == [b"stopped\n"] * 3
    assert find_cache(unsafe_eval=False) is not None
    assert [each.name for each in cache_folder().iterdir()] == [cache_for(unsafe_eval=False).name]


@pytest.mark.parametrize("broken", [None, b"", b"{", b"[1]", b'[["/gone"], []]', b"[[], [3]]", b"\xff"])
def test_what_is_no_cache_is_filled_again(tmp_path: Path, broken: bytes | None) -> None:
    """Left by a program that was killed, or by a user who deleted files."""
    folder = cache_for(unsafe_eval=False)
    folder.mkdir(parents=True)
    (folder / "v8_code_cache_v2").write_bytes(b"garbage")
    if broken is not None:
        (folder / "libraries.json").write_bytes(broken)
    abandoned = cache_folder() / "filling-x"
    abandoned.mkdir()
    os.utime(abandoned, (time.time() - 7200,) * 2)
    other = cache_folder() / "filling-y"  # another program is at it
    other.mkdir()

    async def use(lab: Lab) -> None:
        assert await (await lab.start()).evaluate("1") == 1

    in_lab(tmp_path, use)
    assert find_cache(unsafe_eval=False) is not None
    assert (folder / "v8_code_cache_v2").read_bytes() != b"garbage"
    assert (abandoned.exists(), other.exists()) == (False, True)


def test_a_deno_that_does_not_start_is_reported_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_filling, "command", lambda *_, **__: [deno_program(), "run", "/nowhere.mjs"])

    async def use(_: Lab) -> None:
        with pytest.raises(ExtensionTerminated, match="Deno does not start"):
            await DenoProcess.start(RuntimeLimits())
        assert list(cache_folder().iterdir()) == []

    in_lab(tmp_path, use)
