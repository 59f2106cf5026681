"""The console as a person has it: on a terminal, with its keys."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.extensions.runtime.lab import needs_deno

if sys.platform == "win32":
    pytest.skip("Windows has no such terminals", allow_module_level=True)

import pty

pytestmark = needs_deno

CTRL_C, CTRL_D, TAB = "\x03", "\x04", "\t"
SECONDS = 30


class Terminal:
    """A console on a terminal of its own."""

    def __init__(self, profile: Path) -> None:
        self._pid, self._file = pty.fork()
        if not self._pid:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored if the tests run in the background of a shell
            os.environ.update(HATBOX_PROFILE=str(profile), TERM="dumb")
            os.execv(sys.executable, [sys.executable, "-m", "hatbox", "console"])
        self._text = ""

    def type(self, keys: str) -> None:
        os.write(self._file, keys.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C until there is a new prompt: Python's readline can miss one that comes just before it waits."""
        for _ in range(SECONDS):
            self.type(CTRL_C)
            try:
                self.until("\n> ", 1)
            except AssertionError:
                continue
            return
        raise AssertionError("Ctrl-C does nothing")

    def until(self, wanted: str, seconds: float = SECONDS) -> str:
        """What has been shown since the last call, up to this."""
        end = time.monotonic() + seconds
        while wanted not in self._text:
            ready, _, _ = select.select([self._file], [], [], max(0, end - time.monotonic()))
            assert ready, f"{wanted!r} was never shown: {self._text!r}"
            self._text += os.read(self._file, 4096).decode()
        shown, self._text = self._text.split(wanted, 1)
        return shown

    def ended(self) -> int:
        """The status that it ends with."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            ready, _, _ = select.select([self._file], [], [], 0.1)
            try:
                if ready and not os.read(self._file, 4096):
                    break
            except OSError:  # Linux raises EIO for a terminal that no process has open
                break
        _, status = os.waitpid(self._pid, 0)
        self._pid = 0
        return os.waitstatus_to_exitcode(status)

    def close(self) -> None:
        if self._pid:
            os.kill(self._pid, 9)
            os.waitpid(self._pid, 0)
        os.close(self._file)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(tmp_path / "profile.db")
    try:
        opened.until("\n> ")
        yield opened
    finally:
        opened.close()


def test_ctrl_c_drops_the_line_and_ctrl_d_ends_it(terminal: Terminal) -> None:
    terminal.type("nobody.home")
    terminal.interrupt()
    terminal.type("function half(n) {\n")
    terminal.until("... ")
    terminal.interrupt()
    terminal.type("6 * 7\n")
    terminal.until("\n42\r\n> ")
    terminal.type(CTRL_D)
    assert terminal.ended() == 0


def test_ctrl_c_stops_waiting_for_what_never_comes(terminal: Terminal) -> None:
    terminal.type("console.error('begun'), await new Promise(() => {})\n")
    terminal.until("\r\nbegun")
    terminal.interrupt()
    terminal.type("6 * 7\n")
    terminal.until("\n42\r\n> ")


def test_a_name_is_completed_and_code_may_go_on_in_the_next_line(terminal: Terminal) -> None:
    terminal.type("browser.runti" + TAB)
    terminal.until("browser.runtime")
    terminal.type(".id.slice(\n")
    terminal.until("... ")
    terminal.type("0, 7)\n")
    assert '"console"' in terminal.until("\n> ")
