"""The environment and options of a process that continues after the program that started it has exited."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path
from typing import Any

from hatbox.engines.running_engines import BACKGROUND_VARIABLE
from hatbox.store.keys import KEY_FILE_VARIABLE, KEY_VARIABLE, Key

__all__ = ["background_environment", "detached_options", "leave_running"]


def background_environment(address: str, key: Key | None) -> dict[str, str]:
    """With the address and the key of the profile: all users can list the arguments of a process.

    Without a `key`, that of the environment is used.
    """
    environment = _environment() | {"HATBOX_PROFILE": address, BACKGROUND_VARIABLE: "1"}
    if key is not None:
        environment.pop(KEY_FILE_VARIABLE, None)
        environment[KEY_VARIABLE] = key.text
    return environment


def detached_options() -> dict[str, Any]:
    """Options of Popen for a session of its own, which neither Ctrl-C nor the end of the shell stops."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def leave_running(process: subprocess.Popen[bytes]) -> None:
    """Let a process continue without this program. If it ends earlier, it does not stay in the table of processes."""
    if process.returncode is not None:
        return
    process.returncode = 0  # otherwise Popen warns that a subprocess is still running
    if sys.platform != "win32":  # a daemon thread: this program does not wait for it when it exits
        threading.Thread(target=_reap, args=(process.pid,), name="hatbox reaps a process", daemon=True).start()


def _reap(pid: int) -> None:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


def _environment() -> dict[str, str]:
    """The environment of this process, with this Hatbox on PYTHONPATH if it is not installed."""
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONFAULTHANDLER": "1"}
    folder = str(Path(__file__).resolve().parents[3])
    if folder not in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, environment.get("PYTHONPATH")]))
    return environment
