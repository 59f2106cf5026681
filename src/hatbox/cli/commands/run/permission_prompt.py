"""Asks in the terminal whether a running extension gets the permissions that it requests."""

from __future__ import annotations

import asyncio
import sys
from typing import Final

from hatbox.cli.terminal.output import print_line
from hatbox.cli.terminal.terminal_text import visible
from hatbox.extension_data.extension_permissions import Permissions
from hatbox.shell_words import shell_word

__all__ = ["PermissionQuestions", "can_ask", "grant_command", "names_of"]

_YES: Final = ("y", "yes")
_SECONDS: Final = 300.0


class PermissionQuestions:
    """The questions of one program. One is asked at a time; the others wait."""

    def __init__(self) -> None:
        self._asking = asyncio.Lock()

    async def ask(self, extension: str, requested: Permissions) -> bool:
        """Whether the user grants the permissions, within five minutes. Extensions continue to run until the answer."""
        async with self._asking:
            print_line(f"{extension} requests: {', '.join(names_of(requested))}", sys.stderr)
            sys.stderr.write(f"Allow {visible(extension)} to use them? [y/N] ")
            sys.stderr.flush()
            try:
                async with asyncio.timeout(_SECONDS):
                    return (await _read_line()).strip().casefold() in _YES
            except TimeoutError:
                print_line(f"\nNo answer within {_SECONDS / 60:g} minutes: denied.", sys.stderr)
                return False


def can_ask() -> bool:
    """Whether a person can see a question and answer it."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def names_of(permissions: Permissions) -> list[str]:
    """The names and match patterns."""
    return [*permissions.permissions, *permissions.origins, *permissions.data_collection]


def grant_command(extension: str, permissions: Permissions) -> str:
    """The command that grants the permissions to a running extension."""
    grants = " ".join(f"--grant {shell_word(name)}" for name in names_of(permissions))
    return f"hatbox extensions permissions {shell_word(extension)} {grants}"


async def _read_line() -> str:
    """The next line of the terminal; empty at its end."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str] = loop.create_future()
    descriptor = sys.stdin.fileno()
    loop.add_reader(descriptor, lambda: None if line.done() else line.set_result(sys.stdin.readline()))
    try:
        return await line
    finally:
        loop.remove_reader(descriptor)
