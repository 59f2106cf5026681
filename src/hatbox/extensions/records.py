"""What the profile knows of extensions beside their own data: which are installed, and what each was given.

Plain functions of a transaction.
"""

from __future__ import annotations

from typing import Final

import msgspec

from hatbox.api.granted import granted, keep_granted
from hatbox.errors import NoSuchExtension
from hatbox.store.base import Transaction

__all__ = ["CHANGED", "Installed", "get", "get_all", "granted", "install", "keep_granted", "remove"]

CHANGED: Final = "extensions.changed"
"""The topic of changes to which extensions are there. The payload is the id of one."""

_INSTALLED: Final = "installed"


class Installed(msgspec.Struct, frozen=True):
    """An extension that was installed: where it lies, and what it was when it last ran."""

    id: str
    path: str
    name: str
    version: str
    kept: bool = True
    """Whether it stays when it has been run; one that was only tried out is forgotten, but for its data."""


def get_all(transaction: Transaction) -> list[Installed]:
    """All that are installed, in the order in which they were."""
    return [_decode(value) for _, _, value in transaction.extensions.find(_INSTALLED)]


def get(transaction: Transaction, extension_id: str) -> Installed | None:
    """One that is installed, or None."""
    value = transaction.extensions.get(extension_id, _INSTALLED, "")
    return _decode(value) if value else None


def install(transaction: Transaction, extension: Installed) -> Installed | None:
    """Note an extension, in the place of an earlier version of it, which is returned."""
    before = get(transaction, extension.id)
    if before != extension:
        transaction.extensions.put(extension.id, _INSTALLED, "", _encode(extension))
        transaction.changes.append(CHANGED, _encode(extension.id))
    return before


def remove(transaction: Transaction, extension_id: str) -> Installed:
    """Drop an extension and all that it has kept."""
    extension = get(transaction, extension_id)
    if extension is None:
        raise NoSuchExtension(extension_id)
    transaction.extensions.clear(extension_id)
    transaction.changes.append(CHANGED, _encode(extension_id))
    return extension


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Installed).decode
