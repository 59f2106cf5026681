"""The command sites: who is signed in where."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import msgspec

from hatbox.cli.arguments.identity_arguments import IdentityFilterOption, find_store
from hatbox.cli.arguments.parameters import Argument
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, run_with_profile
from hatbox.cli.terminal.output import print_json, print_rows
from hatbox.cli.terminal.terminal_text import visible
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.profile import Profile

if TYPE_CHECKING:
    from hatbox.identities.identity_sites import IdentitySite

__all__ = ["sites"]


def sites(
    host: Annotated[str | None, Argument(metavar="[HOST-OR-URL]", help="Only of this site.")] = None,
    identity: IdentityFilterOption = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show who is signed in where: the sites of each identity, and since when it is signed in.

    "Signed in" is a guess by the names of cookies. Values of cookies are not read.
    """

    async def find(opened: Profile) -> list[IdentitySite]:
        chosen = None if identity is None else await find_store(opened, identity)
        return await opened.sites(identity if chosen is None else chosen, host=host)

    found = run_with_profile(profile, find)
    if as_json:
        print_json([_document(each) for each in found], sys.stdout)
        return
    rows = [
        (
            visible(each.host),
            visible(each.name or DEFAULT_COOKIE_STORE_ID),
            _time(each.signed_in_since),
            _time(each.last_used),
            str(each.cookies),
        )
        for each in found
    ]
    header = ("Site", "Identity", "Signed in since", "Last used", "Cookies")
    print_rows(header, rows, sys.stdout, unwrapped="Site", narrow=header[:3], empty="No sites.")


def _document(site: IdentitySite) -> dict[str, object]:
    """A site as JSON. Programs rely on these names."""
    document: dict[str, object] = msgspec.to_builtins(site)
    return {**document, "signedInSince": _iso(site.signed_in_since), "lastUsed": _iso(site.last_used)}


def _time(seconds: float | None) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def _iso(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat("T", "seconds")
