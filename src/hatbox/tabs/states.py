"""The two state machines, as tables: what becomes of an identity, and of a tab, with everything that can happen to it.

Pure. Who may cause what, and what follows elsewhere, is decided by those who ask.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

__all__ = ["IDENTITY", "TAB", "Identity", "Tab"]


class Identity(StrEnum):
    """What can happen to an identity."""

    HIDE = "hide"
    SHOW = "show"
    TAB_OPENED = "a tab is opened in it"
    TAB_SHOWN = "one of its tabs is shown, or activated"


class Tab(StrEnum):
    """What can happen to a tab."""

    HIDE = "hide"
    SHOW = "show"
    ACTIVATE = "activate"
    IDENTITY_HIDDEN = "its identity is hidden"
    IDENTITY_SHOWN = "its identity is shown"


# Is it hidden → what happens → is it hidden afterwards.

IDENTITY: Final[Mapping[bool, Mapping[Identity, bool]]] = {
    False: {
        Identity.HIDE: True,
        Identity.SHOW: False,
        Identity.TAB_OPENED: False,
        Identity.TAB_SHOWN: False,
    },
    True: {
        Identity.HIDE: True,
        Identity.SHOW: False,
        Identity.TAB_OPENED: False,
        Identity.TAB_SHOWN: False,
    },
}

TAB: Final[Mapping[bool, Mapping[Tab, bool]]] = {
    False: {
        Tab.HIDE: True,
        Tab.SHOW: False,
        Tab.ACTIVATE: False,
        Tab.IDENTITY_HIDDEN: True,
        Tab.IDENTITY_SHOWN: False,
    },
    True: {
        Tab.HIDE: True,
        Tab.SHOW: False,
        Tab.ACTIVATE: False,
        Tab.IDENTITY_HIDDEN: True,
        Tab.IDENTITY_SHOWN: False,
    },
}
