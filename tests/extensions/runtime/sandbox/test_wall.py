"""What code can do that has broken out of V8 and of Deno, behind each layer of the wall and behind all of them."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from hatbox.extensions.runtime import RuntimeLimits
from hatbox.extensions.runtime.cache_filling import fill_cache
from hatbox.extensions.runtime.code_cache import CodeCache
from hatbox.extensions.runtime.command import deno_program, environment
from hatbox.extensions.runtime.sandbox import Layers, available_layers
from hatbox.extensions.runtime.sandbox.start import start_behind
from hatbox.extensions.runtime.sandbox.system_calls import ARCHITECTURES
from tests.extensions.runtime.lab import needs_deno
from tests.waiting import block_until

AVAILABLE = available_layers()
pytestmark = [
    needs_deno,
    pytest.mark.skipif(sys.platform != "linux", reason="the wall is Linux's"),
    pytest.mark.skipif(not AVAILABLE.complete, reason=f"this kernel has no complete wall: {AVAILABLE}"),
]

EXPLOIT = Path(__file__).parent / "exploit.mjs"
WALLS = {
    "no wall": Layers(),
    "Landlock": AVAILABLE._replace(seccomp=False),
    "seccomp": AVAILABLE._replace(landlock=0),
    "both": AVAILABLE,
}


class Row(NamedTuple):
    """Which layers refuse something. Landlock by the version that is needed for it."""

    landlock: int | None
    seccomp: bool


FILES, TCP, SIGNALS, NEVER = 1, 4, 6, None
TABLE = {
    "read a key": Row(FILES, False),
    "read /etc/passwd": Row(FILES, False),
    "list the root": Row(FILES, False),
    "write a file": Row(FILES, False),
    "write to the cache": Row(FILES, False),
    "change the mode of a file": Row(NEVER, True),
    "change the time of a file": Row(NEVER, True),
    "watch a folder": Row(NEVER, True),
    "read the environment of a process": Row(FILES, False),
    "connect with TCP": Row(TCP, True),
    "listen with TCP": Row(TCP, True),
    "open a socket": Row(NEVER, True),
    "open a netlink socket": Row(NEVER, True),
    "connect to a Unix socket": Row(NEVER, True),
    "connect a datagram pair to a Unix socket": Row(NEVER, True),
    "run a program": Row(FILES, False),
    "make a program in memory": Row(NEVER, True),
    "run Deno again": Row(NEVER, False),
    "read a key by running Deno again": Row(FILES, False),
    "signal a process": Row(SIGNALS, True),
    "signal a thread": Row(SIGNALS, True),
    "signal a thread by its id": Row(SIGNALS, True),
    "trace a process": Row(FILES, True),
    "read the memory of a process": Row(FILES, True),
    "read the limits of a process": Row(NEVER, True),
    "set the priority of a process": Row(NEVER, True),
    "set up io_uring": Row(NEVER, True),
    "share memory": Row(NEVER, True),
    "set its own limits": Row(NEVER, True),
    "have the kernel kill a process": Row(SIGNALS, True),
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CodeCache]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield fill_cache(RuntimeLimits(), AVAILABLE, unsafe_eval=False)


@pytest.fixture(scope="module")
def outcomes(cache: CodeCache) -> dict[str, dict[str, bool]]:
    """Which attempts succeed behind which wall."""
    return {name: attempted(cache, layers) for name, layers in WALLS.items()}


def attempted(cache: CodeCache, layers: Layers, *, listen: bool = False) -> dict[str, bool]:
    # A short path of our own: the address of a Unix socket has room for no more than 107 bytes.
    with ExitStack() as stack, tempfile.TemporaryDirectory(prefix="hatbox-") as name:
        folder = Path(name)
        (folder / "key").write_text("secret")
        (folder / "key").chmod(0o600)
        victim = stack.enter_context(
            subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        )
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        stream = stack.enter_context(socket.socket(socket.AF_UNIX))
        stream.bind(str(folder / "stream"))
        stream.listen()
        datagram = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        datagram.bind(str(folder / "datagram"))
        what = {
            "key": str(folder / "key"),
            "folder": str(folder),
            "victim": victim.pid,
            "address": _mapped(victim.pid),
            "tcp": tcp.getsockname()[1],
            "stream": str(folder / "stream"),
            "datagram": str(folder / "datagram"),
            "calls": {
                **ARCHITECTURES[os.uname().machine].calls,
                "write": {"x86_64": 1, "aarch64": 64}[os.uname().machine],
            },
        }
        wall = cache.wall(listen=listen)
        program = start_behind(
            wall._replace(read=(*wall.read, str(EXPLOIT))),
            layers,
            [deno_program(), "run", "-A", "--quiet", "--no-config", "--no-lock", str(EXPLOIT), json.dumps(what)],
            env=environment(cache.folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            cwd="/",
        )
        said, _ = program.communicate(timeout=60)
        (cache.folder / "planted").unlink(missing_ok=True)
        outcome: dict[str, bool] = json.loads(said)
        victim.stdin.close()  # type: ignore[union-attr]
        outcome["have the kernel kill a process"] = victim.wait(timeout=60) == -signal.SIGKILL
        return outcome


def _mapped(pid: int) -> int:
    """An address at which a process has memory that can be read."""
    found = re.search(r"^([0-9a-f]+)-\S+ r", Path(f"/proc/{pid}/maps").read_text("utf-8"), re.MULTILINE)
    assert found is not None
    return int(found[1], 16)


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize("attempt", TABLE)
def test_what_a_broken_deno_can_do(outcomes: dict[str, dict[str, bool]], attempt: str, wall: str) -> None:
    row, layers = TABLE[attempt], WALLS[wall]
    if not outcomes["no wall"][attempt]:
        pytest.skip("this machine refuses it without a wall")
    refused = (layers.seccomp and row.seccomp) or (row.landlock is not None and layers.landlock >= row.landlock)
    assert outcomes[wall][attempt] is not refused


def test_every_attempt_is_in_the_table(outcomes: dict[str, dict[str, bool]]) -> None:
    assert outcomes["both"].keys() == TABLE.keys()


def test_behind_the_whole_wall_only_deno_itself_can_be_run(outcomes: dict[str, dict[str, bool]]) -> None:
    assert [attempt for attempt, done in outcomes["both"].items() if done] == ["run Deno again"]


def test_an_inspected_child_may_listen_and_cannot_connect(cache: CodeCache) -> None:
    outcome = attempted(cache, AVAILABLE, listen=True)
    assert outcome["listen with TCP"]
    refused = ("connect with TCP", "connect to a Unix socket", "read a key", "run a program", "signal a process")
    assert not any(outcome[attempt] for attempt in refused)


def test_the_host_stays_free(cache: CodeCache) -> None:
    before = _restrictions(Path("/proc/self"))
    start_behind(cache.wall(), AVAILABLE, [deno_program(), "--version"], stdout=subprocess.DEVNULL).wait()

    def of_threads() -> set[tuple[str, ...]]:
        return {found for task in Path("/proc/self/task").iterdir() if (found := _restrictions(task))}

    block_until(lambda: of_threads() == {before}, "the thread that started it restricts itself, and ends")
    assert Path("/etc/passwd").read_text("utf-8")
    with socket.create_server(("127.0.0.1", 0)):
        pass


def _restrictions(process: Path) -> tuple[str, ...]:
    """Those of a process or thread; empty if it has ended."""
    try:
        status = (process / "status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ()
    return tuple(re.findall(r"^(?:NoNewPrivs|Seccomp|Seccomp_filters):\s*(\d+)$", status, re.MULTILINE))
