"""The process that has imported Hatbox, and forks a program for each client."""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

PACKAGES = ("hatbox.cli.commands", "hatbox.store", "hatbox.engines.http")
LIBRARIES = ("typer.main", "rich.table", "httpx", "httpcore", "anyio._backends._asyncio", "publicsuffixlist", "uuid")


class _Hidden:
    """Finds no module of some packages."""

    def __init__(self, names: list[str]) -> None:
        self._names = names

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in self._names:
            raise ModuleNotFoundError(name, name=name)


def import_all(hidden: list[str]) -> None:
    finder = _Hidden(hidden)
    sys.meta_path.insert(0, finder)
    for package in PACKAGES:
        path = importlib.import_module(package).__path__
        for module in pkgutil.walk_packages(path, f"{package}.", onerror=lambda _: None):
            if not module.name.endswith("__main__"):
                with contextlib.suppress(ModuleNotFoundError):
                    importlib.import_module(module.name)
    for library in LIBRARIES:
        importlib.import_module(library)
    sys.meta_path.remove(finder)


def main() -> None:
    address, *hidden = sys.argv[1:]
    import_all(hidden)
    gc.collect()
    gc.freeze()  # collections in programs do not copy its pages
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(64)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while sys.stdin not in (ready := select.select([listener, sys.stdin], [], [])[0]):
        if ready:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                run_for(connection)
            connection.close()


def run_for(connection: socket.socket) -> NoReturn:
    """Start a program, and tell its client how it ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, streams, _, _ = socket.recv_fds(connection, 4, 3)
    request = connection.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)
    if program := os.fork():
        for each in (0, 1, 2):
            os.close(each)
        for each in streams:
            os.close(each)
        with contextlib.suppress(OSError):  # the client was killed
            connection.sendall(program.to_bytes(4, "big"))
            status = os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
            connection.sendall(status.to_bytes(4, "big", signed=True))
        os._exit(0)
    connection.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    count, *words = request.decode().split("\0")
    arguments, (folder, *variables) = words[: int(count)], words[int(count) :]
    environment = dict(each.split("=", 1) for each in variables)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    path = [each for each in environment.get("PYTHONPATH", "").split(os.pathsep) if each]
    exit_with(status_of(lambda: run(arguments, path)))


def status_of(run: Callable[[], object]) -> int:
    try:
        run()
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return stop.code or 0
        sys.stderr.write(f"{stop.code}\n")
        return 1
    except BaseException:  # noqa: BLE001 - as Python itself
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def exit_with(status: int) -> NoReturn:
    """Exit as Python does, but leave the modules alone: to free them would copy all pages of the server."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()
    os._exit(status)


def run(arguments: list[str], path: list[str]) -> None:
    """As `python ARGUMENTS…`."""
    sys.path[0:1] = ["", *path]
    match arguments:
        case ["-m", module, *_]:
            sys.path[0] = str(Path.cwd())
            sys.argv = arguments[1:]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case ["-c", program, *rest]:
            sys.argv = ["-c", *rest]
            exec(program, {"__name__": "__main__"})
        case [file, *_]:
            sys.path[0] = str(Path(file).absolute().parent)
            sys.argv = arguments
            runpy.run_path(file, run_name="__main__")


main()
