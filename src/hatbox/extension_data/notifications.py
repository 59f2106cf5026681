"""Open notifications in the profile: transaction functions. They are not displayed, but can be listed and clicked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hatbox.store.base import Transaction

__all__ = ["CLICKED", "CLOSED", "KINDS", "SHOWN", "NotificationEvent", "click", "close", "create", "get_all"]

_KIND: Final = "notification"
_COUNT: Final = "notification.count"
KINDS: Final = (_KIND, _COUNT)
"""The kinds that are cleared when a run of the extension starts."""

SHOWN, CLICKED, CLOSED = "notifications.shown", "notifications.clicked", "notifications.closed"


class NotificationEvent(msgspec.Struct, frozen=True):
    """Payload of the events of a notification."""

    extension: str
    id: str


def get_all(transaction: Transaction, extension: str) -> dict[str, Any]:
    """The options of all open notifications by id."""
    found = transaction.extensions.find(_KIND, extension)
    return {key: msgspec.json.decode(value) for _, key, value in found}


def create(transaction: Transaction, extension: str, name: str | None, options: Mapping[str, Any]) -> str:
    """Show a notification, replacing the one with the same id; returns its id."""
    name = name or _next_id(transaction, extension)
    close(transaction, extension, name)
    transaction.extensions.put(extension, _KIND, name, _encode(options))
    transaction.changes.append(SHOWN, _encode(NotificationEvent(extension, name)))
    return name


def click(transaction: Transaction, extension: str, name: str) -> None:
    """Click an open notification on behalf of the user, which closes it."""
    transaction.changes.append(CLICKED, _encode(NotificationEvent(extension, name)))
    close(transaction, extension, name)


def close(transaction: Transaction, extension: str, name: str) -> bool:
    """Close a notification; returns whether it was open."""
    if transaction.extensions.get(extension, _KIND, name) is None:
        return False
    transaction.extensions.delete(extension, _KIND, name)
    transaction.changes.append(CLOSED, _encode(NotificationEvent(extension, name)))
    return True


def _next_id(transaction: Transaction, extension: str) -> str:
    """Generate an id, counting from 0."""
    count = transaction.extensions.get(extension, _COUNT, "") or b"0"
    transaction.extensions.put(extension, _COUNT, "", b"%d" % (int(count) + 1))
    return str(int(count))


_encode = msgspec.json.Encoder().encode
