"""Passes SIGINT on to the script, once: Ctrl-C in a terminal reaches both processes, `kill -INT` only this one."""

from __future__ import annotations

import _thread
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

__all__ = ["passing_interrupts"]


@contextmanager
def passing_interrupts(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """While the script runs, SIGINT is for the script. Afterwards it interrupts the main thread, as usual."""
    if threading.current_thread() is not threading.main_thread():
        yield
    elif sys.platform == "linux":
        with _waiting_thread(process):
            yield
    else:
        with _handler(process):
            yield


@contextmanager
def _waiting_thread(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Wait for the signal in a thread, because only sigwaitinfo tells who has sent it."""
    is_stopped = False

    def wait() -> None:
        while True:
            info = signal.sigwaitinfo({signal.SIGINT})
            if is_stopped:
                return
            if process.returncode is not None:
                _thread.interrupt_main()
            elif info.si_code <= 0:  # of a process, not of the kernel for a terminal
                _send(process)

    # Threads that start later inherit the mask, so that none of them receives the signal instead.
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    thread = threading.Thread(target=wait, name="hatbox-interrupts", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_stopped = True
        if thread.ident is not None:
            signal.pthread_kill(thread.ident, signal.SIGINT)
        thread.join()
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


@contextmanager
def _handler(process: subprocess.Popen[bytes]) -> Iterator[None]:
    previous: Callable[[int, FrameType | None], object] | int | None = signal.getsignal(signal.SIGINT)

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        if process.returncode is not None and callable(previous):
            previous(number, frame)
        elif not _is_in_foreground():
            _send(process)

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _is_in_foreground() -> bool:
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _send(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT)
