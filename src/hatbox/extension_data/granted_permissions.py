"""Granted permissions of extensions in the profile. Transaction functions."""

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
    """Payload of permissions.onAdded and onRemoved."""

    extension: str
    permissions: Permissions


def load_granted(transaction: Transaction, extension: str) -> Permissions | None:
    """The granted permissions of an extension; None if none were ever saved."""
    value = transaction.extensions.get(extension, _KIND, "")
    return msgspec.json.decode(value, type=Permissions) if value else None


def save_granted(transaction: Transaction, extension: str, permissions: Permissions = NONE) -> None:
    """Replace the granted permissions of an extension, and emit the difference."""
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
    """Grant more permissions."""
    current = _current(transaction, extension)
    current.grant(permissions)
    save_granted(transaction, extension, current.granted)


def revoke(transaction: Transaction, extension: str, permissions: Permissions) -> None:
    """Revoke granted permissions."""
    current = _current(transaction, extension)
    current.remove(permissions)
    save_granted(transaction, extension, current.granted)


def _current(transaction: Transaction, extension: str) -> ExtensionPermissions:
    return ExtensionPermissions(NONE, NONE, load_granted(transaction, extension) or NONE)


_encode = msgspec.json.Encoder().encode
