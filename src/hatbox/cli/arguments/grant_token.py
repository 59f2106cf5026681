"""The token of a grant, from the environment: other users can read the command line of a process."""

from __future__ import annotations

import os

from hatbox.cli.arguments.parameters import bad_parameter
from hatbox.cli.terminal.terminal_text import visible

__all__ = ["take_token"]


def take_token(variable: str) -> str:
    """The token in an environment variable, which is removed from the environment: no program gets it from here."""
    token = os.environ.pop(variable, "").strip()
    if not token:
        raise bad_parameter(
            f"the environment variable {visible(variable)} has no token. Set it to the token that "
            "`hatbox grant create` has printed",
            param_hint="--grant",
        )
    return token
