"""The commands of the group history: list, search, clear."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final

from hatbox.cli.arguments.identity_arguments import IdentityFilterOption, find_store
from hatbox.cli.arguments.parameters import Argument, Option
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, run_with_profile
from hatbox.cli.terminal.confirm import confirm
from hatbox.cli.terminal.output import print_json, print_line, print_rows
from hatbox.history.recording import is_recorded
from hatbox.profile import Profile

if TYPE_CHECKING:
    from hatbox.history.history_service import VisitedPage

__all__ = ["clear", "list_", "search"]

_NOT_RECORDED: Final = "They are not recorded. To record them: hatbox profile settings --history on"

LimitOption = Annotated[int, Option("--limit", "-n", metavar="NUMBER", min=1, help="At most so many pages.")]


def list_(
    identity: IdentityFilterOption = None,
    limit: LimitOption = 100,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the visited pages, those visited last first.

    Visits are recorded while an extension with the permission history is installed, or after
    `hatbox profile settings --history on`.
    """
    _print("", identity, limit, profile, as_json=as_json)


def search(
    text: Annotated[str, Argument(metavar="TEXT", help="Words that the URL or the title must have.")],
    identity: IdentityFilterOption = None,
    limit: LimitOption = 100,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find visited pages by words in URL and title, whatever their case and accents."""
    _print(text, identity, limit, profile, as_json=as_json)


def clear(
    identity: IdentityFilterOption = None,
    yes: Annotated[bool, Option("--yes", "-y", help="Skip the confirmation.")] = False,
    profile: ProfileOption = None,
) -> None:
    """Delete the visited pages of all identities, or of one, for ever. Open tabs stay."""

    async def check(opened: Profile) -> str | None:
        found = None if identity is None else await find_store(opened, identity)
        return found.cookie_store_id if found is not None else identity

    chosen = run_with_profile(profile, check)
    if not yes:
        of = "all identities" if identity is None else f'"{identity}"'
        trash = " Identities in the trash keep theirs." if identity is None else ""
        confirm(f"Delete the history of {of} for ever?{trash} ", "not deleted")

    async def clear_found(opened: Profile) -> None:
        await opened.history.clear(chosen)

    run_with_profile(profile, clear_found)
    print_line("Deleted the history." if identity is None else f"Deleted the history of {identity}.", sys.stdout)


def _print(text: str, identity: str | None, limit: int, profile: str | None, *, as_json: bool) -> None:
    async def find(opened: Profile) -> tuple[list[VisitedPage], dict[str, str], bool]:
        chosen = None if identity is None else await find_store(opened, identity)
        number = chosen.cookie_store_id if chosen is not None else identity
        names = {each.cookie_store_id: each.name for each in await opened.identities.query()}
        pages = await opened.history.search(text, number, limit=limit)
        return pages, names, bool(pages) or await opened.store.read(is_recorded)

    found, names, recorded = run_with_profile(profile, find)
    if as_json:
        print_json([_document(page) for page in found], sys.stdout)
        return
    rows = [
        (_time(page.last_visit), names.get(page.cookie_store_id, ""), str(page.visits), page.title, page.url)
        for page in found
    ]
    header = ("Visited", "Identity", "Visits", "Title", "URL")
    empty = "No visited pages." if recorded else f"No visited pages. {_NOT_RECORDED}"
    print_rows(header, rows, sys.stdout, unwrapped="URL", narrow=("Visited", "Identity", "URL"), empty=empty)


def _document(page: VisitedPage) -> dict[str, object]:
    """A visited page as JSON. Programs rely on these names."""
    return {
        "url": page.url,
        "title": page.title,
        "cookieStoreId": page.cookie_store_id,
        "lastVisit": _time(page.last_visit, "T"),
        "visits": page.visits,
    }


def _time(seconds: float, separator: str = " ") -> str:
    text = datetime.fromtimestamp(seconds, UTC).isoformat(separator, "seconds" if separator == "T" else "minutes")
    return text if separator == "T" else text.removesuffix("+00:00")
