"""Whether a command may create the profile that it opens. Needs neither Typer nor a profile.

The default profile is created by any command. A profile that is named, with --profile or $HATBOX_PROFILE, is created
only with --create or by `hatbox profile create`: a mistyped address must not become a new profile.
"""

from __future__ import annotations

import os
from typing import Final

__all__ = ["allow_creation", "may_create"]

_creation: Final = {"allowed": False}  # by the command line that runs


def allow_creation(is_allowed: bool = True) -> None:
    """Set whether this command line may create a profile that it names. It may not until this is called."""
    _creation["allowed"] = is_allowed


def may_create(option: str | None) -> bool:
    """Whether the profile given with --profile, or the default profile, is created if it does not exist."""
    is_default = option is None and not os.environ.get("HATBOX_PROFILE")
    return is_default or _creation["allowed"]
