"""The commands on identities: list, get, create, clone, update, move, hide, show, remove.

All names are resolved before anything changes, and the changes start together, so that they share one commit.
"""

from __future__ import annotations

import asyncio
import difflib
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final, cast

from hatbox.cli.arguments.identity_arguments import (
    IdentitiesArgument,
    IdentityArgument,
    ambiguous_name,
    find_identities,
    find_identity,
    note_same_name,
)
from hatbox.cli.arguments.parameters import Argument, Option, bad_parameter
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, run_with_profile
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.cli.terminal.engine_notice import find_running_engines
from hatbox.cli.terminal.output import document, print_identities, print_identity, print_json, print_line
from hatbox.cli.terminal.removal_prompt import confirm_removal
from hatbox.cli.terminal.terminal_text import visible
from hatbox.engines.hiding import HideReport
from hatbox.errors import AmbiguousIdentity, InvalidColor, InvalidIcon, InvalidPosition
from hatbox.identity import palette
from hatbox.identity.model import ContextualIdentity
from hatbox.plurals import number_of
from hatbox.profile import Profile

if TYPE_CHECKING:
    from hatbox.identities.removal_preview import RemovalPreview
    from hatbox.identity.palette import Color, Icon

__all__ = ["clone", "create", "get", "hide", "list_", "move", "remove", "show", "update"]

_COLORS_HELP: Final = "one of `hatbox colors`."
_ICONS_HELP: Final = "one of `hatbox icons`."


def list_(
    name: Annotated[
        str | None, Option(metavar="NAME", help="Exact name of the identities to list. Default: all.")
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """List identities, in the user's order."""
    found = run_with_profile(profile, lambda opened: opened.identities.query(name))
    if as_json:
        print_json([document(each) for each in found], sys.stdout)
    else:
        print_identities(found, sys.stdout, empty="No identities.")


def get(identity: IdentityArgument, profile: ProfileOption = None, as_json: JsonOption = False) -> None:
    """Show one identity."""
    found = run_with_profile(profile, lambda opened: find_identity(opened, identity))
    if as_json:
        print_json(document(found), sys.stdout)
    else:
        print_identities([found], sys.stdout)


def create(
    name: Annotated[str, Argument(metavar="NAME", help="Name of the identity. Names need not be unique.")],
    color: Annotated[str, Option(metavar="COLOR", help=f"Color: {_COLORS_HELP}")] = "blue",
    icon: Annotated[str, Option(metavar="ICON", help=f"Icon: {_ICONS_HELP}")] = "circle",
    exist_ok: Annotated[
        bool, Option("--exist-ok", help="If an identity has this name, change nothing, and print that one.")
    ] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create an identity, at the end of the list."""
    _check_palette(color, icon)

    async def create_new(opened: Profile) -> tuple[bool, ContextualIdentity]:
        before = await opened.identities.query(name)
        try:
            created = await opened.identities.create(
                name, color=cast("Color", color), icon=cast("Icon", icon), exist_ok=exist_ok
            )
        except AmbiguousIdentity as error:
            raise await ambiguous_name(opened, error) from error
        await note_same_name(opened, created, as_json=as_json)
        return created in before, created

    exists, identity = run_with_profile(profile, create_new)
    _print_one("Exists:" if exists else "Created", identity, as_json=as_json)


def clone(
    identity: IdentityArgument,
    name: Annotated[
        str | None,
        Argument(metavar="[NAME]", help="Name of the copy. Default: the name of the original with a number."),
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Copy an identity with its cookies, site data and settings. The copy comes right after the original.

    Tabs and site rules are not copied.
    """

    async def clone_found(opened: Profile) -> ContextualIdentity:
        created = await opened.identities.clone(await find_identity(opened, identity), name)
        await note_same_name(opened, created, as_json=as_json)
        return created

    _print_one("Created", run_with_profile(profile, clone_found), as_json=as_json)


def update(
    identity: IdentityArgument,
    name: Annotated[str | None, Option(metavar="NAME", help="New name.")] = None,
    color: Annotated[str | None, Option(metavar="COLOR", help=f"New color: {_COLORS_HELP}")] = None,
    icon: Annotated[str | None, Option(metavar="ICON", help=f"New icon: {_ICONS_HELP}")] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Change the name, color or icon of an identity."""
    if name is None and color is None and icon is None:
        raise bad_parameter(
            "specify at least one of --name, --color, --icon", param_hint=["--name", "--color", "--icon"]
        )
    _check_palette(color, icon)

    async def update_found(opened: Profile) -> ContextualIdentity:
        found = await find_identity(opened, identity)
        updated = await opened.identities.update(
            found, name=name, color=cast("Color | None", color), icon=cast("Icon | None", icon)
        )
        if name is not None:
            await note_same_name(opened, updated, as_json=as_json)
        return updated

    _print_one("Updated", run_with_profile(profile, update_found), as_json=as_json)


def move(
    identities: IdentitiesArgument,
    to: Annotated[
        str,
        Option(metavar="POSITION", help="Position: first, last, or an index among the others, from 0."),
    ],
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Move identities to another position in the list. Several stay in their order."""
    position = _position(to)

    async def move_found(opened: Profile) -> list[ContextualIdentity]:
        found = await find_identities(opened, identities)
        try:
            await opened.identities.move(found, position)
        except InvalidPosition as error:
            last = len(await opened.identities.query()) - len(found)
            hint = f"Use first, last, or a number from 0 to {last}."
            raise CommandError(type(error).__name__, f"{error}. {hint}", details={"last": last}) from error
        return found

    _print_result("Moved", run_with_profile(profile, move_found), as_json=as_json)


def hide(identities: IdentitiesArgument, profile: ProfileOption = None, as_json: JsonOption = False) -> None:
    """Hide identities and their tabs until they are shown. A running browser closes their windows.

    A page with typed text stays open in a minimized window, if the desktop can minimize windows. Otherwise its fields
    are saved, and restored when the page is shown. Passwords and files are never saved. Unsaved text is reported.
    """
    reports: list[HideReport] = []

    async def hide_found(opened: Profile, found: Sequence[ContextualIdentity]) -> None:
        reports.append(await opened.hide_and_wait(found))

    changed, tabs, _ = run_with_profile(
        profile, lambda opened: _change(opened, identities, hide_found, as_json=as_json)
    )
    _print_result("Hidden", changed, tabs, as_json=as_json)
    for report in reports:
        for line in _report_lines(report):
            print_line(line, sys.stderr)


def show(identities: IdentitiesArgument, profile: ProfileOption = None, as_json: JsonOption = False) -> None:
    """Show hidden identities and their tabs. A running browser opens their windows, with the same pages."""

    async def show_found(opened: Profile, found: Sequence[ContextualIdentity]) -> None:
        await asyncio.gather(*map(opened.identities.show, found))

    changed, tabs, running = run_with_profile(
        profile, lambda opened: _change(opened, identities, show_found, as_json=as_json)
    )
    _print_result("Shown", changed, tabs, as_json=as_json)
    if any(tabs.values()) and not running and not as_json:
        print_line("No browser is running. Open the tabs with: hatbox browse", sys.stderr)


def remove(
    identities: IdentitiesArgument,
    forever: Annotated[
        bool, Option("--forever", help="Do not move them to the trash. They cannot be restored.")
    ] = False,
    yes: Annotated[bool, Option("--yes", "-y", help="Skip the confirmation.")] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove identities with their tabs, cookies and site data. They stay in the trash for 30 days.

    `hatbox trash restore` restores them, and `hatbox profile settings` shows and changes how long they stay there. With
    --yes, an identity that is too large for the trash is removed only with --forever.
    """
    found = run_with_profile(profile, lambda opened: find_identities(opened, identities))
    too_large: set[str] = set()
    if not yes:
        too_large = confirm_removal(run_with_profile(profile, lambda opened: _preview(opened, found)), forever=forever)

    async def remove_found(opened: Profile) -> tuple[Sequence[ContextualIdentity], set[str]]:
        removing = (
            opened.identities.remove(each, forever=forever or each.cookie_store_id in too_large) for each in found
        )
        removed = await asyncio.gather(*removing)
        return removed, {each.cookie_store_id for each in await opened.trash.list()}

    removed, in_trash = run_with_profile(profile, remove_found)
    if as_json:
        print_json([document(each) for each in removed], sys.stdout)
        return
    for each in removed:
        print_identity("Removed" if each.cookie_store_id in in_trash else "Removed for ever:", each, sys.stdout)
    if ids := [each.cookie_store_id for each in removed if each.cookie_store_id in in_trash]:
        print_line(f"To undo this: hatbox trash restore {' '.join(ids)}", sys.stderr)


async def _change(
    opened: Profile,
    names_or_ids: Sequence[str],
    change: Callable[[Profile, Sequence[ContextualIdentity]], Awaitable[None]],
    *,
    as_json: bool,
) -> tuple[Sequence[ContextualIdentity], Mapping[str, int], bool]:
    """The identities after the change, the number of tabs of each, and whether an engine is running."""
    found = await find_identities(opened, names_or_ids)
    await change(opened, found)
    count = Counter(tab.cookie_store_id for tab in await opened.tabs.query())
    tabs = {each.cookie_store_id: count[each.cookie_store_id] for each in found}
    running = bool(await find_running_engines(opened, as_json=as_json))
    return await asyncio.gather(*map(opened.identities.get, found)), tabs, running


def _report_lines(report: HideReport) -> Iterator[str]:
    for tab, fields in report.unsaved:
        yield f"Tab {tab.id} ({tab.display_title}): typed text is not saved: {', '.join(fields)}."
    if report.unconfirmed:
        yield f"The browser has not confirmed that it has hidden: tab {', tab '.join(map(str, report.unconfirmed))}."


def _check_palette(color: str | None, icon: str | None) -> None:
    """Raise CommandError, with the allowed values, for an unknown color or icon."""
    try:
        if color is not None:
            palette.accepted_color(color)
    except InvalidColor as error:
        raise _palette_error(error, color, [each.color for each in palette.COLORS]) from error
    try:
        if icon is not None:
            palette.accepted_icon(icon)
    except InvalidIcon as error:
        raise _palette_error(error, icon, [each.icon for each in palette.ICONS]) from error


def _palette_error(error: InvalidColor | InvalidIcon, value: str | None, allowed: list[str]) -> CommandError:
    nearest = difflib.get_close_matches((value or "").casefold(), allowed, n=1, cutoff=0.5)
    hint = f' Did you mean "{nearest[0]}"?' if nearest else ""
    return CommandError(
        type(error).__name__,
        f"{error}.{hint}",
        lines=[f"Allowed values: {', '.join(allowed)}."],
        details={"nearest": nearest, "allowed": allowed},
    )


def _position(to: str) -> int:
    named = {"first": 0, "last": -1}
    try:
        return named[to] if to in named else int(to)
    except ValueError:
        raise bad_parameter(
            f"invalid position: {visible(to)}. Use first, last or a whole number", param_hint="--to"
        ) from None


async def _preview(opened: Profile, identities: Sequence[ContextualIdentity]) -> Sequence[RemovalPreview]:
    return await asyncio.gather(*map(opened.identities.preview_removal, identities))


def _print_one(what: str, identity: ContextualIdentity, *, as_json: bool) -> None:
    if as_json:
        print_json(document(identity), sys.stdout)
    else:
        print_identity(what, identity, sys.stdout)


def _print_result(
    what: str,
    identities: Sequence[ContextualIdentity],
    tabs: Mapping[str, int] = MappingProxyType({}),
    *,
    as_json: bool,
) -> None:
    if as_json:
        print_json([document(each) for each in identities], sys.stdout)
        return
    for identity in identities:
        count = tabs.get(identity.cookie_store_id, 0)
        print_identity(what, identity, sys.stdout, f": {number_of(count, 'tab')}" if count else "")
