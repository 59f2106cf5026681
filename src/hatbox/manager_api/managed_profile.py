"""What the `hatbox.*` namespaces use of a profile. Contains only declarations."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec

from hatbox.identity.model import ContextualIdentity, IdentityLike
from hatbox.identity.settings import IdentitySettings, SettingValue
from hatbox.store.profile_settings import ProfileSettings

if TYPE_CHECKING:
    from hatbox.archive.backup import BackupReport
    from hatbox.archive.restore_report import RestoreReport
    from hatbox.engines.background.engine_starts import EngineStarts
    from hatbox.engines.running_engines import RunningEngine
    from hatbox.extensions.service import Extensions
    from hatbox.identity.palette import Color, Icon
    from hatbox.site_rules.service import SiteRules

__all__ = ["ManagedProfile"]


class ManagedProfile(Protocol):
    """The members of hatbox.profile.Profile that the namespaces use, with the same signatures."""

    @property
    def label(self) -> str:
        """The profile's name in messages and logs. Contains no password."""

    @property
    def address(self) -> str:
        """The address that opens this profile. May contain a password."""

    @property
    def extensions(self) -> Extensions:
        """The installed extensions, and those that run in this process."""

    @property
    def rules(self) -> SiteRules:
        """The rules that assign URLs to identities."""

    @property
    def engine_starts(self) -> EngineStarts:
        """The background engines that this process starts without waiting for them."""

    async def running_engines(self) -> list[RunningEngine]:
        """The engines that are running for this profile, in any process and on any machine."""

    async def settings(self) -> ProfileSettings:
        """The settings of the profile itself."""

    async def backup(
        self,
        path: str | os.PathLike[str],
        identities: Sequence[str] | None = None,
        *,
        passphrase: str | None = None,
        plain: bool = False,
        overwrite: bool = False,
        progress: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> BackupReport:
        """Write everything, or these identities, into one file. Raises ArchiveError."""

    async def restore(
        self,
        path: str | os.PathLike[str],
        identities: Sequence[str] | None = None,
        *,
        passphrase: str | Callable[[], str] | None = None,
        plain: bool = False,
        dry_run: bool = False,
        progress: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> RestoreReport:
        """Restore a backup, or these of its identities, in one transaction. Raises ArchiveError."""

    async def create_temporary(
        self, name: str | None = None, *, color: Color = "gray", icon: Icon = "chill"
    ) -> ContextualIdentity:
        """Create an identity that is removed for ever with its last tab."""

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
