"""The two state machines, as tables: what becomes of an identity, and of a tab, with everything that can happen to it.

Pure. Who may cause what, and what follows elsewhere, is decided by those who ask.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

__all__ = ["IDENTITY", "TAB", "IdentityTransition", "TabTransition"]


class IdentityTransition(StrEnum):
    """What can happen to an identity."""

    HIDE = "hide"
    SHOW = "show"
    TAB_OPENED = "a tab is opened in it"
    TAB_SHOWN = "one of its tabs is shown, or activated"


class TabTransition(StrEnum):
    """What can happen to a tab."""

    HIDE = "hide"
    SHOW = "show"
    ACTIVATE = "activate"
    IDENTITY_HIDDEN = "its identity is hidden"
    IDENTITY_SHOWN = "its identity is shown"


# Is it hidden → what happens → is it hidden afterwards.

IDENTITY: Final[Mapping[bool, Mapping[IdentityTransition, bool]]] = {
    False: {
        IdentityTransition.HIDE: True,
        IdentityTransition.SHOW: False,
        IdentityTransition.TAB_OPENED: False,
        IdentityTransition.TAB_SHOWN: False,
    },
    True: {
        IdentityTransition.HIDE: True,
        IdentityTransition.SHOW: False,
        IdentityTransition.TAB_OPENED: False,
        IdentityTransition.TAB_SHOWN: False,
    },
}

TAB: Final[Mapping[bool, Mapping[TabTransition, bool]]] = {
    False: {
        TabTransition.HIDE: True,
        TabTransition.SHOW: False,
        TabTransition.ACTIVATE: False,
        TabTransition.IDENTITY_HIDDEN: True,
        TabTransition.IDENTITY_SHOWN: False,
    },
    True: {
        TabTransition.HIDE: True,
        TabTransition.SHOW: False,
        TabTransition.ACTIVATE: False,
        TabTransition.IDENTITY_HIDDEN: True,
        TabTransition.IDENTITY_SHOWN: False,
    },
}
