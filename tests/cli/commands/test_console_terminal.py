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
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            os.environ.update(HATBOX_PROFILE=str(profile), TERM="dumb")
            os.execv(sys.executable, [sys.executable, "-m", "hatbox", "console"])
        self._text = ""

    def type(self, keys: str) -> None:
        os.write(self._file, keys.encode())

    def interrupt(self) -> None:
        self.type(CTRL_C)
        self.until("> ")

    def read(self, seconds: float) -> bool:
        """Wait for output. False if there is none."""
        ready, _, _ = select.select([self._file], [], [], seconds)
        if ready:
            self._text += os.read(self._file, 4096).decode()
        return bool(ready)

    def until(self, wanted: str) -> str:
        """What has been shown since the last call, up to this."""
        end = time.monotonic() + SECONDS
        while wanted not in self._text:
            ready = self.read(max(0, end - time.monotonic()))
            assert ready, f"{wanted!r} was never shown: {self._text!r}\n{self._state()}"
        shown, self._text = self._text.split(wanted, 1)
        return shown

    def _state(self) -> str:
        """The state of the process and its masks of signals."""
        return Path(f"/proc/{self._pid}/status").read_text() if sys.platform == "linux" else ""

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
    terminal.type("undefined_name")
    terminal.until("undefined_name")  # the terminal discards unread input on Ctrl-C, and readline would wait for it
    terminal.interrupt()
    terminal.type("function half(n) {\n")
    terminal.until("... ")
    terminal.interrupt()
    terminal.type("6 * 7\n")
    terminal.until("\n42\r\n> ")
    terminal.type(CTRL_D)
    assert terminal.ended() == 0


def test_a_ctrl_c_key_that_is_held_down_does_not_end_the_console(terminal: Terminal) -> None:
    for _ in range(100):
        terminal.type(CTRL_C)
        terminal.read(0.003)
    while terminal.read(2):
        pass
    terminal.type("6 * 7\n")
    terminal.until("\n42\r\n> ")


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
