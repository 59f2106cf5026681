"""Confirmation before something is removed."""

from __future__ import annotations

import sys

from hatbox.cli.terminal.command_errors import CommandError

__all__ = ["confirm"]


def confirm(question: str, refused: str = "not removed") -> None:
    """Return only after a yes. Asks on standard error, so that standard output has only the result.

    `refused` says in the error what did not happen.
    """
    sys.stderr.write(f"{question}[y/N] ")
    sys.stderr.flush()
    answer = sys.stdin.readline() if sys.stdin else ""
    if not answer:
        sys.stderr.write("\n")
        raise CommandError(
            "Unconfirmed", f"{refused}: no answer on standard input. Use --yes to skip the confirmation."
        )
    if answer.strip().casefold() not in ("y", "yes"):
        raise CommandError("Declined", refused)
