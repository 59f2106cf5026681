"""What extensions were given beyond what their manifests require, in the profile. Functions of a transaction."""

from __future__ import annotations

from typing import Final

import msgspec

from hatbox.extension_data.extension_permissions import NONE, ExtensionPermissions, Permissions
from hatbox.store.base import Transaction

__all__ = ["ADDED", "REMOVED", "PermissionsChanged", "drop", "grant", "load_granted", "revoke", "save_granted"]

ADDED: Final = "permissions.added"
REMOVED: Final = "permissions.removed"

_KIND: Final = "granted"


class PermissionsChanged(msgspec.Struct, frozen=True):
    """Permissions that an extension was given, or that were taken from it."""

    extension: str
    permissions: Permissions


def load_granted(transaction: Transaction, extension: str) -> Permissions | None:
    """What an extension was given; None if nothing was noted yet."""
    value = transaction.extensions.get(extension, _KIND, "")
    return msgspec.json.decode(value, type=Permissions) if value else None


def save_granted(transaction: Transaction, extension: str, permissions: Permissions = NONE) -> None:
    """Note what an extension was given, in the place of what it had, and tell of the difference."""
    before = load_granted(transaction, extension)
    if before == permissions:
        return
    transaction.extensions.put(extension, _KIND, "", _encode(permissions))
    if removed := (before or NONE) - permissions:
        transaction.changes.append(REMOVED, _encode(PermissionsChanged(extension, removed)))
    if added := permissions - (before or NONE):
        transaction.changes.append(ADDED, _encode(PermissionsChanged(extension, added)))


def drop(transaction: Transaction, extension: str) -> Permissions:
    """Delete the grants of an extension, as if it had never run; returns them."""
    before = load_granted(transaction, extension) or NONE
    transaction.extensions.clear(extension, _KIND)
    return before


def grant(transaction: Transaction, extension: str, permissions: Permissions) -> None:
    """Give an extension more."""
    grants = _grants(transaction, extension)
    grants.grant(permissions)
    save_granted(transaction, extension, grants.granted)


def revoke(transaction: Transaction, extension: str, permissions: Permissions) -> None:
    """Take back what it was given of this."""
    grants = _grants(transaction, extension)
    grants.remove(permissions)
    save_granted(transaction, extension, grants.granted)


def _grants(transaction: Transaction, extension: str) -> ExtensionPermissions:
    return ExtensionPermissions(NONE, NONE, load_granted(transaction, extension) or NONE)


_encode = msgspec.json.Encoder().encode
