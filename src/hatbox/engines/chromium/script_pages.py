"""The pages that scripts control: rules never reopen their navigations in another identity, but refuse them."""

from __future__ import annotations

__all__ = ["ScriptPages"]


class ScriptPages:
    """The tabs that scripts have opened, the tabs that these open, and the identities whose context a script has."""

    def __init__(self) -> None:
        self._tab_ids: set[int] = set()
        self._cookie_store_ids: set[str] = set()

    def add_tab(self, tab_id: int) -> None:
        """A script has opened this tab."""
        self._tab_ids.add(tab_id)

    def add_identity(self, cookie_store_id: str) -> None:
        """A script has the browser context of this identity, and can open pages in it."""
        self._cookie_store_ids.add(cookie_store_id)

    def includes(self, tab_id: int, opener_id: int | None, cookie_store_id: str) -> bool:
        """Whether a script controls the page of a tab."""
        if opener_id in self._tab_ids:
            self._tab_ids.add(tab_id)
        return tab_id in self._tab_ids or cookie_store_id in self._cookie_store_ids
