"""The settings of identities in memory, for clients that need them for each request.

A change record of any process drops the entry. Pending change records are delivered before each request, so a request
that starts after a change never uses the old settings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hatbox.activity_log.activity_rows import ACTIVITY_SETTING_CHANGED, is_recorded, load_recorded
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, container_user_context_id
from hatbox.identity.model import REMOVED, row_of
from hatbox.identity.model import decode_change as decode_identity
from hatbox.identity.settings import (
    NO_SETTINGS,
    SETTINGS_CHANGED,
    IdentitySettings,
    decode_settings_change,
    read_settings,
)
from hatbox.store.base import RESYNC, ChangeRecord, Store, Transaction

__all__ = ["SettingsCache"]

_MAX_ENTRIES: Final = 10_000


class SettingsCache:
    """The settings of the identities of a profile that clients are bound to."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, IdentitySettings] = {}
        self._recorded: set[str] = set()  # those whose activity is recorded
        self._generation = 0  # incremented by each change record that may concern an entry
        self._is_subscribed = False

    async def current(self, cookie_store_id: str) -> IdentitySettings:
        """The settings as of the latest commit of any process. Raises InvalidIdentity, or InvalidSetting."""
        self._subscribe()
        await self._store.deliver_pending_changes()
        return await self.delivered(cookie_store_id)

    async def delivered(self, cookie_store_id: str) -> IdentitySettings:
        """The settings, not older than the last delivered change record. Raises as current()."""
        if cookie_store_id == DEFAULT_COOKIE_STORE_ID:
            return NO_SETTINGS
        self._subscribe()
        if (known := self._known.get(cookie_store_id)) is not None:
            return known
        generation = self._generation
        read, recorded = await self._store.read(_reader(cookie_store_id))
        if generation == self._generation:  # otherwise a change was delivered during the read
            if len(self._known) >= _MAX_ENTRIES:
                self._known.clear()
                self._recorded.clear()
            self._known[cookie_store_id] = read
            if recorded:
                self._recorded.add(cookie_store_id)
        return read

    def known(self, cookie_store_id: str) -> IdentitySettings | None:
        """What delivered() would return, if that is in memory; None if it must be read."""
        return self._known.get(cookie_store_id)

    def is_recorded(self, cookie_store_id: str) -> bool:
        """Whether the activity of an identity is recorded, as of the last call of delivered() for it."""
        return cookie_store_id in self._recorded

    def clear(self) -> None:
        """Read all settings again: the profile was closed."""
        self._generation += 1
        self._known.clear()
        self._recorded.clear()

    def _subscribe(self) -> None:
        if not self._is_subscribed:
            self._store.subscribe(self._on_change)
            self._is_subscribed = True

    def _on_change(self, record: ChangeRecord) -> None:
        if record.topic in (SETTINGS_CHANGED, ACTIVITY_SETTING_CHANGED):
            self._drop(decode_settings_change(record.payload))
        elif record.topic == REMOVED:
            self._drop(decode_identity(record.payload).cookie_store_id)
        elif record.topic == RESYNC:
            self.clear()

    def _drop(self, cookie_store_id: str) -> None:
        self._generation += 1
        self._known.pop(cookie_store_id, None)
        self._recorded.discard(cookie_store_id)


def _reader(cookie_store_id: str) -> Callable[[Transaction], tuple[IdentitySettings, bool]]:
    def read(transaction: Transaction) -> tuple[IdentitySettings, bool]:
        user_context_id = container_user_context_id(cookie_store_id) or 0
        load_recorded(transaction, user_context_id)
        row_of(transaction, cookie_store_id)  # raises if it was removed
        return read_settings(transaction, user_context_id), is_recorded(transaction, user_context_id)

    return read
