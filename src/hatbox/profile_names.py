"""Names in a profile, for shell completion: identities, tabs, extensions, rules, grants, trash.

Completion must answer at once and must not fail. So a SQLite profile is read directly, with few imports; any other
store is opened, and the caller limits the time.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from hatbox.store.base import Transaction

__all__ = ["profile_names"]


def profile_names(address: str | None, kind: str) -> list[tuple[str, str]]:
    """The names of a kind with descriptions; `address` is that of --profile. Empty if no profile exists there."""
    named = address or os.environ.get("HATBOX_PROFILE")
    if named and "://" in named:
        return _names_in_store(named, kind)
    from hatbox.store.sqlite.names import read_names

    return read_names(Path(named) if named else _default_path(), kind)


def _default_path() -> Path:
    import platformdirs

    return Path(platformdirs.user_data_dir("hatbox", appauthor=False)) / "profile.db"


def _names_in_store(address: str, kind: str) -> list[tuple[str, str]]:
    import asyncio

    from hatbox.errors import HatboxError
    from hatbox.store.registry import store_at

    async def read() -> list[tuple[str, str]]:
        store = store_at(address)
        store.create = False
        await store.open()
        try:
            return await store.read(_READERS[kind])
        finally:
            await store.close()

    try:
        return asyncio.run(read())
    except HatboxError:
        return []


def _identities(transaction: Transaction) -> list[tuple[str, str]]:
    return [(name, f"firefox-container-{number}") for number, name, *_ in transaction.identities.find()]


def _tabs(transaction: Transaction) -> list[tuple[str, str]]:
    return [(str(row.id), row.title) for row in transaction.tabs.find()]


def _extensions(transaction: Transaction) -> list[tuple[str, str]]:
    from hatbox.extension_data.installed_extensions import get_all

    return [(each.name, each.id) for each in get_all(transaction)]


def _rules(transaction: Transaction) -> list[tuple[str, str]]:
    import msgspec

    return [
        (str(number), str(msgspec.json.decode(rule).get("pattern", ""))) for number, rule in transaction.rules.find()
    ]


def _grants(transaction: Transaction) -> list[tuple[str, str]]:
    return [(row.id, row.program) for row in reversed(transaction.grants.find())]


def _trash(transaction: Transaction) -> list[tuple[str, str]]:
    return [(row.name, str(row.id)) for row in transaction.trash.find()]


_READERS: dict[str, Callable[[Transaction], list[tuple[str, str]]]] = {
    "identities": _identities,
    "tabs": _tabs,
    "extensions": _extensions,
    "rules": _rules,
    "grants": _grants,
    "trash": _trash,
}
