"""The options that every command has. Knows nothing of what the commands do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["JsonOption", "ProfileOption", "path_of"]

ProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile",
        metavar="PATH",
        help="The profile's file. Without it: $HATBOX_PROFILE, else profile.db in your data folder.",
    ),
]

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def path_of(profile: str | None) -> Path | None:
    """The path that was given with --profile; None for the default place."""
    if profile == "":
        raise typer.BadParameter("it is empty", param_hint="--profile")
    return None if profile is None else Path(profile)
