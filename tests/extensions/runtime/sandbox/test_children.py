"""The wall around the processes of extensions as they are started: what holds for them, and what a user sees of it."""

from __future__ import annotations

import errno
import logging
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from hatbox.errors import ExtensionTerminated, SandboxUnavailable
from hatbox.extensions.runtime import DenoProcess, RuntimeLimits, deno
from hatbox.extensions.runtime.command import deno_program
from hatbox.extensions.runtime.sandbox import Layers, available_layers, required, seccomp, wall
from tests.extensions.runtime.lab import Lab, in_lab, needs_deno

AVAILABLE = available_layers()
pytestmark = [needs_deno, pytest.mark.skipif(sys.platform != "linux", reason="the wall is Linux's")]
needs_wall = pytest.mark.skipif(not AVAILABLE.complete, reason=f"this kernel has no complete wall: {AVAILABLE}")
NO_LANDLOCK = AVAILABLE._replace(landlock=0, missing=("Landlock (Function not implemented)",))
NO_SECCOMP = AVAILABLE._replace(seccomp=False, missing=("seccomp (Invalid argument)",))
NOTHING = Layers(missing=("Landlock (Function not implemented)", "seccomp (Invalid argument)"))


def status_of(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


@needs_wall
def test_an_extension_runs_behind_the_wall(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start("var said = 'here';")
        status = status_of(runtime.process.pid)
        assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
        assert await runtime.evaluate("said") == "here"

    in_lab(tmp_path, use)


def test_an_extension_has_few_files_and_writes_none(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start()
        for kind, most in ((resource.RLIMIT_NOFILE, 64), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
            assert resource.prlimit(runtime.process.pid, kind) == (most, most)
        soft, hard = resource.prlimit(runtime.process.pid, resource.RLIMIT_DATA)
        assert soft == hard > 0

    in_lab(tmp_path, use)


@pytest.mark.parametrize("layers", [NO_LANDLOCK, NO_SECCOMP, NOTHING], ids=["no Landlock", "no seccomp", "nothing"])
@pytest.mark.skipif(not AVAILABLE.complete, reason="takes layers away from a complete wall")
def test_without_a_layer_extensions_run_behind_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, layers: Layers
) -> None:
    monkeypatch.setattr(required, "available_layers", lambda: layers)
    required._report.cache_clear()

    async def use(lab: Lab) -> None:
        with caplog.at_level(logging.WARNING, "hatbox.extensions"):
            for _ in range(2):
                runtime = await lab.start()
                status = status_of(runtime.process.pid)
                assert status["NoNewPrivs"] == str(int(layers.no_new_privs))
                assert status["Seccomp"] == ("2" if layers.seccomp else "0")
                work = "crypto.subtle.digest('SHA-256', new Uint8Array(9)).then(bytes => bytes.byteLength)"
                assert await runtime.evaluate(work) == 32
        logged = [record.getMessage() for record in caplog.records if "sandbox" in record.getMessage()]
        assert logged == [f"extension sandbox incomplete: {layers}"]  # once

    in_lab(tmp_path, use)


@pytest.mark.parametrize("how", ["limits", "variable"])
def test_where_the_whole_wall_is_required_nothing_starts_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(required, "available_layers", lambda: NO_SECCOMP)
    started: list[object] = []
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: started.append(1))
    if how == "variable":
        monkeypatch.setenv("HATBOX_SANDBOX", "required")

    async def use(_: Lab) -> None:
        with pytest.raises(SandboxUnavailable, match=r"no seccomp \(Invalid argument\)"):
            await DenoProcess.start(RuntimeLimits(require_sandbox=how == "limits"))
        assert started == []

    in_lab(tmp_path, use)


@needs_wall
def test_where_the_whole_wall_is_required_and_there_extensions_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HATBOX_SANDBOX", "required")

    async def use(lab: Lab) -> None:
        assert await (await lab.start(limits=RuntimeLimits(require_sandbox=True))).evaluate("1") == 1

    in_lab(tmp_path, use)


def test_a_misspelt_requirement_is_not_taken_for_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HATBOX_SANDBOX", "require")

    async def use(lab: Lab) -> None:
        with pytest.raises(SandboxUnavailable, match="HATBOX_SANDBOX must be available or required: require"):
            await lab.start()

    in_lab(tmp_path, use)


@needs_wall
def test_a_wall_that_fails_half_way_starts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def use(lab: Lab) -> None:
        await lab.start()  # the cache is filled
        started: list[object] = []
        monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: started.append(1))
        monkeypatch.setattr(seccomp, "program", lambda *_, **__: b"\xff" * 8)  # which the kernel refuses
        with pytest.raises(ExtensionTerminated, match=r"in its sandbox failed: .*Invalid argument"):
            await lab.start()
        assert started == []

    in_lab(tmp_path, use)


def test_what_is_not_linux_or_not_known_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(("Linux", "host", "6", "#1", "riscv64")))
    there = wall.available_layers.__wrapped__()
    assert not there.seccomp
    assert "no seccomp (no filter for riscv64, only for x86_64 and aarch64)" in str(there)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert str(wall.available_layers.__wrapped__()) == "none; no sandbox on darwin: only Deno's own permissions"


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM])
def test_a_kernel_without_a_layer_is_no_error(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    from hatbox.extensions.runtime.sandbox import landlock

    def refused(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(landlock, "system_call", refused)
    monkeypatch.setattr(seccomp, "system_call", refused)
    there = wall.available_layers.__wrapped__()
    assert (there.no_new_privs, there.landlock, there.seccomp) == (True, 0, False)
    assert [each.partition(" ")[0] for each in there.missing] == ["Landlock", "seccomp"]


HEIR = """
const args = ["eval", "setInterval(() => {}, 1000)"];
const pipes = {stdin: "inherit", stdout: "inherit", stderr: "inherit"};
const child = new Deno.Command(Deno.execPath(), {args, detached: true, ...pipes}).spawn();
console.error(`heir ${child.pid} there`);
Deno.kill(Deno.pid, "SIGKILL");
"""


def test_a_child_that_leaves_another_behind_has_ended_nevertheless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The heir has left the session, and holds the pipes open."""
    script = tmp_path / "heir.mjs"
    script.write_text(HEIR)
    monkeypatch.setattr(required, "available_layers", lambda: Layers(missing=("wall",)))
    monkeypatch.setattr(deno, "command", lambda *_, **__: [deno_program(), "run", "-A", "--quiet", str(script)])

    async def use(_: Lab) -> None:
        child = await DenoProcess.start(RuntimeLimits())
        ended = await child.exited
        assert ended.reason == "crashed: SIGKILL"
        found = re.search(r"heir (\d+) there", ended.detail)
        assert found is not None
        os.kill(int(found[1]), 9)

    in_lab(tmp_path, use)
