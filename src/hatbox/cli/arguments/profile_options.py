"""The options of every command, and the profile that they name."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, TypeVar

from hatbox.cli.arguments.parameters import Option, bad_parameter
from hatbox.cli.arguments.profile_creation import may_create
from hatbox.cli.terminal.proposed_commands import note_profile
from hatbox.profile import Profile

__all__ = [
    "CreateOption",
    "JsonOption",
    "ProfileOption",
    "open_profile",
    "profile_address",
    "refuse_profile",
    "run_with_profile",
]

T = TypeVar("T")

ProfileOption = Annotated[
    str | None,
    Option(
        "--profile",
        metavar="PATH-OR-URL",
        help="Path or URL of the profile. Default: $HATBOX_PROFILE, or profile.db in the user data directory.",
    ),
]

CreateOption = Annotated[bool, Option("--create", help="Create the profile given with --profile if it does not exist.")]

JsonOption = Annotated[bool, Option("--json", help="Print JSON, for programs.")]


def profile_address(option: str | None) -> str | None:
    """The profile given with --profile; None for the default profile."""
    if option == "":
        raise bad_parameter("must not be empty", param_hint="--profile")
    note_profile(option)
    return option


def open_profile(option: str | None) -> Profile:
    """The profile given with --profile, for `async with`. See profile_creation for whether it is created."""
    return Profile(profile_address(option), create=may_create(option))


def run_with_profile(option: str | None, work: Callable[[Profile], Awaitable[T]]) -> T:
    """Open the profile given with --profile, and return the result of `work`."""
    opened = open_profile(option)

    async def run() -> T:
        async with opened as profile:
            return await work(profile)

    return asyncio.run(run())


def refuse_profile(output: str, profile: str | None, option: str) -> None:
    """Refuse to overwrite a file of the profile itself."""
    if Profile(profile).store.owns_file(Path(output)):
        raise bad_parameter(f"{output} is the profile itself. Specify another file", param_hint=option)
