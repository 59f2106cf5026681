"""Identities: the service that Python programs use. The rules are in `changes`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from hatbox.identities import changes
from hatbox.identities.log_scrubs import LogScrubs
from hatbox.identities.settings_cache import SettingsCache
from hatbox.identity.model import (
    CREATED,
    HIDDEN,
    MOVED,
    REMOVED,
    SHOWN,
    UPDATED,
    ContextualIdentity,
    IdentityLike,
    decode_change,
    expect_identity,
    find,
    get,
    id_of,
    query,
    resolve,
    row_of,
)
from hatbox.identity.palette import Color, Icon
from hatbox.identity.settings import (
    SETTINGS_CHANGED,
    IdentitySettings,
    SettingValue,
    change_settings,
    checked_settings,
    decode_settings_change,
    read_settings,
)
from hatbox.store.base import Store
from hatbox.store.change_events import ChangeEvents

if TYPE_CHECKING:
    from hatbox.identities.removal_preview import RemovalPreview

__all__ = ["Identities"]


class Identities:
    """The identities of a profile, for Python: typed, in snake_case, with keyword arguments.

    Calls start at once and return a future. When it resolves, the change is durable. An identity is given by its name,
    cookieStoreId or object. A text in the form of a cookieStoreId is read as an id, not as a name.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        events = ChangeEvents(store, "identities")
        self.on_created = events.event("on_created", CREATED, decode_change)
        """Emitted for each new identity."""
        self.on_updated = events.event("on_updated", UPDATED, decode_change)
        """Emitted when name, color or icon of an identity is set, also to the same value."""
        self.on_removed = events.event("on_removed", REMOVED, decode_change)
        """Emitted for each removed identity, with its last state."""
        self.on_moved = events.event("on_moved", MOVED, decode_change)
        """Emitted for each identity moved in the list."""
        self.on_hidden = events.event("on_hidden", HIDDEN, decode_change)
        """Emitted for each hidden identity."""
        self.on_shown = events.event("on_shown", SHOWN, decode_change)
        """Emitted for each shown identity."""
        self.on_settings_changed = events.event("on_settings_changed", SETTINGS_CHANGED, decode_settings_change)
        """Emitted with the cookieStoreId when settings of an identity have changed."""
        self.log_scrubs = LogScrubs(store)
        """Deletes what the change log says about identities that were deleted for ever."""
        self.settings_cache = SettingsCache(store)
        """The settings of identities in memory, for clients: current at each request, and cheap to read."""

    def get(self, identity: IdentityLike) -> asyncio.Future[ContextualIdentity]:
        """The current state of an identity. An object is looked up by its cookieStoreId alone; see resolve()."""
        expect_identity(identity)
        return self._store.read(lambda transaction: get(transaction, id_of(transaction, identity)))

    def query(self, name: str | None = None) -> asyncio.Future[list[ContextualIdentity]]:
        """All identities in the user's order, or those with exactly this name."""
        _expect_text(optional=True, name=name)
        return self._store.read(lambda transaction: query(transaction, name))

    def find(self, name_or_id: str) -> asyncio.Future[ContextualIdentity]:
        """The identity with this name or cookieStoreId. Raises IdentityNotFound or AmbiguousIdentity."""
        _expect_text(name_or_id=name_or_id)
        return self._store.read(lambda transaction: find(transaction, name_or_id))

    def resolve(self, identity: IdentityLike) -> asyncio.Future[ContextualIdentity]:
        """The current state of an identity.

        Raises as find(). For an object: InvalidIdentity if its cookieStoreId is unknown, and IdentityMismatch if that
        id has another name. Then the identity was renamed, or the object is from another profile.
        """
        if isinstance(identity, ContextualIdentity):
            return self._store.read(lambda transaction: resolve(transaction, identity))
        return self.find(identity)

    def create(
        self, name: str, *, color: Color = "blue", icon: Icon = "circle", exist_ok: bool = False
    ) -> asyncio.Future[ContextualIdentity]:
        """Create an identity, at the end of the list.

        With `exist_ok`, an identity that has the name is returned as it is. Raises AmbiguousIdentity for several.
        """
        _expect_text(name=name, color=color, icon=icon)
        return self._store.write(lambda transaction: changes.create(transaction, name, color, icon, exist_ok=exist_ok))

    def update(
        self, identity: IdentityLike, *, name: str | None = None, color: Color | None = None, icon: Icon | None = None
    ) -> asyncio.Future[ContextualIdentity]:
        """Change name, color or icon. Resolves to the identity after the change."""
        expect_identity(identity)
        _expect_text(optional=True, name=name, color=color, icon=icon)
        return self._store.write(
            lambda transaction: changes.update(transaction, id_of(transaction, identity), name, color, icon)
        )

    def move(self, identities: IdentityLike | Sequence[IdentityLike], position: int) -> asyncio.Future[None]:
        """Move identities, in their old order, to `position` in the list of the others; -1 is the end."""
        several = [identities] if isinstance(identities, (str, ContextualIdentity)) else list(identities)
        for identity in several:
            expect_identity(identity)
        if type(position) is not int:
            raise TypeError(f"position must be an integer, not {position!r}")

        return self._store.write(lambda transaction: changes.move(transaction, several, position, id_of))

    def remove(self, identity: IdentityLike, *, forever: bool = False) -> asyncio.Future[ContextualIdentity]:
        """Remove an identity with its tabs, cookies and site data, to the trash or `forever`.

        Resolves to its last state. Raises TooLargeForTrash, and removes nothing, if the trash cannot contain it.
        """
        from hatbox.identities import trash_rows

        expect_identity(identity)
        return self.log_scrubs.after(
            self._store.write(
                lambda transaction: trash_rows.remove(transaction, id_of(transaction, identity), forever=forever)
            )
        )

    def preview_removal(self, identity: IdentityLike) -> asyncio.Future[RemovalPreview]:
        """What removing an identity would remove, and whether it could be restored. Changes nothing."""
        from hatbox.identities.removal_preview import preview_removal

        expect_identity(identity)
        return self._store.read(lambda transaction: preview_removal(transaction, id_of(transaction, identity)))

    def clone(self, identity: IdentityLike, name: str | None = None) -> asyncio.Future[ContextualIdentity]:
        """Copy an identity, right after the original: its cookies, site data and settings, but not its tabs.

        Default of `name`: that of the original with a number. Resolves to the copy.
        """
        expect_identity(identity)
        _expect_text(optional=True, name=name)
        return self._store.write(lambda transaction: changes.clone(transaction, id_of(transaction, identity), name))

    def hide(self, identity: IdentityLike) -> asyncio.Future[None]:
        """Hide an identity and its tabs."""
        expect_identity(identity)
        return self._store.write(lambda transaction: changes.hide(transaction, id_of(transaction, identity)))

    def show(self, identity: IdentityLike) -> asyncio.Future[None]:
        """Show an identity and its tabs."""
        expect_identity(identity)
        return self._store.write(lambda transaction: changes.show(transaction, id_of(transaction, identity)))

    def settings(self, identity: IdentityLike) -> asyncio.Future[IdentitySettings]:
        """The settings of an identity. The proxy may have a password."""
        expect_identity(identity)
        return self._store.read(
            lambda transaction: read_settings(transaction, row_of(transaction, id_of(transaction, identity))[0])
        )

    def set_settings(
        self,
        identity: IdentityLike,
        *,
        proxy: SettingValue = msgspec.UNSET,
        user_agent: SettingValue = msgspec.UNSET,
        locale: SettingValue = msgspec.UNSET,
        timezone: SettingValue = msgspec.UNSET,
    ) -> asyncio.Future[IdentitySettings]:
        """Change settings of an identity; None unsets one, an omitted one stays. Resolves to all of its settings.

        Clients and engines in every process use them for their next request. Raises InvalidSetting. A browser that has
        pages of the identity may lose typed input: Profile.change_identity_settings() asks it first.
        """
        expect_identity(identity)
        changed = checked_settings(proxy=proxy, user_agent=user_agent, locale=locale, timezone=timezone)
        return self._store.write(
            lambda transaction: change_settings(
                transaction, row_of(transaction, id_of(transaction, identity))[0], changed
            )
        )


def _expect_text(*, optional: bool = False, **arguments: str | None) -> None:
    for name, value in arguments.items():
        if not (isinstance(value, str) or (optional and value is None)):
            raise TypeError(f"{name} must be a string, not {value!r}")
