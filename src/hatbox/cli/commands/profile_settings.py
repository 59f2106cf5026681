"""The command profile settings: shows and changes the settings of the profile itself."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from hatbox.cli.arguments.parameters import Option, bad_parameter
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, run_with_profile
from hatbox.cli.terminal.output import print_json, print_rows
from hatbox.cli.terminal.removal_prompt import days_text
from hatbox.cli.terminal.sizes import parse_size, size_text
from hatbox.profile import Profile

if TYPE_CHECKING:
    from hatbox import ProfileSettings

__all__ = ["settings"]


def settings(
    trash_days: Annotated[
        int | None,
        Option(metavar="DAYS", help="Days that removed identities stay in the trash. 0: no trash."),
    ] = None,
    trash_bytes: Annotated[
        str | None,
        Option(
            metavar="SIZE",
            help="Size of the trash, such as 256M. What was removed first is deleted first. 0: no trash.",
        ),
    ] = None,
    trash_skips_extensions: Annotated[
        str | None,
        Option(
            metavar="YES-OR-NO",
            help="Whether identities that an extension has created and removes itself are deleted for ever: yes or no.",
        ),
    ] = None,
    history: Annotated[
        str | None,
        Option(
            metavar="ON-OFF-AUTO",
            help="Whether visited pages are recorded: on, off, or auto: while an extension that needs it is installed.",
        ),
    ] = None,
    closed_tabs: Annotated[
        int | None,
        Option(metavar="NUMBER", help="Closed tabs and windows that extensions can restore. 0: none."),
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the settings of a profile, or change them. A lower limit of the trash applies at once."""
    given = {
        "trash_days": trash_days,
        "trash_bytes": None if trash_bytes is None else _size(trash_bytes),
        "trash_skips_extensions": None if trash_skips_extensions is None else _is_yes(trash_skips_extensions),
        "history": history,
        "closed_tabs": closed_tabs,
    }
    changed = {name: value for name, value in given.items() if value is not None}

    async def change(opened: Profile) -> ProfileSettings:
        return await opened.set_settings(**changed) if changed else await opened.settings()

    try:
        found = run_with_profile(profile, change)
    except ValueError as error:
        raise bad_parameter(str(error)) from error
    if as_json:
        print_json(
            {
                "trashDays": found.trash_days,
                "trashBytes": found.trash_bytes,
                "trashSkipsExtensions": found.trash_skips_extensions,
                "history": found.history,
                "closedTabs": found.closed_tabs,
            },
            sys.stdout,
        )
        return
    rows = [
        ("trash-days", days_text(found.trash_days) if found.trash_days else "0: no trash"),
        ("trash-bytes", size_text(found.trash_bytes) if found.trash_bytes else "0: no trash"),
        ("trash-skips-extensions", "yes" if found.trash_skips_extensions else "no"),
        ("history", found.history),
        ("closed-tabs", str(found.closed_tabs)),
    ]
    print_rows(("Setting", "Value"), rows, sys.stdout, unwrapped="Setting")


def _is_yes(text: str) -> bool:
    if text not in ("yes", "no"):
        raise bad_parameter(f"must be yes or no, not {text}", param_hint="--trash-skips-extensions")
    return text == "yes"


def _size(text: str) -> int:
    try:
        return parse_size(text)
    except ValueError as error:
        raise bad_parameter(str(error), param_hint="--trash-bytes") from error
