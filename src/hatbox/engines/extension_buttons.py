"""The actions of running extensions, as an engine shows them to the user. Contains only declarations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

__all__ = ["ExtensionButton", "ExtensionButtons"]


class ExtensionButton(NamedTuple):
    """The action of an extension."""

    extension: str
    """The data area of the extension."""
    title: str
    badge: str
    badge_color: str
    """CSS color of the badge."""
    icon: str
    """A data: URL; empty without an icon."""
    is_enabled: bool


class ExtensionButtons(Protocol):
    """The actions of the running extensions."""

    async def buttons(self, tab_id: int) -> Sequence[ExtensionButton]:
        """The actions, as in a tab."""

    async def click(self, extension: str, tab_id: int) -> None:
        """The user has clicked the action of an extension in a tab."""
