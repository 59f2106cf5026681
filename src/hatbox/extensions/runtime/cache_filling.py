"""Fills the cache of compiled code of Hatbox's own scripts. Imported only if it is not filled yet."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from hatbox.errors import ExtensionTerminated
from hatbox.extensions.runtime.code_cache import LIBRARIES, CodeCache, cache_for, find_cache, read_cache
from hatbox.extensions.runtime.command import command, deno_program, environment
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.sandbox.start import start_behind
from hatbox.extensions.runtime.sandbox.wall import Layers

__all__ = ["fill_cache"]

_RUNS: Final = 2  # Deno stores V8's compiled code when it loads a module for the second time
_FILLING: Final = "filling-"
_ABANDONED_AFTER: Final = 3600.0  # seconds
_UNUSED_AFTER: Final = 30 * 86400.0
_ONE_AT_A_TIME: Final = threading.Lock()
_LDD_LINE: Final = re.compile(r"^\s*(?:(?P<loader>/\S+)|\S+)(?: => (?P<library>/\S+))? \(0x[0-9a-f]+\)$", re.MULTILINE)


_LDD_SECONDS: Final = 30.0


def fill_cache(limits: RuntimeLimits, layers: Layers, *, unsafe_eval: bool) -> CodeCache:
    """Fill the cache with two starts of Deno. Blocks. Raises ExtensionTerminated if Deno does not start."""
    with _ONE_AT_A_TIME:
        if found := find_cache(unsafe_eval=unsafe_eval):
            return found
        final = cache_for(unsafe_eval=unsafe_eval)
        parent = final.parent
        parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _prune(parent)
        filling = Path(tempfile.mkdtemp(prefix=_FILLING, dir=parent))
        try:
            cache = CodeCache(filling, *(_libraries_of(deno_program()) if sys.platform == "linux" else ()))
            for _ in range(_RUNS):
                _run(cache, limits, layers, unsafe_eval=unsafe_eval)
            (filling / LIBRARIES).write_text(json.dumps([cache.loader, cache.libraries]), "utf-8")
            return _publish(cache, final)
        finally:
            shutil.rmtree(filling, ignore_errors=True)


def _run(cache: CodeCache, limits: RuntimeLimits, layers: Layers, *, unsafe_eval: bool) -> None:
    """Start Deno with Hatbox's scripts and without an extension. It ends at the end of its input."""
    arguments = command(limits, unsafe_eval=unsafe_eval)
    options: dict[str, Any] = {
        "env": environment(cache.folder),
        "cwd": "/" if sys.platform != "win32" else None,
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.PIPE,
    }
    process = start_behind(cache.wall(fill=True), layers, arguments, **options)
    try:
        _, stderr = process.communicate(timeout=limits.start_timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise ExtensionTerminated(
            f"Deno did not end within {limits.start_timeout:g} s while its cache was filled"
        ) from None
    if process.returncode != 0:
        text = stderr.decode("utf-8", "replace").strip()[-2000:]
        raise ExtensionTerminated(f"Deno does not start (status {process.returncode}): {text}")


def _publish(filled: CodeCache, final: Path) -> CodeCache:
    """Rename the cache into place. If another process was first, its cache is used; a broken one is replaced."""
    try:
        filled.folder.rename(final)
    except OSError:
        if found := read_cache(final):
            return found
        shutil.rmtree(final, ignore_errors=True)
        filled.folder.rename(final)
    return filled._replace(folder=final)


def _prune(parent: Path) -> None:
    """Delete the caches of earlier versions, and those of processes that were killed while filling them."""
    now = time.time()
    for entry in os.scandir(parent):
        with suppress(OSError):
            age = now - entry.stat(follow_symlinks=False).st_mtime
            if age < (_ABANDONED_AFTER if entry.name.startswith(_FILLING) else _UNUSED_AFTER):
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                Path(entry.path).unlink()


class _Libraries(NamedTuple):
    """Paths: of the loader, which is executed, and of the libraries, which are read."""

    loader: tuple[str, ...]
    libraries: tuple[str, ...]


def _libraries_of(program: str) -> _Libraries:
    """Query the dynamic loader, which then does not run the program. Empty for a static program.

    Raises ExtensionTerminated if it does not answer, for example because the file system does not.
    """
    try:
        result = subprocess.run(  # noqa: S603 - the Deno that is run anyway
            [program],
            env={"LD_TRACE_LOADED_OBJECTS": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_LDD_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise ExtensionTerminated(f"the dynamic loader did not list the libraries of {program} in time") from error
    found = list(_LDD_LINE.finditer(result.stdout.decode("utf-8", "replace")))
    return _Libraries(
        tuple(each["loader"] for each in found if each["loader"]),
        tuple(each["library"] for each in found if each["library"]),
    )
