"""Whose a tab is: from what a person typed to a store, and from tabs to their identities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from hatbox.cli.commands.identities import find
from hatbox.identities import model as identities
from hatbox.identities.ids import DEFAULT_STORE, store_user_context_id
from hatbox.identities.model import ContextualIdentity
from hatbox.profile import Profile
from hatbox.store.base import Transaction
from hatbox.tabs import Tab

__all__ = ["IDENTITY_HELP", "TabAndIdentity", "find_identity", "with_identities"]

TabAndIdentity: TypeAlias = tuple[Tab, ContextualIdentity | None]
"""A tab and its identity; None where it has none, or none any more."""

IDENTITY_HELP: Final = f"The identity: its name or its id. {DEFAULT_STORE} is that of no identity."


async def find_identity(opened: Profile, name_or_id: str) -> ContextualIdentity | None:
    """The identity with this name or id; None for the default store."""
    return None if name_or_id == DEFAULT_STORE else await find(opened, name_or_id)


async def with_identities(opened: Profile, tabs: Sequence[Tab]) -> list[TabAndIdentity]:
    """Each tab and its identity."""

    def looked_up(transaction: Transaction) -> list[TabAndIdentity]:
        known = {store: _identity(transaction, store) for store in {tab.cookie_store_id for tab in tabs}}
        return [(tab, known[tab.cookie_store_id]) for tab in tabs]

    return await opened.tabs.read(looked_up)


def _identity(transaction: Transaction, store: str) -> ContextualIdentity | None:
    number = store_user_context_id(store)
    exists = bool(number) and transaction.identities.get(number or 0) is not None
    return identities.get(transaction, store) if exists else None
