"""The sidebars that are open in the windows of the profile, shown in the Chromium engine of this process.

The profile stores which sidebar is open (`extension_data/sidebars.py`). A page that closes is closed there as well.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakValueDictionary

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
    loading: asyncio.Future[ExtensionWindow]


class SidebarWindows:
    """Shows at most one sidebar for each window of the profile. `running` returns the extensions.

    A page that does not load delays neither the sidebars of other windows nor the one that replaces it.
    """

    def __init__(self, store: Store, running: Callable[[], Iterable[Extension]]) -> None:
        self._store = store
        self._running = running
        self._shown: dict[int, _ShownSidebar] = {}  # by window id of the profile
        self._locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        self._loading: set[asyncio.Future[ExtensionWindow]] = set()

    async def open(self, extension: Extension, window_id: int, tasks: Tasks) -> ExtensionWindow:
        """Open the sidebar of an extension in a window of the profile; returns its page, also if it was open.

        Raises ExtensionError if it cannot be shown.
        """
        sidebar = OpenSidebar(window_id, extension.area)
        async with self._changing(window_id):
            await self._store.write(partial(open_sidebar, extension=extension.area, window_id=window_id))
            shown = await self._replace(extension, sidebar, tasks)
        return await asyncio.shield(shown.loading)

    async def show(self, sidebar: OpenSidebar, tasks: Tasks) -> None:
        """Show the sidebar that was opened in a window, in place of the one before; or close it."""
        extension = next((each for each in self._running() if each.area == sidebar.extension), None)
        try:
            async with self._changing(sidebar.window_id):
                if extension is None:
                    await self._close(sidebar.window_id)
                    return
                shown = await self._replace(extension, sidebar, tasks)
            await asyncio.shield(shown.loading)
        except HatboxError as error:
            logger.warning("%s: sidebar not shown: %s", sidebar.extension, error)

    async def show_open(self, extension: str, tasks: Tasks) -> None:
        """Show the sidebars of an extension that are open in the profile, after a browser has started."""
        for sidebar in await self._store.read(open_sidebars):
            if sidebar.extension == extension:
                await self.show(sidebar, tasks)

    async def window_removed(self, window_id: int) -> None:
        """Close the sidebar of a window that was closed."""
        async with self._changing(window_id):
            await self._close(window_id)

    def clear(self) -> None:
        """Forget the pages of a browser that has ended. The sidebars stay open in the profile."""
        self._shown.clear()

    def _changing(self, window_id: int) -> asyncio.Lock:
        return self._locks.setdefault(window_id, asyncio.Lock())

    async def _replace(self, extension: Extension, sidebar: OpenSidebar, tasks: Tasks) -> _ShownSidebar:
        """Open the page of a sidebar, unless it is open. It may still be loading."""
        shown = self._shown.get(sidebar.window_id)
        if shown is not None and shown.extension == sidebar.extension and not shown.window.is_closed:
            return shown
        await self._close(sidebar.window_id)
        created: asyncio.Future[ExtensionWindow] = asyncio.get_running_loop().create_future()
        loading = asyncio.ensure_future(self._load(extension, sidebar, created))
        self._loading.add(loading)
        loading.add_done_callback(self._on_loaded)
        try:
            await asyncio.wait([created, loading], return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            loading.cancel()
            raise
        window = created.result() if created.done() else await loading
        shown = self._shown[sidebar.window_id] = _ShownSidebar(sidebar.extension, window, loading)
        tasks.spawn(self._close_with(window, sidebar))
        return shown

    async def _load(
        self, extension: Extension, sidebar: OpenSidebar, created: asyncio.Future[ExtensionWindow]
    ) -> ExtensionWindow:
        try:
            return await extension.browser_pages.load_sidebar(sidebar.window_id, created.set_result)
        except ExtensionError:  # not an EngineError: the next browser shows it
            if not created.done() or self._is_shown(created.result(), sidebar.window_id):
                await self._set_closed(sidebar)
            raise

    def _on_loaded(self, loading: asyncio.Future[ExtensionWindow]) -> None:
        self._loading.discard(loading)
        if not loading.cancelled():
            loading.exception()  # marks it as retrieved: the sidebar may have been replaced meanwhile

    async def _close(self, window_id: int) -> None:
        if (shown := self._shown.pop(window_id, None)) is not None:
            await shown.window.close()

    async def _close_with(self, window: ExtensionWindow, sidebar: OpenSidebar) -> None:
        """Close a sidebar in the profile when the user or a script has closed its page."""
        await window.wait_until_closed()
        if self._is_shown(window, sidebar.window_id):
            del self._shown[sidebar.window_id]
            await self._set_closed(sidebar)

    def _is_shown(self, window: ExtensionWindow, window_id: int) -> bool:
        shown = self._shown.get(window_id)
        return shown is not None and shown.window is window

    async def _set_closed(self, sidebar: OpenSidebar) -> None:
        await self._store.write(partial(close_sidebar, extension=sidebar.extension, window_id=sidebar.window_id))
