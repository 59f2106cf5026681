"""Saves the snapshot of one page: session history, scroll position and typed text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from hatbox.engines.chromium.debounce import Debouncer
from hatbox.engines.chromium.isolated_world import IsolatedWorld
from hatbox.engines.chromium.navigation_state import NavigationState
from hatbox.engines.chromium.page_snapshot import encode_snapshot, from_navigation_history, without_entries
from hatbox.engines.chromium.sessions import Session
from hatbox.engines.chromium.typed_input import Form, merge_forms

__all__ = ["SnapshotSaver"]

_SNAPSHOT_DELAY: Final = 0.5


class SnapshotSaver:
    """Takes and saves snapshots. `unfilled` returns the saved typed text that is not filled in yet."""

    def __init__(
        self,
        session: Session,
        world: IsolatedWorld,
        state: NavigationState,
        unfilled: Callable[[], Sequence[Form]],
    ) -> None:
        self.scroll_position = (0.0, 0.0)
        self._session = session
        self._world = world
        self._state = state
        self._unfilled = unfilled
        self._saved = b""
        self._debouncer = Debouncer(self._save_snapshot, _SNAPSHOT_DELAY)

    async def snapshot(self, forms: Sequence[Form]) -> bytes | None:
        """A snapshot with typed text; None if the tab has no document, or one that is not from the web."""
        if not self._state.has_document:
            return None
        position = await self._world.evaluate_in_main_frame("[scrollX, scrollY]")
        if isinstance(position, list):
            self.scroll_position = (position[0], position[1])
        return await self._encode(forms)

    def schedule(self) -> None:
        """Save a snapshot after a delay."""
        self._debouncer.schedule()

    def save_next(self) -> None:
        """Save the next snapshot even if it equals the last one: the profile has another, with typed text."""
        self._saved = b""
        self.schedule()

    def cancel(self) -> None:
        """Save nothing more, also nothing of what is on its way: it has no typed text, and would replace what has."""
        self._debouncer.cancel()
        if self._state.reporter is not None:
            self._state.reporter.stop_snapshots()

    async def _save_snapshot(self) -> None:
        if not self._state.is_idle or self._state.is_internal or self._state.page.error:
            return
        data = await self._encode(())
        if data is not None and self._state.reporter is not None and data != self._saved:
            self._saved = data
            self._state.reporter.save_snapshot(data)

    async def _encode(self, forms: Sequence[Form]) -> bytes | None:
        history = await self._session.send("Page.getNavigationHistory")
        history = without_entries(history, self._state.was_blocked)
        snapshot = from_navigation_history(history, self.scroll_position, merge_forms(forms, self._unfilled()))
        return encode_snapshot(snapshot) if snapshot else None
