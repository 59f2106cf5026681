"""The sidebars that are open in the windows of the profile, shown in the Chromium engine of this process.

The profile stores which sidebar is open (`extension_data/sidebars.py`). A page that closes is closed there as well.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from hatbox.errors import ExtensionError, HatboxError
from hatbox.extension_data.sidebars import OpenSidebar, close_sidebar, open_sidebar, open_sidebars
from hatbox.store.base import Store
from hatbox.tasks import Tasks

if TYPE_CHECKING:
    from hatbox.extensions.extension import Extension
    from hatbox.extensions.pages.extension_window import ExtensionWindow

__all__ = ["SidebarWindows"]

logger = logging.getLogger("hatbox.extensions")


class _ShownSidebar(NamedTuple):
    extension: str
    window: ExtensionWindow


class SidebarWindows:
    """Shows at most one sidebar for each window of the profile. `running` returns the extensions."""

    def __init__(self, store: Store, running: Callable[[], Iterable[Extension]]) -> None:
        self._store = store
        self._running = running
        self._shown: dict[int, _ShownSidebar] = {}  # by window id of the profile
        self._changing = asyncio.Lock()

    async def open(self, extension: Extension, window_id: int, tasks: Tasks) -> ExtensionWindow:
        """Open the sidebar of an extension in a window of the profile; returns its page, also if it was open.

        Raises ExtensionError if it cannot be shown.
        """
        sidebar = OpenSidebar(window_id, extension.area)
        async with self._changing:
            await self._store.write(partial(open_sidebar, extension=extension.area, window_id=window_id))
            return await self._replace(extension, sidebar, tasks)

    async def show(self, sidebar: OpenSidebar, tasks: Tasks) -> None:
        """Show the sidebar that was opened in a window, in place of the one before; or close it."""
        async with self._changing:
            extension = next((each for each in self._running() if each.area == sidebar.extension), None)
            if extension is None:
                await self._close(sidebar.window_id)
                return
            try:
                await self._replace(extension, sidebar, tasks)
            except HatboxError as error:
                logger.warning("%s: sidebar not shown: %s", extension.id, error)

    async def show_open(self, extension: str, tasks: Tasks) -> None:
        """Show the sidebars of an extension that are open in the profile, after a browser has started."""
        for sidebar in await self._store.read(open_sidebars):
            if sidebar.extension == extension:
                await self.show(sidebar, tasks)

    async def window_removed(self, window_id: int) -> None:
        """Close the sidebar of a window that was closed."""
        async with self._changing:
            await self._close(window_id)

    def clear(self) -> None:
        """Forget the pages of a browser that has ended. The sidebars stay open in the profile."""
        self._shown.clear()

    async def _replace(self, extension: Extension, sidebar: OpenSidebar, tasks: Tasks) -> ExtensionWindow:
        shown = self._shown.get(sidebar.window_id)
        if shown is not None and shown.extension == sidebar.extension and not shown.window.is_closed:
            return shown.window
        await self._close(sidebar.window_id)
        try:
            window = await extension.browser_pages.load_sidebar(sidebar.window_id)
        except ExtensionError:  # not an EngineError: the next browser shows it
            await self._store.write(partial(close_sidebar, extension=sidebar.extension, window_id=sidebar.window_id))
            raise
        self._shown[sidebar.window_id] = _ShownSidebar(sidebar.extension, window)
        tasks.spawn(self._close_with(window, sidebar))
        return window

    async def _close(self, window_id: int) -> None:
        if (shown := self._shown.pop(window_id, None)) is not None:
            await shown.window.close()

    async def _close_with(self, window: ExtensionWindow, sidebar: OpenSidebar) -> None:
        """Close a sidebar in the profile when the user or a script has closed its page."""
        await window.wait_until_closed()
        shown = self._shown.get(sidebar.window_id)
        if shown is not None and shown.window is window:
            del self._shown[sidebar.window_id]
            await self._store.write(partial(close_sidebar, extension=sidebar.extension, window_id=sidebar.window_id))
