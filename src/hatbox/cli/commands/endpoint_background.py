"""`hatbox endpoint --output`: runs the endpoint in a background process, and returns when it is ready."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, cast

import msgspec

from hatbox import child_processes
from hatbox.cli.arguments.parameters import bad_parameter
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.engines.background.background_engine import json_objects
from hatbox.engines.background.detached_process import background_environment, detached_options, leave_running
from hatbox.new_files import replace_file
from hatbox.profile import Profile

__all__ = ["check_output", "start_endpoint"]


def check_output(path: str) -> Path:
    """The file for the address. Raises BadParameter if it cannot be one."""
    file = Path(path).absolute()
    if file.is_dir() or not file.parent.is_dir():
        raise bad_parameter(f"{path} is no file in an existing folder", param_hint="--output")
    return file


def start_endpoint(opened: Profile, arguments: Sequence[str], output: Path, *, as_json: bool) -> dict[str, Any]:
    """Start `hatbox endpoint`, and write its address, or its JSON document, to a file that only this user can read.

    Returns the document. Raises CommandError with the error of the process.
    """
    command = [sys.executable, "-P", "-m", "hatbox", "endpoint", "--json", *arguments]
    environment = background_environment(opened.address, opened.store.key)
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(  # noqa: S603 - this Python, with the arguments of this command
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
            **detached_options(),
        )
        child_processes.add(process.pid, "hatbox endpoint")
        try:
            with cast(IO[bytes], process.stdout) as printed:
                line = printed.readline()
            if not line:
                process.wait()
                errors.seek(0)
                raise _failure(errors.read().decode("utf-8", "replace"))
            document: dict[str, Any] = msgspec.json.decode(line)
            address = document.get("address") or document["url"]
            replace_file(output, (line.decode() if as_json else f"{address}\n").encode())
        except BaseException:
            if process.poll() is None:
                process.terminate()
                process.wait()
            raise
        child_processes.remove(process.pid)
        leave_running(process)
        return document


def _failure(output: str) -> CommandError:
    error = next((each["error"] for each in reversed(json_objects(output)) if "error" in each), None)
    if error is None:
        last_line = next((line for line in reversed(output.splitlines()) if line.strip()), "no output")
        return CommandError("EngineError", f"hatbox endpoint exited: {last_line.strip()}")
    details = {name: given for name, given in error.items() if name not in ("type", "message")}
    return CommandError(error["type"], error["message"], details=details)
