"""What the `hatbox.*` namespaces use of a profile. Contains only declarations."""

from __future__ import annotations

from typing import Protocol

import msgspec

from hatbox.identities.model import IdentityLike
from hatbox.identities.settings import IdentitySettings, SettingValue
from hatbox.store.profile_settings import ProfileSettings

__all__ = ["ManagedProfile"]


class ManagedProfile(Protocol):
    """The members of hatbox.profile.Profile that the namespaces use, with the same signatures."""

    @property
    def label(self) -> str:
        """The profile's name in messages and logs. Contains no password."""

    async def settings(self) -> ProfileSettings:
        """The settings of the profile itself."""

    async def change_identity_settings(
        self,
        identity: IdentityLike,
        *,
        force: bool = False,
        proxy: SettingValue = msgspec.UNSET,
        user_agent: SettingValue = msgspec.UNSET,
        locale: SettingValue = msgspec.UNSET,
        timezone: SettingValue = msgspec.UNSET,
    ) -> IdentitySettings:
        """Change settings of an identity. Raises InputWouldBeLost, and then changes nothing."""
