"""The identities of a synchronous profile."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from hatbox.identities.removal_preview import RemovalPreview
from hatbox.identities.service import Identities
from hatbox.identity.model import ContextualIdentity, IdentityLike
from hatbox.identity.palette import Color, Icon
from hatbox.identity.settings import IdentitySettings, SettingValue
from hatbox.sync.loop_thread import LoopThread, SyncEvent

__all__ = ["SyncIdentities"]


class SyncIdentities:
    """The identities of a profile. Each call returns when its change is durable."""

    def __init__(self, identities: Identities, loop: LoopThread) -> None:
        self._identities = identities
        self._run = loop.run
        self.on_created = SyncEvent(identities.on_created, loop)
        """Emitted for each new identity. Listeners run in the thread of the profile."""
        self.on_updated = SyncEvent(identities.on_updated, loop)
        """Emitted when name, color or icon of an identity is set, also to the same value."""
        self.on_removed = SyncEvent(identities.on_removed, loop)
        """Emitted for each removed identity, with its last state."""
        self.on_moved = SyncEvent(identities.on_moved, loop)
        """Emitted for each identity moved in the list."""
        self.on_hidden = SyncEvent(identities.on_hidden, loop)
        """Emitted for each hidden identity."""
        self.on_shown = SyncEvent(identities.on_shown, loop)
        """Emitted for each shown identity."""
        self.on_settings_changed = SyncEvent(identities.on_settings_changed, loop)
        """Emitted with the cookieStoreId when settings of an identity have changed."""

    def get(self, identity: IdentityLike) -> ContextualIdentity:
        """The identity with this name or cookieStoreId."""
        return self._run(lambda: self._identities.get(identity))

    def query(self, name: str | None = None) -> list[ContextualIdentity]:
        """All identities in the user's order, or those with exactly this name."""
        return self._run(lambda: self._identities.query(name))

    def find(self, name_or_id: str) -> ContextualIdentity:
        """The identity with this name or cookieStoreId. Raises IdentityNotFound or AmbiguousIdentity."""
        return self._run(lambda: self._identities.find(name_or_id))

    def resolve(self, identity: IdentityLike) -> ContextualIdentity:
        """The current state of an identity: its name, cookieStoreId or object.

        Raises IdentityMismatch for an object whose cookieStoreId has another name in this profile.
        """
        return self._run(lambda: self._identities.resolve(identity))

    def create(
        self, name: str, *, color: Color = "blue", icon: Icon = "circle", exist_ok: bool = False
    ) -> ContextualIdentity:
        """Create an identity, at the end of the list.

        With `exist_ok`, an identity that has the name is returned as it is. Raises AmbiguousIdentity for several.
        """
        return self._run(lambda: self._identities.create(name, color=color, icon=icon, exist_ok=exist_ok))

    def update(
        self, identity: IdentityLike, *, name: str | None = None, color: Color | None = None, icon: Icon | None = None
    ) -> ContextualIdentity:
        """Change name, color or icon. Returns the identity after the change."""
        return self._run(lambda: self._identities.update(identity, name=name, color=color, icon=icon))

    def move(self, identities: IdentityLike | Sequence[IdentityLike], position: int) -> None:
        """Move identities, in their old order, to `position` in the list of the others; -1 is the end."""
        return self._run(lambda: self._identities.move(identities, position))

    def remove(self, identity: IdentityLike, *, forever: bool = False) -> ContextualIdentity:
        """Remove an identity with its tabs, cookies and site data, to the trash or forever. Returns its last state."""
        return self._run(lambda: self._identities.remove(identity, forever=forever))

    def preview_removal(self, identity: IdentityLike) -> RemovalPreview:
        """What removing an identity would remove, and whether it could be restored. Changes nothing."""
        return self._run(lambda: self._identities.preview_removal(identity))

    def clone(self, identity: IdentityLike, name: str | None = None) -> ContextualIdentity:
        """Copy an identity, right after the original: its cookies, site data and settings, but not its tabs."""
        return self._run(lambda: self._identities.clone(identity, name))

    def hide(self, identity: IdentityLike) -> None:
        """Hide an identity and its tabs."""
        return self._run(lambda: self._identities.hide(identity))

    def show(self, identity: IdentityLike) -> None:
        """Show an identity and its tabs."""
        return self._run(lambda: self._identities.show(identity))

    def settings(self, identity: IdentityLike) -> IdentitySettings:
        """The settings of an identity. The proxy may have a password."""
        return self._run(lambda: self._identities.settings(identity))

    def set_settings(
        self,
        identity: IdentityLike,
        *,
        proxy: SettingValue = msgspec.UNSET,
        user_agent: SettingValue = msgspec.UNSET,
        locale: SettingValue = msgspec.UNSET,
        timezone: SettingValue = msgspec.UNSET,
    ) -> IdentitySettings:
        """Change settings of an identity; None unsets one, an omitted one stays. Returns all of its settings."""
        return self._run(
            lambda: self._identities.set_settings(
                identity, proxy=proxy, user_agent=user_agent, locale=locale, timezone=timezone
            )
        )
