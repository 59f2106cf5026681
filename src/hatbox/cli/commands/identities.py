"""The commands on identities: list, get, create, update, move, hide, show, remove.

All names are looked up before anything changes, and the changes are begun together, so that they share one commit.
How things look is not decided here.
"""

from __future__ import annotations

import asyncio
import difflib
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, TypeVar, cast

import typer

from hatbox.cli.engine_log import engine_of
from hatbox.cli.hiding import hide_and_wait
from hatbox.cli.options import JsonOption, ProfileOption, path_of
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.cli.terminal.confirm import confirm
from hatbox.cli.terminal.output import document, print_identities, print_json, print_line, say
from hatbox.cli.terminal.terminal_text import visible
from hatbox.errors import AmbiguousIdentity, InvalidColor, InvalidIcon, InvalidPosition
from hatbox.identities import palette
from hatbox.identities.ids import DEFAULT_STORE
from hatbox.identities.model import ContextualIdentity
from hatbox.profile import Profile

if TYPE_CHECKING:
    from hatbox.identities.palette import Color, Icon

__all__ = [
    "One",
    "create",
    "expect",
    "find",
    "get",
    "hide",
    "list_",
    "move",
    "remove",
    "run_with_profile",
    "show",
    "update",
]

T = TypeVar("T")

One = Annotated[str, typer.Argument(metavar="NAME-OR-ID", help="The identity: its name or its id.")]
Several = Annotated[
    list[str], typer.Argument(metavar="NAME-OR-ID...", help="One identity or several, each by its name or its id.")
]
COLORS_HELP = "One of `hatbox colors`."
ICONS_HELP = "One of `hatbox icons`."


def list_(
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Only those with exactly this name.")] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the identities, in your order."""
    found = run_with_profile(profile, lambda opened: opened.identities.query(name))
    if as_json:
        print_json([document(each) for each in found], sys.stdout)
    else:
        print_identities(found, sys.stdout)


def get(identity: One, profile: ProfileOption = None, as_json: JsonOption = False) -> None:
    """Show one identity."""
    found = run_with_profile(profile, lambda opened: find(opened, identity))
    if as_json:
        print_json(document(found), sys.stdout)
    else:
        print_identities([found], sys.stdout)


def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call it. Names need not be unique.")],
    color: Annotated[str, typer.Option(metavar="COLOR", help=COLORS_HELP)] = "blue",
    icon: Annotated[str, typer.Option(metavar="ICON", help=ICONS_HELP)] = "circle",
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a new identity, at the end of the list."""
    _check_palette(color, icon)
    made = run_with_profile(
        profile, lambda opened: opened.identities.create(name, color=cast("Color", color), icon=cast("Icon", icon))
    )
    _print_one("Created", made, as_json=as_json)


def update(
    identity: One,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Its new name.")] = None,
    color: Annotated[str | None, typer.Option(metavar="COLOR", help=f"Its new color. {COLORS_HELP}")] = None,
    icon: Annotated[str | None, typer.Option(metavar="ICON", help=f"Its new icon. {ICONS_HELP}")] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Change the name, color or icon of an identity, and keep the rest."""
    if name is None and color is None and icon is None:
        raise typer.BadParameter("give at least one of them", param_hint=["--name", "--color", "--icon"])
    _check_palette(color, icon)

    async def updated(opened: Profile) -> ContextualIdentity:
        found = await find(opened, identity)
        return await opened.identities.update(
            found, name=name, color=cast("Color | None", color), icon=cast("Icon | None", icon)
        )

    _print_one("Updated", run_with_profile(profile, updated), as_json=as_json)


def move(
    identities: Several,
    to: Annotated[
        str,
        typer.Option(metavar="POSITION", help="first, last, or a position among the others, counted from 0."),
    ],
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Move identities to another place in the list. Several stay in the order that they have there."""
    position = _position(to)

    async def moved(opened: Profile) -> list[ContextualIdentity]:
        found = await _find_all(opened, identities)
        try:
            await opened.identities.move(found, position)
        except InvalidPosition as error:
            last = len(await opened.identities.query()) - len(found)
            hint = f"Say first, last, or a number from 0 to {last}."
            raise CommandError(type(error).__name__, f"{error}. {hint}", details={"last": last}) from error
        return found

    _print_result("Moved", run_with_profile(profile, moved), as_json=as_json)


def hide(identities: Several, profile: ProfileOption = None, as_json: JsonOption = False) -> None:
    """Hide all that belongs to identities, until you show them: a browser that runs closes their windows.

    A page with typed text stays open in a minimised window, if the desktop can minimise windows. Otherwise its fields
    are saved, and filled in when the page is shown. Lost text is reported: passwords and files are never saved.
    """
    lost: list[str] = []

    async def hidden(opened: Profile, found: Sequence[ContextualIdentity]) -> None:
        lost.extend(await hide_and_wait(opened, found, opened.identities.hide))

    changed, tabs, _ = run_with_profile(profile, lambda opened: _changed(opened, identities, hidden, as_json=as_json))
    _print_result("Hidden", changed, tabs, as_json=as_json)
    for line in lost:
        print_line(line, sys.stderr)


def show(identities: Several, profile: ProfileOption = None, as_json: JsonOption = False) -> None:
    """Show all that belongs to identities again: a browser that runs opens their windows, with the same pages."""

    async def shown(opened: Profile, found: Sequence[ContextualIdentity]) -> None:
        await asyncio.gather(*map(opened.identities.show, found))

    changed, tabs, running = run_with_profile(
        profile, lambda opened: _changed(opened, identities, shown, as_json=as_json)
    )
    _print_result("Shown", changed, tabs, as_json=as_json)
    if any(tabs.values()) and not running and not as_json:
        print_line("No browser is running. `hatbox browse` opens the tabs.", sys.stderr)


def remove(
    identities: Several,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove identities and everything in them."""
    found = run_with_profile(profile, lambda opened: _find_all(opened, identities))
    if not yes:
        _confirm_removal(found)

    async def removed(opened: Profile) -> Sequence[ContextualIdentity]:
        return await asyncio.gather(*map(opened.identities.remove, found))

    _print_result("Removed", run_with_profile(profile, removed), as_json=as_json)


def run_with_profile(profile: str | None, work: Callable[[Profile], Awaitable[T]]) -> T:
    """Open the profile, do the work there, and return what came of it."""
    path = path_of(profile)

    async def worked() -> T:
        async with Profile(path) as opened:
            return await work(opened)

    return asyncio.run(worked())


async def find(opened: Profile, name_or_id: str) -> ContextualIdentity:
    """The one identity with this name or id, or a failure that shows all that could be meant."""
    try:
        return await opened.identities.find(name_or_id)
    except AmbiguousIdentity as error:
        candidates = await asyncio.gather(*map(opened.identities.get, error.candidates))
        message = f'{len(candidates)} identities are called "{error.name}". Say which by its id.'
        raise CommandError(type(error).__name__, message, candidates=candidates) from error


async def expect(opened: Profile, names_or_ids: Sequence[str]) -> None:
    """Fail as `find` does unless each is the name or id of one identity, or of the store of none."""
    for each in names_or_ids:
        if each != DEFAULT_STORE:
            await find(opened, each)


async def _find_all(opened: Profile, names_or_ids: Sequence[str]) -> list[ContextualIdentity]:
    """The identities in the order in which they were named, each once."""
    found = [await find(opened, each) for each in names_or_ids]
    return list({each.cookie_store_id: each for each in found}.values())


async def _changed(
    opened: Profile,
    names_or_ids: Sequence[str],
    change: Callable[[Profile, Sequence[ContextualIdentity]], Awaitable[None]],
    *,
    as_json: bool,
) -> tuple[Sequence[ContextualIdentity], Mapping[str, int], bool]:
    """The identities as they are after the change, how many tabs each has, and whether an engine runs."""
    found = await _find_all(opened, names_or_ids)
    await change(opened, found)
    count = Counter(tab.cookie_store_id for tab in await opened.tabs.query())
    tabs = {each.cookie_store_id: count[each.cookie_store_id] for each in found}
    running = engine_of(opened.path, as_json=as_json) is not None
    return await asyncio.gather(*map(opened.identities.get, found)), tabs, running


def _check_palette(color: str | None, icon: str | None) -> None:
    """Refuse what the palette does not have, with more help than the API gives."""
    try:
        if color is not None:
            palette.accepted_color(color)
    except InvalidColor as error:
        raise _not_in_palette(error, color, [each.color for each in palette.COLORS]) from error
    try:
        if icon is not None:
            palette.accepted_icon(icon)
    except InvalidIcon as error:
        raise _not_in_palette(error, icon, [each.icon for each in palette.ICONS]) from error


def _not_in_palette(error: InvalidColor | InvalidIcon, value: str | None, allowed: list[str]) -> CommandError:
    nearest = difflib.get_close_matches((value or "").casefold(), allowed, n=1, cutoff=0.5)
    hint = f' Did you mean "{nearest[0]}"?' if nearest else ""
    return CommandError(
        type(error).__name__,
        f"{error}.{hint}",
        lines=[f"Allowed are: {', '.join(allowed)}."],
        details={"nearest": nearest, "allowed": allowed},
    )


def _position(to: str) -> int:
    named = {"first": 0, "last": -1}
    try:
        return named[to] if to in named else int(to)
    except ValueError:
        raise typer.BadParameter(f"{visible(to)} is not first, last or a whole number", param_hint="--to") from None


def _confirm_removal(identities: Sequence[ContextualIdentity]) -> None:
    if len(identities) == 1:
        confirm(f"Remove {_named(identities[0])} and everything in it? ")
    else:
        listed = "".join(f"  {_named(each)}\n" for each in identities)
        confirm(f"Remove these {len(identities)} identities and everything in them?\n{listed}")


def _named(identity: ContextualIdentity) -> str:
    return f'"{visible(identity.name, sys.stderr.encoding)}" ({identity.cookie_store_id})'


def _print_one(what: str, identity: ContextualIdentity, *, as_json: bool) -> None:
    if as_json:
        print_json(document(identity), sys.stdout)
    else:
        say(what, identity, sys.stdout)


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
        say(what, identity, sys.stdout, (": 1 tab" if count == 1 else f": {count} tabs") if count else "")
