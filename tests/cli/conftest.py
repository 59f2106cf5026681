"""Runs the command line: inside this process for most tests, in one of its own where the process itself matters."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec
import pytest

from hatbox.cli import invoke
from hatbox.maintenance import create_profile
from tests.marks import starts
from tests.postgres import address_of


class Result(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.out)

    @property
    def error(self) -> Any:
        return msgspec.json.decode(self.err)["error"]


class Stream(io.TextIOWrapper):
    def __init__(self, encoding: str = "utf-8", tty: bool = False) -> None:
        self._bytes = io.BytesIO()
        self._tty = tty
        super().__init__(self._bytes, encoding=encoding, newline="\n")

    def isatty(self) -> bool:
        return self._tty

    def text(self) -> str:
        self.flush()
        return self._bytes.getvalue().decode(self.encoding)


def run_here(*arguments: str, stdin: str = "", encoding: str = "utf-8", tty: bool = False) -> Result:
    out, err = Stream(encoding, tty), Stream(encoding, tty)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.StringIO(stdin))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        status = invoke(arguments)
    return Result(status, out.text(), err.text())


class Cli(Protocol):
    def __call__(self, *arguments: str, stdin: str = "", encoding: str = "utf-8", tty: bool = False) -> Result: ...


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


@pytest.fixture
def no_profile() -> None:
    """Without a profile at the address of the profile."""


@pytest.fixture(autouse=True)
def surroundings(profile: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new profile, and nothing of the machine's: neither the user's profile nor what their terminal can do."""
    for name in ("NO_COLOR", "FORCE_COLOR", "HATBOX_DEBUG", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "PYTHONUNBUFFERED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("HATBOX_PROFILE", address_of(profile))
    if "no_profile" not in request.fixturenames:
        create_profile(address_of(profile))
    monkeypatch.setenv("XDG_STATE_HOME", str(profile.parent / "state"))  # the log folder is there


@pytest.fixture
def cli() -> Cli:
    return run_here


@pytest.fixture
def ids(cli: Cli) -> dict[str, str]:
    """The ids of the first identities, by name; the profile is there afterwards."""
    return {each["name"]: each["cookieStoreId"] for each in cli("list", "--json").json}


Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
@starts("process")
def program() -> Iterator[Start]:
    """Starts `python -m hatbox`, with pipes unless something else is asked for."""
    started: list[subprocess.Popen[bytes]] = []

    def start(
        *arguments: str,
        stdin: int = subprocess.DEVNULL,
        stdout: int | None = subprocess.PIPE,
        preexec_fn: Callable[[], None] | None = None,
    ) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", "hatbox", *arguments],
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            preexec_fn=preexec_fn,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()
