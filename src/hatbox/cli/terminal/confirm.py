"""Asking before something is removed. Knows nothing of what it is."""

from __future__ import annotations

import sys

from hatbox.cli.terminal.command_errors import CommandError

__all__ = ["confirm"]


def confirm(question: str) -> None:
    """Go on only after a yes. Asks on the standard error stream, so that the output has nothing but the result."""
    sys.stderr.write(f"{question}[y/N] ")
    sys.stderr.flush()
    answer = sys.stdin.readline() if sys.stdin else ""
    if not answer:
        sys.stderr.write("\n")
        raise CommandError(
            "Unconfirmed", "nothing was removed, because nobody answered. Use --yes to remove without asking."
        )
    if answer.strip().casefold() not in ("y", "yes"):
        raise CommandError("Declined", "nothing was removed")
