"""What a page knows about its navigation, for the check of site rules. Pure data."""

from __future__ import annotations

import msgspec

from hatbox.engines.navigation_rules import NavigationOutcome

__all__ = ["BlockedPage", "RequestedNavigation"]


class RequestedNavigation(msgspec.Struct, frozen=True):
    """What the engine knows about a navigation that it has requested, or about the page that started it."""

    navigation_id: int = 0
    """0 if the page or the user has started it."""
    stays: bool = False
    is_refused: bool = False
    """Whether a script or a client of an endpoint controls the page: rules block it, and do not reopen it."""
    is_unchecked: bool = False
    """Whether loading the URL again is no reload for rules: they have blocked it in this page, or a script of the page
    has set it with history.pushState(), without a request."""


class BlockedPage(msgspec.Struct, frozen=True):
    """A page that a rule has blocked: its error page shows the outcome."""

    url: str
    outcome: NavigationOutcome
    is_of_program: bool = False
    """Whether the outcome is one for a client of an endpoint: it names no other identity."""
