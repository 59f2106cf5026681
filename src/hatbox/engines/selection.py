"""The engine that a program selects, and its options. Starts nothing."""

from __future__ import annotations

from types import ModuleType
from typing import Final

import msgspec

from hatbox.identity.model import IdentityLike

__all__ = ["DEFAULT_ENGINE", "EngineSelection"]

DEFAULT_ENGINE: Final = "chromium"


class EngineSelection(msgspec.Struct, frozen=True):
    """An engine by name, with its options. Without a name: the running engine, or the default one."""

    requested: str | None = None
    """The name that the caller passed, or None."""
    browser: str | None = None
    """The path of Chromium. None is $HATBOX_CHROMIUM, or an installed browser."""
    headless: bool = False
    indicator: bool = True
    """Whether pages show the name, color and icon of their identity."""
    identities: tuple[IdentityLike, ...] | None = None
    """The identities whose tabs it opens. None: all that no other engine has."""

    @property
    def name(self) -> str:
        """The name of the engine to start."""
        return self.requested or DEFAULT_ENGINE

    @property
    def is_headed(self) -> bool:
        """Whether the engine opens windows."""
        return bool(self._registration().HAS_WINDOWS) and not self.headless

    @property
    def display_name(self) -> str:
        """The name in sentences."""
        return str(self._registration().DISPLAY_NAME)

    def _registration(self) -> ModuleType:
        from hatbox.engines.registry import registration_of  # not at import: command lines need no services

        return registration_of(self.name)
