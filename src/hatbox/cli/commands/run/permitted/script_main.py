"""The process of a script with explicit permissions: runs it with `browser` in scope, and has no profile.

Started by hatbox.cli.commands.run.permitted.script_process, with the socket of its `browser` as its only descriptor.
"""

from __future__ import annotations

import base64
import os
import socket
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NoReturn

from hatbox.api.browser import Browser
from hatbox.api.remote_namespaces import RemoteCaller, RemoteNamespaces
from hatbox.cli import run_and_exit
from hatbox.cli.commands.run.permitted.profile_connection import ProfileConnection, receive_boot
from hatbox.cli.commands.run.script_execution import compile_script, execute_code
from hatbox.errors import ProfileError

__all__ = ["main"]


def main(*descriptors: int) -> NoReturn:
    """Run the script that the first message names, and exit. The first descriptor is the socket of the `browser`."""
    for each in descriptors:
        os.set_inheritable(each, False)  # not for programs that the script starts
    channel = socket.socket(fileno=descriptors[0])
    try:
        boot = receive_boot(channel)
    except (EOFError, OSError):  # the command has ended, and has said why
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    run_and_exit(lambda: _run(boot, channel), as_json=boot["json"])


def _run(boot: dict[str, Any], channel: socket.socket) -> int:
    script = Path(boot["script"])
    code = compile_script(base64.b64decode(boot["source"]), script)

    @asynccontextmanager
    async def open_scope() -> AsyncIterator[Mapping[str, object]]:
        connection = await ProfileConnection.open(channel, boot["maxBytes"])
        caller = RemoteCaller(boot["caller"], boot["permissions"], boot["schemas"])
        try:
            yield {"browser": Browser(RemoteNamespaces(connection), caller)}
        finally:
            await connection.close()

    def hints(error: BaseException) -> Iterator[str]:
        above = boot["foldersAbove"]
        if isinstance(error, ProfileError) and above:
            yield "The files of profiles are hidden from scripts with --permission or --grant. Use `browser`, or run"
            yield "the script without these options."
        if isinstance(error, PermissionError) and isinstance(error.filename, str):
            folder = os.path.realpath(os.path.dirname(error.filename) or ".")  # noqa: PTH120 - as it was given
            if folder in above:
                yield f"{folder} contains files of Hatbox. There, this script can only use what exists."
                yield "Create, rename and remove files in another folder."

    return execute_code(script, code, boot["arguments"], open_scope, as_json=boot["json"], hints=hints)
