"""Confirmation before something is removed or replaced."""

from __future__ import annotations

import sys

from hatbox.cli.terminal.command_errors import CommandError

__all__ = ["confirm"]


def confirm(question: str, not_done: str = "not removed") -> None:
    """Return only after a yes. Asks on standard error, so that standard output has only the result."""
    sys.stderr.write(f"{question}[y/N] ")
    sys.stderr.flush()
    answer = sys.stdin.readline() if sys.stdin else ""
    if not answer:
        sys.stderr.write("\n")
        raise CommandError(
            "Unconfirmed", f"{not_done}: no answer on standard input. Use --yes to skip the confirmation."
        )
    if answer.strip().casefold() not in ("y", "yes"):
        raise CommandError("Declined", not_done)
