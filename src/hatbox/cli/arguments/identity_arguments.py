"""Identities given by name or cookieStoreId."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import Annotated

from hatbox.cli.arguments.argument_order import wrong_order
from hatbox.cli.arguments.parameters import Argument, Option
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.cli.terminal.output import print_line
from hatbox.errors import AmbiguousIdentity, IdentityNotFound
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.identity.model import ContextualIdentity
from hatbox.profile import Profile

__all__ = [
    "IdentitiesArgument",
    "IdentityArgument",
    "IdentityFilterOption",
    "StoreArgument",
    "ambiguous_name",
    "check_identities",
    "find_identities",
    "find_identity",
    "find_store",
    "note_same_name",
]

IdentityArgument = Annotated[str, Argument(metavar="NAME-OR-ID", help="Identity: its name or its cookieStoreId.")]
IdentitiesArgument = Annotated[
    list[str], Argument(metavar="NAME-OR-ID...", help="Identities: their names or cookieStoreIds.")
]
StoreArgument = Annotated[
    str,
    Argument(
        metavar="NAME-OR-ID",
        help=f"Identity: its name or its cookieStoreId; {DEFAULT_COOKIE_STORE_ID} is the default store.",
    ),
]
IdentityFilterOption = Annotated[
    str | None,
    Option(
        "--identity",
        "-i",
        metavar="NAME-OR-ID",
        help=f"Only of this identity; {DEFAULT_COOKIE_STORE_ID} is the default store. Default: of all.",
    ),
]


async def find_identity(profile: Profile, name_or_id: str) -> ContextualIdentity:
    """The identity with this name or id. Raises CommandError with the candidates if several have the name."""
    try:
        return await profile.identities.find(name_or_id)
    except AmbiguousIdentity as error:
        raise await ambiguous_name(profile, error) from error
    except IdentityNotFound as error:
        if swapped := await wrong_order(profile, error):
            raise swapped from error
        raise


async def ambiguous_name(profile: Profile, error: AmbiguousIdentity) -> CommandError:
    """The error with the identities that have the name."""
    candidates = await asyncio.gather(*map(profile.identities.get, error.candidates))
    message = f'{len(candidates)} identities are named "{error.name}". Pass the cookieStoreId instead.'
    return CommandError(type(error).__name__, message, candidates=candidates)


async def note_same_name(profile: Profile, identity: ContextualIdentity, *, as_json: bool) -> None:
    """Print that others have the name of an identity too: from now on, commands do not find it by name."""
    ids = [each.cookie_store_id for each in await profile.identities.query(identity.name)]
    if len(ids) > 1 and not as_json:
        print_line(
            f'{len(ids)} identities are named "{identity.name}" now. Commands need the cookieStoreId: '
            f"{', '.join(ids)}. For another name: hatbox update {identity.cookie_store_id} --name NAME",
            sys.stderr,
        )


async def find_identities(profile: Profile, names_or_ids: Sequence[str]) -> list[ContextualIdentity]:
    """The identities in the given order, without duplicates."""
    found = [await find_identity(profile, each) for each in names_or_ids]
    return list({each.cookie_store_id: each for each in found}.values())


async def find_store(profile: Profile, name_or_id: str) -> ContextualIdentity | None:
    """The identity with this name or id; None for the default store."""
    return None if name_or_id == DEFAULT_COOKIE_STORE_ID else await find_identity(profile, name_or_id)


async def check_identities(profile: Profile, names_or_ids: Sequence[str]) -> None:
    """Raise as `find_store` does unless each is the name or id of one identity, or of the default store."""
    for each in names_or_ids:
        await find_store(profile, each)
