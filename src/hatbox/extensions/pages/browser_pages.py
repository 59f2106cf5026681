"""The pages of one extension in the Chromium engine of this process: popups, options pages, sidebars.

Imports Playwright only when a page is opened.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from hatbox.api.caller import ExtensionCaller
from hatbox.errors import ExtensionError
from hatbox.extension_data.action_values import ActionScope
from hatbox.extension_data.actions import action_keys
from hatbox.extension_data.sidebars import sidebar_panel
from hatbox.extensions import ui_triggers
from hatbox.extensions.local_storage import LocalStorage
from hatbox.extensions.package.background import Background
from hatbox.extensions.pages.extension_tabs import ExtensionTabs
from hatbox.extensions.runtime import Boot, Runtime, describe
from hatbox.messaging.context import ExtensionContext
from hatbox.store.base import Store, Transaction
from hatbox.tabs.windows import last_focused

if TYPE_CHECKING:
    from hatbox.extensions.extension import Extension
    from hatbox.extensions.pages.extension_window import ExtensionWindow, WindowKind
    from hatbox.extensions.pages.extension_windows import ExtensionWindows, WindowResources

__all__ = ["BrowserPages"]


class BrowserPages:
    """Opens pages of an extension as the user does, and closes them with the extension or the browser."""

    def __init__(
        self,
        extension: Extension,
        new_caller: Callable[[ExtensionContext], ExtensionCaller],
        local_storage: LocalStorage,
        store: Store,
        tabs: ExtensionTabs,
    ) -> None:
        self._extension = extension
        self._new_caller = new_caller
        self._local_storage = local_storage
        self._store = store
        self._tabs = tabs
        self._windows: ExtensionWindows | None = None

    async def open(self, path: str = "", *, kind: WindowKind = "TAB", tab_id: int | None = None) -> ExtensionWindow:
        """Show a page, and wait until it has loaded. See Extension.open_page."""
        url = path if path.startswith("moz-extension:") else self._base_url + path.removeprefix("/")
        return await self.windows().open(url, kind, tab_id=tab_id)

    async def show(self, page: str, *, tab_id: int | None = None, kind: WindowKind = "TAB") -> ExtensionWindow:
        """Show `popup`, `options`, `sidebar`, or a page by its path or URL."""
        if page == "popup":
            return await self.popup(tab_id=tab_id)
        if page in ("options", "sidebar"):
            return await (self.options() if page == "options" else self.sidebar())
        return await self.open(page, kind=kind)

    async def popup(
        self, button: Literal["action", "page-action"] | None = None, *, tab_id: int | None = None
    ) -> ExtensionWindow:
        """Click a button in a tab, by default the active one, and show its popup.

        By default it is the action, or the page action if the extension has no action. Without a popup, ExtensionError
        is raised after the click.
        """
        self._tabs.require_browser()
        extension_id, manifest = self._extension.id, self._extension.caller.manifest
        if button is None:
            button = "page-action" if action_keys(manifest) is None and manifest.get("page_action") else "action"
        clicked = button
        result = await self._store.write(
            lambda transaction: ui_triggers.trigger(
                transaction, extension_id, clicked, tab_id=tab_id, shows_popup=False
            )
        )
        if result.popup is None:
            raise ExtensionError(f"the {button.replace('-', ' ')} of {self._name} has no popup. It was clicked.")
        return await self.open(result.popup, kind="POPUP")

    async def close_popups(self) -> None:
        """Close the popups that are open."""
        for window in self.open_windows:
            if window.kind == "POPUP":
                await window.close()

    async def options(self) -> ExtensionWindow:
        """Show the options page. Raises ExtensionError if the extension has none."""
        options = self._extension.manifest.options
        if options is None:
            raise ExtensionError(f"{self._name} has no options page in its manifest.")
        return await self.open(options.page)

    async def sidebar(self, window_id: int | None = None) -> ExtensionWindow:
        """Open the sidebar in a window of the profile, by default the last focused one, as the user does.

        Returns its page, also if the sidebar was open. Raises ExtensionError if the extension has none, or if its page
        is not a page of the extension.
        """
        self._tabs.require_browser()
        if window_id is None:
            focused = await self._store.read(last_focused)
            if focused is None:
                return await self.load_sidebar(None)
            window_id = focused.id
        return await self._tabs.open_sidebar(self._extension, window_id)

    async def load_sidebar(
        self, window_id: int | None, on_created: Callable[[ExtensionWindow], None] | None = None
    ) -> ExtensionWindow:
        """Show the page of the sidebar with the values of a window. It is not marked as open in the profile.

        `on_created` is called with the page before it is loaded.
        """
        area, manifest = self._extension.area, self._extension.caller.manifest

        def read(transaction: Transaction) -> str:
            active = None if window_id is None else transaction.tabs.active(window_id)
            return sidebar_panel(transaction, area, manifest, ActionScope(active, None if active else window_id))

        panel = await self._store.read(read)
        if not panel:
            raise ExtensionError(f"{self._name} has no sidebar in its manifest.")
        if not panel.startswith(self._base_url):
            raise ExtensionError(f"the sidebar of {self._name} is not a page of the extension: {panel}")
        return await self.windows().open(panel, "SIDE_PANEL", on_created=on_created)

    @property
    def open_windows(self) -> list[ExtensionWindow]:
        """The open pages, those in tabs included."""
        return [] if self._windows is None else list(self._windows.windows)

    def windows(self) -> ExtensionWindows:
        """The browser context of the pages. Raises EngineError without a running Chromium."""
        env = self._tabs.require_browser()
        if self._windows is None:
            from hatbox.extensions.pages.extension_windows import ExtensionWindows

            self._windows = ExtensionWindows(env, self._resources(), self._tabs)
        return self._windows

    @property
    def has_browser(self) -> bool:
        """Whether a Chromium is running in this process."""
        return self._tabs.is_running

    async def start_background(self, boot: Boot, background: Background) -> Runtime:
        """Open the background page in a hidden document, and wait until its scripts have run.

        Raises EngineError without a running Chromium, and ExtensionTerminated if the page does not load.
        """
        from hatbox.engines.chromium.context_registry import map_browser_errors
        from hatbox.extensions.pages.background_page import BackgroundPage

        windows, extension = self.windows(), self._extension
        with map_browser_errors():
            context = await windows.context()
        storage = windows.resources.storage
        return await BackgroundPage.start_in(context, extension.host, boot, background, extension.limits, storage)

    async def close(self) -> None:
        """Save the storage of the pages, and close them."""
        await self._extension.leave_browser()
        windows, self._windows = self._windows, None
        if windows is not None:
            await windows.close()

    def abandon(self) -> None:
        """Remove the pages of a browser that has ended."""
        windows, self._windows = self._windows, None
        if windows is not None:
            windows.abandon()

    def permissions_changed(self) -> None:
        """Update the namespaces of all pages."""
        if self._windows is not None:
            self._windows.permissions_changed()

    def background_changed_storage(self, key: str | None, value: str | None) -> None:
        """Apply a change that the background made in localStorage to the pages."""
        if self._windows is not None:
            self._windows.resources.storage.background_changed(key, value)

    @property
    def _base_url(self) -> str:
        return self._extension.manifest.base_url

    @property
    def _name(self) -> str:
        return self._extension.manifest.name

    def _resources(self) -> WindowResources:
        from hatbox.extensions.pages.dom_storage import DomStorage
        from hatbox.extensions.pages.extension_windows import WindowResources
        from hatbox.extensions.pages.page_documents import PageServices
        from hatbox.extensions.pages.page_files import PageFiles

        extension = self._extension
        services = PageServices(
            extension.id,
            extension.dispatcher,
            extension.messages,
            self._new_caller,
            self._new_boot,
            extension.package.read,
            extension.limits,
            extension.host.log,
        )
        storage = DomStorage(self._store, extension.area, self._local_storage, self._page_changed_storage)
        return WindowResources(
            PageFiles(extension.package, extension.manifest), services, extension.host.fetch, storage
        )

    def _new_boot(self, caller: ExtensionCaller) -> Boot:
        manifest = self._extension.manifest
        return Boot(
            uuid=manifest.uuid,
            extension_id=manifest.id,
            manifest=caller.manifest,
            description=describe(caller),
            data={"i18n": manifest.locales.for_runtime(), "testing": caller.on_test_report is not None},
            page="",
        )

    def _page_changed_storage(self, key: str | None, value: str | None) -> None:
        if self._extension.runtime is not None:
            self._extension.runtime.change_local_storage(key, value)
