"""The commands of the group trash: list, restore, empty."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from hatbox.cli.arguments.parameters import Argument, Option
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, run_with_profile
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.cli.terminal.confirm import confirm
from hatbox.cli.terminal.output import document, print_identity, print_json, print_line, print_rows
from hatbox.cli.terminal.sizes import size_text
from hatbox.cli.terminal.terminal_text import visible
from hatbox.errors import AmbiguousIdentity, NotInTrash
from hatbox.identity.model import ContextualIdentity
from hatbox.plurals import number_of
from hatbox.profile import Profile

if TYPE_CHECKING:
    from hatbox.identities.trash import RemovedIdentity

__all__ = ["empty", "list_", "restore"]


def list_(profile: ProfileOption = None, as_json: JsonOption = False) -> None:
    """List the removed identities, the last removed first, and when each is deleted for ever."""
    found = run_with_profile(profile, lambda opened: opened.trash.list())
    if as_json:
        print_json([_document(each) for each in found], sys.stdout)
        return
    rows = [
        (
            each.name,
            each.cookie_store_id,
            _time(each.removed_at),
            _time(each.expires_at),
            str(each.cookies),
            str(each.tabs),
            size_text(each.size),
        )
        for each in found
    ]
    header = ("Name", "Id", "Removed", "Expires", "Cookies", "Tabs", "Size")
    print_rows(
        header,
        rows,
        sys.stdout,
        unwrapped="Id",
        narrow=("Name", "Id", "Removed", "Expires"),
        empty="The trash is empty.",
    )


def restore(
    identities: Annotated[
        list[str], Argument(metavar="NAME-OR-ID...", help="Removed identities: their names or cookieStoreIds.")
    ],
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Restore removed identities: all that they had, with the same ids and at the same places in the list."""

    async def restore_found(opened: Profile) -> tuple[Sequence[RemovedIdentity], Sequence[ContextualIdentity]]:
        found = await _find(opened, identities)
        return found, await opened.trash.restore(found)

    found, restored = run_with_profile(profile, restore_found)
    if as_json:
        print_json([document(each) for each in restored], sys.stdout)
        return
    for removed, identity in zip(found, restored, strict=True):
        count = f": {number_of(removed.tabs, 'tab')}" if removed.tabs else ""
        print_identity("Restored", identity, sys.stdout, count)


def empty(
    identities: Annotated[
        list[str] | None,
        Argument(metavar="[NAME-OR-ID]...", help="Removed identities: their names or cookieStoreIds. Default: all."),
    ] = None,
    yes: Annotated[bool, Option("--yes", "-y", help="Skip the confirmation.")] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete removed identities for ever."""

    async def find(opened: Profile) -> Sequence[RemovedIdentity]:
        return await _find(opened, identities) if identities else await opened.trash.list()

    found = run_with_profile(profile, find)
    if found and not yes:
        listed = "".join(f"  {_label(each)}\n" for each in found)
        these = "this identity" if len(found) == 1 else f"these {len(found)} identities"
        confirm(f"{listed}Delete {these} for ever? ", "not deleted")
    deleted = run_with_profile(profile, lambda opened: opened.trash.remove(found)) if found else []
    if as_json:
        print_json([_document(each) for each in deleted], sys.stdout)
    elif not found:
        print_line("The trash is empty.", sys.stderr)
    else:
        for each in deleted:
            print_identity("Deleted", _identity(each), sys.stdout)


async def _find(opened: Profile, names_or_ids: Sequence[str]) -> list[RemovedIdentity]:
    """The removed identities with these names or ids, each once. Raises CommandError with the candidates."""
    try:
        return await opened.trash.find(names_or_ids)
    except AmbiguousIdentity as error:
        listed = {each.cookie_store_id: each for each in await opened.trash.list()}
        candidates = [_identity(listed[each]) for each in error.candidates if each in listed]
        message = (
            f'{len(error.candidates)} removed identities are named "{error.name}". Pass the cookieStoreId instead.'
        )
        raise CommandError(type(error).__name__, message, candidates=candidates) from error
    except NotInTrash as error:
        raise CommandError(type(error).__name__, str(error), details={"nearest": error.nearest}) from error


def _identity(removed: RemovedIdentity) -> ContextualIdentity:
    return ContextualIdentity(removed.name, removed.icon, removed.color, removed.cookie_store_id)


def _document(removed: RemovedIdentity) -> dict[str, object]:
    """A removed identity as JSON. Programs rely on these names."""
    return {
        "name": removed.name,
        "icon": removed.icon,
        "color": removed.color,
        "cookieStoreId": removed.cookie_store_id,
        "removed": _time(removed.removed_at, "T"),
        "deleted": _time(removed.expires_at, "T"),
        "cookies": removed.cookies,
        "tabs": removed.tabs,
        "size": removed.size,
    }


def _label(removed: RemovedIdentity) -> str:
    return f'"{visible(removed.name, sys.stderr.encoding)}" ({removed.cookie_store_id})'


def _time(seconds: float, separator: str = " ") -> str:
    text = datetime.fromtimestamp(seconds, UTC).isoformat(separator, "seconds" if separator == "T" else "minutes")
    return text if separator == "T" else text.removesuffix("+00:00")
