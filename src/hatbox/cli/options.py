"""The options that every command has. Knows nothing of what the commands do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from hatbox.profile import default_address

__all__ = ["JsonOption", "ProfileOption", "path_of", "refuse_profile"]

_FILES: Final = ("", "-wal", "-shm", "-lock", "-journal")

ProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile",
        metavar="PATH",
        help="The profile's file. Without it: $HATBOX_PROFILE, else profile.db in your data folder.",
    ),
]

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def path_of(profile: str | None) -> str | None:
    """The address that was given with --profile; None for the default place."""
    if profile == "":
        raise typer.BadParameter("it is empty", param_hint="--profile")
    return profile


def refuse_profile(output: str, profile: str | None, option: str) -> None:
    """Refuse to overwrite a file of the profile itself."""
    database = Path(profile or default_address()).expanduser().resolve()
    target = Path(output).resolve()
    if target in [database.with_name(database.name + end) for end in _FILES]:
        raise typer.BadParameter(f"{output} is the profile itself: name another file", param_hint=option)
