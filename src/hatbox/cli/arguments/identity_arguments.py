"""Identities given by name or cookieStoreId."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

from hatbox.cli.arguments.parameters import Argument, Option
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.errors import AmbiguousIdentity
from hatbox.identities.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.identities.model import ContextualIdentity
from hatbox.profile import Profile

__all__ = [
    "IdentitiesArgument",
    "IdentityArgument",
    "IdentityFilterOption",
    "StoreArgument",
    "check_identities",
    "find_identities",
    "find_identity",
    "find_store",
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
        candidates = await asyncio.gather(*map(profile.identities.get, error.candidates))
        message = f'{len(candidates)} identities are named "{error.name}". Pass the cookieStoreId instead.'
        raise CommandError(type(error).__name__, message, candidates=candidates) from error


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
