"""What extensions were given beyond what their manifests require, in the profile. Functions of a transaction."""

from __future__ import annotations

from typing import Final

import msgspec

from hatbox.extension_data.extension_permissions import NONE, ExtensionPermissions, Permissions
from hatbox.store.base import Transaction

__all__ = ["ADDED", "REMOVED", "Changed", "drop", "give", "granted", "keep_granted", "take"]

ADDED: Final = "permissions.added"
REMOVED: Final = "permissions.removed"

_KIND: Final = "granted"


class Changed(msgspec.Struct, frozen=True):
    """Permissions that an extension was given, or that were taken from it."""

    extension: str
    permissions: Permissions


def granted(transaction: Transaction, extension: str) -> Permissions | None:
    """What an extension was given; None if nothing was noted yet."""
    value = transaction.extensions.get(extension, _KIND, "")
    return msgspec.json.decode(value, type=Permissions) if value else None


def keep_granted(transaction: Transaction, extension: str, permissions: Permissions = NONE) -> None:
    """Note what an extension was given, in the place of what it had, and tell of the difference."""
    before = granted(transaction, extension)
    if before == permissions:
        return
    transaction.extensions.put(extension, _KIND, "", _encode(permissions))
    if removed := (before or NONE) - permissions:
        transaction.changes.append(REMOVED, _encode(Changed(extension, removed)))
    if added := permissions - (before or NONE):
        transaction.changes.append(ADDED, _encode(Changed(extension, added)))


def drop(transaction: Transaction, extension: str) -> Permissions:
    """Delete the grants of an extension, as if it had never run; returns them."""
    before = granted(transaction, extension) or NONE
    transaction.extensions.clear(extension, _KIND)
    return before


def give(transaction: Transaction, extension: str, permissions: Permissions) -> None:
    """Give an extension more."""
    grants = _grants(transaction, extension)
    grants.grant(permissions)
    keep_granted(transaction, extension, grants.granted)


def take(transaction: Transaction, extension: str, permissions: Permissions) -> None:
    """Take back what it was given of this."""
    grants = _grants(transaction, extension)
    grants.remove(permissions)
    keep_granted(transaction, extension, grants.granted)


def _grants(transaction: Transaction, extension: str) -> ExtensionPermissions:
    return ExtensionPermissions(NONE, NONE, granted(transaction, extension) or NONE)


_encode = msgspec.json.Encoder().encode
