"""Shell completion: answers the scripts that `hatbox --install-completion` installs, without importing a command.

It never fails: an error gives no suggestions. It never creates a profile, and gives up after a second if the profile is
locked or its server does not answer.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Final

__all__ = ["COMPLETE_VARIABLE", "complete", "is_completion"]

COMPLETE_VARIABLE: Final = "_HATBOX_COMPLETE"
_SHELLS: Final = {"complete_bash": "bash", "complete_zsh": "zsh", "complete_fish": "fish"}
_MAX_SECONDS: Final = 1.0


def is_completion(environment: Mapping[str, str]) -> bool:
    """Whether a shell has started this process for suggestions. Other shells are left to Typer."""
    return environment.get(COMPLETE_VARIABLE) in _SHELLS


def complete(environment: Mapping[str, str]) -> int:
    """Print suggestions for the shell; returns the exit status."""
    _limit_time()
    try:
        from hatbox.cli.completion import shells
        from hatbox.cli.completion.candidates import candidates

        shell = _SHELLS[environment[COMPLETE_VARIABLE]]
        line = shells.read_line(shell, environment)
        found = candidates(line.words, line.incomplete)
        text, status = shells.answer(shell, line, found, environment)
        sys.stdout.write(text)
        sys.stdout.flush()
    except Exception:  # noqa: BLE001 - a shell would print it in the middle of the user's line
        return 1
    return status


def _limit_time() -> None:
    """End this process silently if a store does not answer: the user waits for the prompt."""
    import threading

    timer = threading.Timer(_MAX_SECONDS, os._exit, [1])
    timer.daemon = True
    timer.start()
